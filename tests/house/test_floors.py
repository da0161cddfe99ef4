from tests.house import floors
from tests.house.tree import ROOT, SOURCE, expect_none, modules


def test_imports_go_down_the_floors():
    assert modules(SOURCE), "no source found: the check would pass on nothing"
    expect_none(floors.faults(SOURCE))


def test_the_page_shows_the_house_as_it_stands():
    expect_none(floors.page_faults(ROOT / "docs" / "design" / "floors.md", SOURCE))
