import pytest

from tests.house import machine_paths
from tests.house.tree import ROOT, expect_none


@pytest.mark.rules
def test_no_file_names_a_place_on_one_machine():
    assert ROOT / "pyproject.toml" in set(machine_paths.files(ROOT))
    expect_none(machine_paths.faults(ROOT))
