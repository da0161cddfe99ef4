import pytest

from tests.house import assertions
from tests.house.tree import ROOT, SOURCE, expect_none


@pytest.mark.rules
def test_every_assertion_can_fail():
    expect_none([fault for folder in (ROOT / "tests", SOURCE) for fault in assertions.faults(folder)])
