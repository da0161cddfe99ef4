"""Computes Gaussian expectations of sine and cosine, the activations of random Fourier features.

With S = exp(-(a + b) / 2) sinh c and C = exp(-(a + b) / 2) cosh c:

    E[sin u sin v] = S,   E[cos u cos v] = C                              (1)
    E[u cos u v cos v] = (a b + c^2) S + c (1 - a - b) C                  (2)
    E[u sin u v sin v] = (a b + c^2) C + c (1 - a - b) S                  (3)

As |c| <= (a + b) / 2, the exponentials are written with exponents that are never positive.
Hypotheses: (u, v) jointly Gaussian and centered. Reference: [pearce2019expressive]; (2), (3) derived here.
Cost: elementwise.

>>> half = torch.tensor(0.5, dtype=torch.float64)
>>> round(float(Sin().dual(half, half, half) + Cos().dual(half, half, half)), 12)   # sin^2 + cos^2
1.0
"""

from dataclasses import dataclass

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class Sin(AbstractDual):
    """The activation phi = sin: its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = sine: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return _sinh(a, b, c)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = sine multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u, v."""
        return _cosh(a, b, c)  # (1)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after phi = sine: E[u phi'(u) v phi'(v)]."""
        return (a * b + c * c) * _sinh(a, b, c) + c * (1 - a - b) * _cosh(a, b, c)  # (2)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of sine for a Gaussian input with mean zero and variance a: 0, because sine
        is odd.
        """
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of sine for a Gaussian input with mean zero and variance a: (1 - exp(-2 a)) /
        2.
        """
        return self.dual(a, a, a)


@dataclass(frozen=True, slots=True)
class Cos(AbstractDual):
    """The activation phi = cos: its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = cosine: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return _cosh(a, b, c)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = cosine multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u, v."""
        return _sinh(a, b, c)  # (1)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after phi = cosine: E[u phi'(u) v phi'(v)]."""
        return (a * b + c * c) * _cosh(a, b, c) + c * (1 - a - b) * _sinh(a, b, c)  # (3)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of cosine for a Gaussian input with mean zero and variance a: exp(-a / 2)."""
        return torch.exp(-a / 2)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of cosine for a Gaussian input with mean zero and variance a: (1 + exp(-2 a))
        / 2.
        """
        return self.dual(a, a, a)


def _cosh(a: Variance, b: Variance, c: Covariance) -> Covariance:
    m = (a + b) / 2
    return (torch.exp(c - m) + torch.exp(-c - m)) / 2


def _sinh(a: Variance, b: Variance, c: Covariance) -> Covariance:
    """Computes exp(-(a + b) / 2) sinh(c) without cancellation or overflow, by one formula for each sign of c."""
    m = (a + b) / 2
    up, down = torch.where(c >= 0, c, 0), torch.where(c < 0, c, 0)
    positive = -torch.exp(up - m) * torch.expm1(-2 * up)
    negative = torch.exp(-down - m) * torch.expm1(2 * down)
    return torch.where(c >= 0, positive, negative) / 2
