import pytest

from tests.house import conventions
from tests.house.tree import SOURCE, expect_none


@pytest.mark.rules
def test_small_rules_hold_and_equation_numbers_lead_to_an_equation():
    expect_none(conventions.faults(SOURCE))
