from tests.house import budgets
from tests.house.tree import ROOT, SOURCE, expect_none


def test_files_and_functions_are_short():
    expect_none(budgets.faults(SOURCE))


def test_test_files_have_names_that_say_something():
    expect_none(budgets.empty_names(ROOT / "tests"))
