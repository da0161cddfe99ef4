"""The contract of an activation in the infinite-width limit.

For (u, v) ~ N(0, [[a, c], [c, b]]) an elementwise function phi has

    dual(a, b, c)            = E[phi(u) phi(v)]            (1)
    dual_derivative(a, b, c) = E[phi'(u) phi'(v)]          (2)
    dual_gain(a, b, c)       = E[u phi'(u) v phi'(v)]      (3)
    variance(a)              = dual(a, a, a)               (4)

(3) is the tangent kernel of a trainable gain: d/dg phi(g u) at g = 1 is u phi'(u).
Arguments are tensors that broadcast against each other; results have the broadcast shape. Keep a of shape (n, 1) and
b of shape (1, m) unexpanded: what depends on one variance alone is then computed once per variance.
Everything is differentiable by autograd, also where u and v coincide, where they are opposite and at zero variance.
Where a derivative does not exist or is infinite (a corner met with zero variance; the dual of a jump at u = +-v), the
gradient is zero.

Conventions. At zero variance u is the number 0, so that phi' there is torch's phi'(0), corners included.
Where phi has a jump, phi' is torch's gradient: the jump does not count.
Hypotheses: a, b >= 0 and c^2 <= a b up to rounding. Reference: [daniely2016toward].
"""

from abc import ABC, abstractmethod
from math import pi
from typing import NamedTuple

import torch

from gnomon.core.typing import Covariance, Variance

ALIGNED = 32
"""In units of the dtype's rounding: correlations this near to +-1 are taken for exact."""


class AbstractDual(ABC):
    """An elementwise function seen through centered Gaussian pairs."""

    __slots__ = ()

    @abstractmethod
    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """E[phi(u) phi(v)]; equation (1)."""

    @abstractmethod
    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """E[phi'(u) phi'(v)]; equation (2), with torch's convention where phi has a corner."""

    @abstractmethod
    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """E[u phi'(u) v phi'(v)]; equation (3)."""

    @abstractmethod
    def mean(self, a: Variance) -> Variance:
        """E[phi(u)]."""

    @abstractmethod
    def variance(self, a: Variance) -> Variance:
        """E[phi(u)^2], the second moment; equation (4)."""


class Polar(NamedTuple):
    """A covariance as lengths and an angle."""

    norm: Covariance
    cosine: Covariance
    sine: Covariance
    angle: Covariance


def polar(a: Variance, b: Variance, c: Covariance) -> Polar:
    """Split a covariance into the norm sqrt(a b) and the angle t of cos t = c / sqrt(a b).

    A cosine within 32 roundings of +-1 is taken for +-1: two copies of one input have angle 0, not 1e-8, although
    c and sqrt(a b) were rounded differently. At zero variance norm and cosine are 0.
    The gradient of the cosine is exact everywhere. The gradients of sine and angle, infinite at cos t = +-1, are zero
    there, so that forms in which the two infinities cancel, as sin t - t cos t, get their exact derivative.
    Hypotheses: a, b >= 0 and c^2 <= a b up to rounding.
    Reference: [cho2009kernel], section 2.
    Cost: elementwise.

    >>> two = torch.tensor(2.0, dtype=torch.float64)
    >>> polar(two, two, two).angle                  # u = v
    tensor(0., dtype=torch.float64)
    >>> polar(two, two, -two).angle                 # u = -v
    tensor(3.1416, dtype=torch.float64)
    """
    present = (a > 0) & (b > 0)
    scale = torch.where(a > 0, a, 1).sqrt() * torch.where(b > 0, b, 1).sqrt()
    raw = torch.where(present, c / scale, 0)
    aligned = raw.abs() >= 1 - ALIGNED * torch.finfo(raw.dtype).eps
    cosine = raw + torch.where(aligned, raw.sign() - raw, 0).detach()
    inner = torch.where(aligned, 0, raw)
    sine = torch.where(aligned, 0, ((1 - inner) * (1 + inner)).sqrt())
    angle = torch.where(aligned, torch.where(raw > 0, torch.zeros_like(raw), pi), inner.acos())
    return Polar(torch.where(present, scale, 0), cosine, sine, angle)


def root(a: Variance) -> Variance:
    """sqrt(a) with gradient zero, not infinite, at zero variance.

    Cost: elementwise.

    >>> root(torch.tensor([0.0, 4.0]))
    tensor([0., 2.])
    """
    return torch.where(a > 0, torch.where(a > 0, a, 1).sqrt(), 0)


def determinant(a: Variance, b: Variance, c: Covariance) -> Covariance:
    """det(I + [[a, c], [c, b]]), without the cancellation of (1 + a)(1 + b) - c^2.

    Cost: elementwise.

    >>> one = torch.ones((), dtype=torch.float64)
    >>> determinant(one, one, one)
    tensor(3., dtype=torch.float64)
    """
    return 1 + a + b + (a * b - c * c)
