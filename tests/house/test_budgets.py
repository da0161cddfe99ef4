import pytest

from tests.house import budgets
from tests.house.allowances import BREACHES
from tests.house.tree import ROOT, SOURCE, expect_at_most, expect_none


@pytest.mark.rules
def test_files_and_functions_are_short():
    expect_none(budgets.faults(SOURCE))


@pytest.mark.rules
def test_the_package_does_not_grow_without_bound():
    assert budgets.lines_of_code(SOURCE) <= budgets.LINES_OF_CODE


@pytest.mark.rules
def test_test_files_have_names_that_say_something():
    expect_none(budgets.empty_names(ROOT / "tests"))


@pytest.mark.rules
def test_the_type_checker_is_seldom_told_to_look_away():
    allowed = BREACHES.get("types ignored", budgets.TYPES_IGNORED)
    expect_at_most(allowed, budgets.types_ignored(SOURCE))
