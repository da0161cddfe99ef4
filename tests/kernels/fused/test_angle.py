import mpmath
import numpy as np
import pytest
from numba import njit

from gnomon.kernels.fused.angle import angles, eighth_angles, quarter_angles


@njit
def evaluate(m, turn, lag):
    for i in range(len(m)):
        turn[i], lag[i] = angles(m[i])


@njit
def evaluate_small(m, turn, lag):
    for i in range(len(m)):
        turn[i], lag[i] = quarter_angles(m[i]) if m[i] > 0.125 else eighth_angles(m[i])


def test_small_angles_need_fewer_powers():
    m = np.concatenate([np.logspace(-20, np.log10(0.25), 200), [0.125, 0.1250001, 0.25]]).astype(np.float32)
    few, more = np.empty((2, 2, len(m)), np.float32)
    evaluate_small(m, *few)
    evaluate(m, *more)
    assert np.abs(few / more - 1).max() < 4e-7


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 4e-7), (np.float64, 8e-16)])
def test_angles_are_those_of_forty_digits(dtype, tolerance):
    # a few roundings: one square root, one polynomial, two products
    m = np.concatenate([np.logspace(-20, np.log10(0.5), 300), np.linspace(0, 0.5, 300)[1:]]).astype(dtype)
    m = np.minimum(m, dtype(0.5))
    turn, lag = np.empty_like(m), np.empty_like(m)
    evaluate(m, turn, lag)
    with mpmath.workdps(60):
        for i, value in enumerate(m):
            t = 2 * mpmath.asin(mpmath.sqrt(mpmath.mpf(float(value))))
            assert abs(turn[i] / (t / (2 * mpmath.pi)) - 1) < tolerance
            assert abs(lag[i] / ((mpmath.sin(t) - t * mpmath.cos(t)) / (2 * mpmath.pi)) - 1) < tolerance


def test_coinciding_points_have_no_angle():
    for dtype in (np.float32, np.float64):
        turn, lag = np.ones(1, dtype), np.ones(1, dtype)
        evaluate(np.zeros(1, dtype), turn, lag)
        assert turn[0] == lag[0] == 0
