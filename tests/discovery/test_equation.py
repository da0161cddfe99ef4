"""Intervals and text of equations."""

import pytest

from gnomon.discovery.equation import Equation, Residuals, number


def equation(*coefficients, errors, terms=("u", "u_xx")):
    return Equation("u_t", terms, coefficients, errors, {}, (), Residuals(0.0, 0.0, "", 0.0))


def test_intervals_hold_95_percent_of_a_normal_law_on_both_sides():
    first, second = equation(-0.5, 3 - 4j, errors=(0.1, 0.2)).intervals
    assert (first.low, first.high) == pytest.approx((-0.5 - 0.1959964, -0.5 + 0.1959964))
    assert (second.low, second.high) == pytest.approx((5 - 0.3919928, 5 + 0.3919928))


def test_coefficients_are_found_by_any_way_to_write_a_term():
    found = equation(2.0, -3.0, errors=(0.0, 0.0), terms=("u*u_x", "1"))
    assert (found.coefficient("u_x*u"), found.coefficient("1"), found.coefficient("u")) == (2.0, -3.0, 0.0)
    assert str(found) == "u_t = 2*u*u_x - 3"


def test_parts_of_complex_numbers_below_a_thousandth_are_left_out():
    assert number(0.9e-3 + 1j) == "1i" and number(1.1e-3 + 1j) == "(0.0011+1i)"
    assert number(1 + 0.9e-3j) == "1" and number(2 - 2.2e-3j) == "(2-0.0022i)"
