"""Converts variances and covariance of two Gaussian variables to a norm and an angle: c = sqrt(a b) cos t.

    norm = sqrt(a b),    cos t = c / sqrt(a b)                                                             (1)

Everything is differentiable, also if u and v coincide or are opposite, and at zero variance.
Reference: [cho2009kernel], section 2.
"""

from math import pi
from typing import NamedTuple

import torch

from gnomon.core.typing import Covariance, Variance

__all__ = [
    "ALIGNED_TOLERANCE_IN_EPS",
    "angle_from_cosine",
    "cosine_from_covariance",
    "norm_and_angle",
    "sqrt_with_zero_gradient",
    "sine_from_cosine",
    "where_both_positive",
]

ALIGNED_TOLERANCE_IN_EPS = 32
"""Correlations within this many roundings of +-1 count as exact."""


class Polar(NamedTuple):
    """The covariance c of two Gaussian variables as norm times cosine: norm sqrt(a b), cosine, sine, angle."""

    norm: Covariance
    cosine: Covariance
    sine: Covariance
    angle: Covariance


def norm_and_angle(a: Variance, b: Variance, c: Covariance) -> Polar:
    """Returns the norm sqrt(a b) and the angle t with c = sqrt(a b) cos t, for variances a, b and covariance c.

    At zero variance norm and cosine are 0.
    Hypotheses: a, b >= 0 and c^2 <= a b up to rounding.
    Reference: [cho2009kernel], section 2.
    Cost: elementwise.

    >>> two = torch.tensor(2.0, dtype=torch.float64)
    >>> norm_and_angle(two, two, -two).angle                 # u = -v
    tensor(3.1416, dtype=torch.float64)
    """
    cos = cosine_from_covariance(a, b, c)
    return Polar(
        sqrt_with_zero_gradient(a) * sqrt_with_zero_gradient(b), cos, sine_from_cosine(cos), angle_from_cosine(cos)
    )


def cosine_from_covariance(a: Variance, b: Variance, c: Covariance) -> Covariance:
    """Returns the correlation c / sqrt(a b) of Gaussian variables, which is the cosine of an angle; 0 at zero variance.

    A cosine within 32 roundings of +-1 is taken for +-1: two copies of one input have angle 0, not 1e-8, although
    c and sqrt(a b) were rounded differently. The gradient is still the gradient of c / sqrt(a b).
    Cost: elementwise.

    >>> third = torch.tensor(1 / 3, dtype=torch.float64)
    >>> cosine_from_covariance(third, third, third)
    tensor(1., dtype=torch.float64)
    """
    raw = c * torch.where(a > 0, a, torch.inf).rsqrt() * torch.where(b > 0, b, torch.inf).rsqrt()
    smallest_aligned = 1 - ALIGNED_TOLERANCE_IN_EPS * torch.finfo(raw.dtype).eps
    if not raw.requires_grad:
        return _snap_to_one(raw, smallest_aligned)
    aligned = raw.abs() >= smallest_aligned
    return raw + torch.where(aligned, raw.sign() - raw, 0).detach()


def _snap_to_one(raw: Covariance, smallest_aligned: float) -> Covariance:
    """Sets cosines whose absolute value is at least ``smallest_aligned`` to +-1; returns other arrays unchanged."""
    if raw.numel() and not raw.is_meta:
        low, high = torch.aminmax(raw)
        if -smallest_aligned < low and high < smallest_aligned:
            return raw
    return torch.where(raw.abs() >= smallest_aligned, raw.sign(), raw)


def where_both_positive(a: Variance, b: Variance, value: Covariance, otherwise: Covariance) -> Covariance:
    """Returns elementwise ``value`` if both variances are positive, otherwise ``otherwise``.

    Cost: elementwise; nothing but two passes over the variances if all of them are positive.

    >>> one = torch.ones(())
    >>> where_both_positive(one, 0 * one, 2 * one, 3 * one)
    tensor(3.)
    """
    if bool((a > 0).all()) and bool((b > 0).all()):
        return value
    return torch.where((a > 0) & (b > 0), value, otherwise)


def sine_from_cosine(cos: Covariance) -> Covariance:
    """Returns sin t >= 0 from the cosine of an angle t; the infinite gradient at cos t = +-1 is replaced by zero.

    Forms in which infinite gradients of sine and angle cancel, as sin t - t cos t, so get their exact derivative.
    Cost: elementwise.

    >>> sine_from_cosine(torch.tensor([0.0, 1.0]))
    tensor([1., 0.])
    """
    if not cos.requires_grad:
        return (1 - cos).mul_(1 + cos).sqrt_()
    aligned = cos.abs() == 1
    inner = torch.where(aligned, 0, cos)
    return torch.where(aligned, 0, ((1 - inner) * (1 + inner)).sqrt())


def angle_from_cosine(cos: Covariance) -> Covariance:
    """Returns the angle in [0, pi] of a cosine; the infinite gradient at +-1 is replaced by zero.

    Cost: elementwise.

    >>> angle_from_cosine(torch.tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """
    if not cos.requires_grad:
        return cos.acos()
    aligned = cos.abs() == 1
    ends = torch.where(cos > 0, torch.zeros_like(cos), pi)
    return torch.where(aligned, ends, torch.where(aligned, 0, cos).acos())


def sqrt_with_zero_gradient(a: Variance) -> Variance:
    """Returns the square root of a variance; the infinite gradient at zero is replaced by zero.

    Cost: elementwise.

    >>> sqrt_with_zero_gradient(torch.tensor([0.0, 4.0]))
    tensor([0., 2.])
    """
    return torch.where(a > 0, torch.where(a > 0, a, 1).sqrt(), 0)
