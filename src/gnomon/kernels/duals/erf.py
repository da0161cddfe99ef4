"""Computes Gaussian expectations of the error function erf, an activation shaped like a sigmoid, in closed form.

With D = (1 + 2 a)(1 + 2 b) - 4 c^2:

    E[erf(u) erf(v)]           = (2 / pi) atan(2 c / sqrt(D))             (1)
    E[erf'(u) erf'(v)]         = (4 / pi) / sqrt(D)                       (2)
    E[u erf'(u) v erf'(v)]     = (4 / pi) c / sqrt(D)^3                   (3)

(1) is (2 / pi) asin(2 c / sqrt((1 + 2 a)(1 + 2 b))), in a form that stays accurate near the ends of asin.
For (3): exp(-u^2 - v^2) times the density is Gaussian, of covariance c / D.
Hypotheses: (u, v) jointly Gaussian and centered. Reference: [williams1996computing].
Cost: elementwise.

>>> half = torch.tensor(0.5, dtype=torch.float64)
>>> Erf().dual(half, half, half)                 # (2 / pi) asin(1 / 2)
tensor(0.3333, dtype=torch.float64)
"""

from dataclasses import dataclass
from math import pi

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual, determinant


@dataclass(frozen=True, slots=True)
class Erf(AbstractDual):
    """The activation phi = erf (error function): its expectations E[phi(u) phi(v)] for Gaussian u and v, in closed
    form.
    """

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = erf: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return torch.atan(2 * c * determinant(2 * a, 2 * b, 2 * c).rsqrt()) * (2 / pi)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = erf multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u, v."""
        return determinant(2 * a, 2 * b, 2 * c).rsqrt() * (4 / pi)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after phi = erf: E[u phi'(u) v phi'(v)]."""
        return determinant(2 * a, 2 * b, 2 * c).rsqrt() ** 3 * c * (4 / pi)  # (3)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of erf for a Gaussian input with mean zero and variance a: 0, because erf is odd."""
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of erf for a Gaussian input with mean zero and variance a."""
        return self.dual(a, a, a)
