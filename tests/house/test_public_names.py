import gnomon
from tests.house import public_names
from tests.house.tree import expect_none


def test_public_names_exist_and_explain_themselves():
    assert gnomon.__all__
    expect_none(public_names.faults("gnomon"))
