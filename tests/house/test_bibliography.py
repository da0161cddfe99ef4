import pytest

from tests.house import bibliography
from tests.house.tree import ROOT, expect_none


@pytest.mark.rules
def test_every_key_has_an_entry_and_every_entry_is_cited():
    assert bibliography.entries(ROOT)
    expect_none(bibliography.faults(ROOT))
