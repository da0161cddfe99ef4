"""References as people write them, from the bibliography that is installed with the package."""

import re

import pytest

from gnomon.report.references import entries, reference
from tests.house.bibliography import entries as listed
from tests.house.tree import ROOT


@pytest.mark.parametrize(
    "key, text",
    [
        ("chizat2019lazy", "Chizat, Oyallon, Bach (2019). On lazy training in differentiable programming."),
        ("rudi2015less", "Rudi, Camoriano, Rosasco (2015). Less is More: Nyström Computational Regularization."),
        ("arora2019exact", "Arora and others (2019). On Exact Computation with an Infinitely Wide Neural Net."),
    ],
)
def test_authors_year_and_title(key, text):
    assert reference(key) == text


def test_every_entry_is_read_and_leaves_no_markup():
    assert entries().keys() == listed(ROOT).keys()
    for key in entries():
        assert not re.search(r"[{}\\]", reference(key)) and key not in reference(key)
