"""Intervals and numbers as people read them."""

import pytest

from gnomon.core.results import Interval
from gnomon.core.results.value import format_number


def test_an_interval_holds_both_ends_and_has_a_width():
    interval = Interval(-0.5, 2.0)
    assert interval.width == 2.5
    assert [value in interval for value in (-0.51, -0.5, 0.0, 2.0, 2.01)] == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (99999.0, "100,000"), (1234.0, "1,230"), (-1234.0, "-1,230"), (999.9, "1,000"), (999.4, "999"), (100000.0, "1.00e+05"), (-100000.0, "-1.00e+05"), (-123456.0, "-1.23e+05"),
        (1e-4, "0.0001"), (0.00011, "0.00011"), (9.9e-5, "9.90e-05"), (-9.9e-5, "-9.90e-05"), (-0.5, "-0.5"),
        (2e-4, "0.0002"), (2e5, "2.00e+05"), (0.0, "0"), (12345.0, "12,300"),
        (float("inf"), "infinite"), (float("-inf"), "minus infinite"), (float("nan"), "undefined"),
        (True, "yes"), (False, "no"), (1234567, "1,234,567"),
    ],
)  # fmt: skip
def test_numbers_are_shown_with_three_digits(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(("confidence", "text"), [(0.95, "95"), (0.9995, "over 99.9"), (0.998, "99.8"), (1.0, "100")])
def test_a_confidence_below_one_is_never_printed_as_certain(confidence, text):
    assert str(Interval(0.0, 1.0, confidence)) == f"0 to 1 ({text} % confidence)"
