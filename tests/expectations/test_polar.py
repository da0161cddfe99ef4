"""Lengths and angles of covariances."""

from math import acos, pi

import pytest
import torch

from gnomon.expectations.polar import ALIGNED_TOLERANCE_IN_EPS, norm_and_angle, sqrt_with_zero_gradient

F64 = torch.float64


def test_polar_on_a_known_triangle():
    p = norm_and_angle(*(torch.tensor(x, dtype=F64) for x in (4.0, 9.0, 3.0)))
    assert [float(x) for x in p] == pytest.approx([6.0, 0.5, 0.75**0.5, pi / 3], rel=1e-15)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cosines_within_32_roundings_of_one_are_one_and_no_others(dtype):
    eps = torch.finfo(dtype).eps
    one = torch.ones((), dtype=dtype)
    for sign, angle in ((1.0, 0.0), (-1.0, pi)):
        near = norm_and_angle(one, one, sign * (one - (ALIGNED_TOLERANCE_IN_EPS - 2) * eps))
        assert float(near.cosine) == sign and float(near.sine) == 0 and float(near.angle) == pytest.approx(angle)
        assert near.angle.dtype == dtype
        beyond = norm_and_angle(one, one, sign * (one + 4 * eps))
        assert float(beyond.cosine) == sign
        far = norm_and_angle(one, one, sign * (one - 4 * ALIGNED_TOLERANCE_IN_EPS * eps))
        assert 0 < float(far.sine) and abs(float(far.cosine)) < 1


def test_angles_keep_their_digits_near_one():
    t = torch.tensor([1e-3, 1e-5, 1e-6], dtype=F64)
    one = torch.ones_like(t)
    # cos t carries t only to eps / t, which no formula can repair
    assert bool(((norm_and_angle(one, one, t.cos()).angle - t).abs() <= 4 * torch.finfo(F64).eps / t).all())


def test_zero_variance_is_not_a_number_nowhere():
    zero, one = torch.zeros((), dtype=F64), torch.ones((), dtype=F64)
    for a, b in ((zero, one), (one, zero), (zero, zero)):
        p = norm_and_angle(a, b, zero)
        assert float(p.norm) == 0 and float(p.cosine) == 0 and float(p.angle) == pytest.approx(acos(0))


def test_gradients_of_the_cosine_are_exact_where_it_is_one():
    a, b, c = (torch.tensor(x, dtype=F64, requires_grad=True) for x in (2.0, 2.0, 2.0))
    gradient = torch.autograd.grad(norm_and_angle(a, b, c).cosine, (a, b, c))
    assert [float(g) for g in gradient] == pytest.approx([-0.25, -0.25, 0.5], rel=1e-15)


def test_the_gradient_of_the_root_is_zero_at_zero():
    a = torch.tensor([0.0, 4.0], dtype=F64, requires_grad=True)
    (slope,) = torch.autograd.grad(sqrt_with_zero_gradient(a).sum(), a)
    assert slope.tolist() == [0.0, 0.25]
