from tests.house import versions
from tests.house.tree import ROOT, expect_none


def test_there_is_one_version():
    expect_none(versions.faults(ROOT))


def test_the_lowest_versions_are_those_that_are_tested():
    expect_none(versions.lowest(ROOT))
