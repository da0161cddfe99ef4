"""Links of the page, and settings at the border of what is possible."""

import pytest

from tests.playground.node import NEEDS_NODE, run

LONGEST_LINK = 300


@NEEDS_NODE
def test_500_random_states_survive_their_links():
    found = run("states.mjs", "links", 500)
    assert found["failures"] == [] and found["longest"] <= LONGEST_LINK


@NEEDS_NODE
def test_states_at_the_border_give_an_answer():
    assert run("states.mjs", "fuzz", 40)["failures"] == []


@pytest.mark.full
@NEEDS_NODE
def test_500_states_at_the_border_give_an_answer():
    assert run("states.mjs", "fuzz", 500)["failures"] == []
