"""The compiled exponential and normal tail, against the standard library."""

from math import erfc, exp, sqrt

import numpy as np
import pytest

from gnomon.expectations.normal import exponential, tail_polynomial, tails


def test_the_exponential_of_negative_numbers():
    """Rounding of the argument alone leaves a relative error of |x| 2^-53; below -700 the function is cut off."""
    for x in [0.0, -1e-9, *np.linspace(-0.05, -40.0, 61), -300.0, -699.5]:
        assert exponential(float(x)) == pytest.approx(exp(x), rel=4e-16 * max(1.0, abs(x) / 8), abs=0), x
    assert exponential(-701.0) == exponential(-5000.0) == pytest.approx(exp(-700.0), rel=1e-13)


def test_the_tail_of_the_normal_law_on_both_sides():
    """Q(|x|) = erfc(|x| / sqrt 2) / 2, with the stated relative error 1e-15 (1 + x^2 / 2)."""
    x = np.concatenate([np.linspace(-9.0, 9.0, 37), [0.01, 15.0, -25.0]])
    place, found = np.empty_like(x), np.full_like(x, np.nan)
    tails(x, tail_polynomial.__wrapped__(), place, found)
    wanted = np.array([erfc(abs(v) / sqrt(2)) / 2 for v in x])
    assert (np.abs(found / wanted - 1) < 2e-15 * (1 + x**2 / 2)).all()
