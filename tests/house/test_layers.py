import pytest

from tests.house import layers
from tests.house.tree import ROOT, SOURCE, expect_none, modules


@pytest.mark.rules
def test_imports_go_down_the_layers():
    assert modules(SOURCE), "no source found: the check would pass on nothing"
    expect_none(layers.faults(SOURCE))


@pytest.mark.rules
def test_each_subpackage_states_what_it_imports():
    expect_none(layers.stated_faults(SOURCE))


def test_the_architecture_page_lists_the_subpackages():
    expect_none(layers.page_faults(ROOT / "docs" / "design" / "architecture.md", SOURCE))
