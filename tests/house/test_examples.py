from tests.house import examples
from tests.house.tree import expect_none


def test_every_example_is_executed():
    expect_none(examples.faults("gnomon"))
