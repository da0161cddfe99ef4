import pytest

from tests.house import public_errors
from tests.house.tree import SOURCE, expect_none


@pytest.mark.rules
def test_public_functions_name_their_call_and_no_call_is_passed_down():
    expect_none(public_errors.faults(SOURCE))
