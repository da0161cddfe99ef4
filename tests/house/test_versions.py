from tests.house import versions
from tests.house.tree import ROOT, expect_none


def test_there_is_one_version():
    expect_none(versions.faults(ROOT))
