from tests.house import returns
from tests.house.allowances import BREACHES
from tests.house.tree import SOURCE, expect_at_most


def test_no_string_or_flag_decides_what_kind_of_result_is_returned():
    expect_at_most(BREACHES.get("returns", 0), returns.faults(SOURCE))
