"""Computes Gaussian expectations of ReLU in closed form (the arc-cosine kernels).

For (u, v) ~ N(0, [[a, c], [c, b]]) and cos t = c / sqrt(a b):

    E[relu(u) relu(v)]   = sqrt(a b) (sin t + (pi - t) cos t) / 2 pi      (1)
    E[relu'(u) relu'(v)] = (pi - t) / 2 pi                                (2)
    E[relu(u)]           = sqrt(a / 2 pi)                                 (3)

Hypotheses: (u, v) jointly Gaussian and centered. At zero variance (2) is 0, as relu'(0) = 0 in torch.
Reference: [cho2009kernel], arc-cosine kernels of degree 1 and 0, halved.
Cost: elementwise.

>>> one = torch.ones((), dtype=torch.float64)
>>> ReLU().dual(one, one, 0 * one)               # orthogonal inputs: 1 / 2 pi
tensor(0.1592, dtype=torch.float64)
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
class ReLU(AbstractDual):
    """The activation phi(x) = max(0, x): its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = ReLU: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return self.dual_and_derivative(a, b, c)[0]

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = ReLU multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u, v."""
        return where_both_positive(
            a, b, (pi - angle_from_cosine(cosine_from_covariance(a, b, c))) / (2 * pi), torch.zeros(()).to(a)
        )  # (2)

    def dual_and_derivative(self, a: Variance, b: Variance, c: Covariance) -> tuple[Covariance, Covariance]:
        """Returns E[phi(u) phi(v)] (kernel entry) and E[phi'(u) phi'(v)] after ReLU, both from the angle between u and
        v.
        """
        p = norm_and_angle(a, b, c)
        slope = (pi - p.angle).mul_(1 / (2 * pi))
        dual = torch.addcmul(p.sine * (1 / (2 * pi)), slope, p.cosine).mul_(p.norm)  # (1)
        return dual, where_both_positive(a, b, slope, torch.zeros(()).to(a))  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after ReLU phi: `dual`, because x phi'(x)
        = phi(x).
        """
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of ReLU for a Gaussian input with mean zero and variance a."""
        return sqrt_with_zero_gradient(a) / (2 * pi) ** 0.5  # (3)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of ReLU for a Gaussian input with mean zero and variance a: a / 2."""
        return a / 2
