"""Computes Gaussian expectations of leaky ReLU with any slope, written as a mixture of the identity and the absolute
value.

With phi(x) = s min(x, 0) + max(x, 0) = x (1 + s) / 2 + |x| (1 - s) / 2 and cos t = c / sqrt(a b):

    E[phi(u) phi(v)]   = ((1 + s) / 2)^2 c + ((1 - s) / 2)^2 sqrt(a b) (2 / pi) (sin t + (pi / 2 - t) cos t)   (1)
    E[phi'(u) phi'(v)] = ((1 + s) / 2)^2   + ((1 - s) / 2)^2 (1 - 2 t / pi)                                    (2)
    E[phi(u)]          = (1 - s) sqrt(a / 2 pi)                                                                (3)

Slope -1 is the absolute value, 0 is ReLU, 1 the identity.
Hypotheses: (u, v) jointly Gaussian and centered. At zero variance phi'(0) = s, torch's choice for leaky ReLU.
Reference: [cho2009kernel], [tsuchida2021avoiding].
Cost: elementwise.

>>> one = torch.ones((), dtype=torch.float64)
>>> LeakyReLU(-1.0).dual(one, one, 0 * one)      # E|u| E|v| = 2 / pi
tensor(0.6366, dtype=torch.float64)
"""

from dataclasses import dataclass
from math import pi

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.expectations.polar import (
    angle_from_cosine,
    cosine_from_covariance,
    norm_and_angle,
    sqrt_with_zero_gradient,
    where_both_positive,
)
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class LeakyReLU(AbstractDual):
    """The activation phi(x) = slope * min(x, 0) + max(x, 0), leaky ReLU: expectations E[phi(u) phi(v)] for Gaussian u
    and v.
    """

    slope: float

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = leaky ReLU: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return self.dual_and_derivative(a, b, c)[0]

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor E[phi'(u) phi'(v)] by which leaky ReLU multiplies tangent kernels, with phi'(0) as in
        torch.
        """
        return self._derivative(a, b, angle_from_cosine(cosine_from_covariance(a, b, c)))

    def dual_and_derivative(self, a: Variance, b: Variance, c: Covariance) -> tuple[Covariance, Covariance]:
        """Returns E[phi(u) phi(v)] (kernel entry) and E[phi'(u) phi'(v)] after leaky ReLU, from the angle between u and
        v.
        """
        odd, even = self._weights()
        p = norm_and_angle(a, b, c)
        folded = (2 / pi) * (p.sine + (pi / 2 - p.angle) * p.cosine)
        return p.norm * (odd * p.cosine + even * folded), self._derivative(a, b, p.angle)  # (1)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after leaky ReLU phi: `dual`, because x phi'(x) =
        phi(x).
        """
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of leaky ReLU for a Gaussian input with mean zero and variance a."""
        return sqrt_with_zero_gradient(a) * ((1 - self.slope) / (2 * pi) ** 0.5)  # (3)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of leaky ReLU for a Gaussian input with mean zero and variance a: a (1 +
        slope^2) / 2.
        """
        odd, even = self._weights()
        return a * (odd + even)

    def _weights(self) -> tuple[float, float]:
        """Writes leaky ReLU as p x + q |x| and returns the squares of the coefficients p and q."""
        return ((1 + self.slope) / 2) ** 2, ((1 - self.slope) / 2) ** 2

    def _derivative(self, a: Variance, b: Variance, t: Covariance) -> Covariance:
        """Returns the factor E[phi'(u) phi'(v)] by which phi = leaky ReLU multiplies tangent kernels, from the angle
        between u and v.
        """
        odd, even = self._weights()
        still = self._mean_derivative(a) * self._mean_derivative(b)
        return where_both_positive(a, b, odd + even * (1 - t * (2 / pi)), still)  # (2)

    def _mean_derivative(self, a: Variance) -> Variance:
        return torch.where(a > 0, torch.full_like(a, (1 + self.slope) / 2), self.slope)
