import pytest

from tests.house import examples
from tests.house.tree import expect_none


@pytest.mark.rules
def test_every_example_is_executed():
    expect_none(examples.faults("gnomon"))
