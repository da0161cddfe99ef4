"""Every kind of finding that the source can give has a name that gates may wait for."""

import re
from pathlib import Path

import pytest

import gnomon
from gnomon.core.errors import InputError
from gnomon.examination.kinds import KINDS, checked_kinds

ROOMS = ("attribution", "checkup", "examination", "graphs", "sequences", "training")
OTHERS = {"wrong-gradient"}
"""Kinds of instruments of these rooms that no step of an examination calls."""


def test_the_list_has_every_kind_that_steps_and_their_instruments_name():
    folder = Path(gnomon.__file__).parent
    text = "\n".join(path.read_text() for room in ROOMS for path in (folder / room).rglob("*.py"))
    named = set(re.findall(r'Finding\(\s*"([a-z-]+)"', text)) - OTHERS
    assert len(named) > 30 and named <= set(KINDS)


@pytest.mark.parametrize("word", ["overfitting", "faults", ""])
def test_a_word_that_waits_for_nothing_is_refused(word):
    with pytest.raises(InputError, match="no finding is called"):
        checked_kinds([word], "examine")
