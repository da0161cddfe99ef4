"""Computes Gaussian expectations of two activations: the exponential exp(x) and the Gaussian bump exp(-x^2).

With D = (1 + 2 a)(1 + 2 b) - 4 c^2 and d = a b - c^2:

    E[exp(u) exp(v)]               = exp((a + b) / 2 + c)                       (1)
    E[u exp(u) v exp(v)]           = (1) times (a + c)(b + c) + c               (2)
    E[exp(-u^2) exp(-v^2)]         = D^(-1/2)                                   (3)
    4 E[u v exp(-u^2 - v^2)]       = 4 c D^(-3/2)                               (4)
    4 E[u^2 v^2 exp(-u^2 - v^2)]   = 4 ((a + 2 d)(b + 2 d) + 2 c^2) D^(-5/2)    (5)

A factor exp(u + v) moves the Gaussian, a factor exp(-u^2 - v^2) narrows it; the moments of the new one give the rest.
Hypotheses: (u, v) jointly Gaussian and centered; for Exp, variances below 354 in float64 (44 in float32), where
E[exp(u)^2] leaves the range of the numbers.
Reference: [williams1996computing] for (3); (2), (4), (5) derived here.
Cost: elementwise.

>>> zero = torch.zeros((), dtype=torch.float64)
>>> Exp().dual(zero, zero, zero), GaussianBump().variance(zero + 2)       # 1 and 1 / 3
(tensor(1., dtype=torch.float64), tensor(0.3333, dtype=torch.float64))
"""

from dataclasses import dataclass

import torch

from gnomon.core.errors import NotFiniteError
from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual, determinant


@dataclass(frozen=True, slots=True)
class Exp(AbstractDual):
    """The activation phi = exp: its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = exp: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return _finite(torch.exp((a + b) / 2 + c))  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = exp multiplies tangent kernels: equal to `dual`, because exp is its own
        derivative.
        """
        return self.dual(a, b, c)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after phi = exp: E[u phi'(u) v phi'(v)]."""
        return _finite(self.dual(a, b, c) * ((a + c) * (b + c) + c))  # (2)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of exp for a Gaussian input with mean zero and variance a: exp(a / 2)."""
        return _finite(torch.exp(a / 2))

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of exp for a Gaussian input with mean zero and variance a: exp(2 a)."""
        return self.dual(a, a, a)


@dataclass(frozen=True, slots=True)
class GaussianBump(AbstractDual):
    """The activation phi(x) = exp(-x^2): its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the Gaussian bump phi: E[phi(u) phi(v)] for Gaussian u, v with
        covariance c.
        """
        return determinant(2 * a, 2 * b, 2 * c).rsqrt()  # (3)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the Gaussian bump phi multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian
        u, v.
        """
        return 4 * c * determinant(2 * a, 2 * b, 2 * c).rsqrt() ** 3  # (4)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the Gaussian bump phi: E[u phi'(u) v
        phi'(v)].
        """
        gap = 2 * (a * b - c * c)
        return 4 * ((a + gap) * (b + gap) + 2 * c * c) * determinant(2 * a, 2 * b, 2 * c).rsqrt() ** 5  # (5)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of exp(-x^2) for a Gaussian input with mean zero and variance a: (1 + 2 a)^(-1/2)."""
        return (1 + 2 * a).rsqrt()

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of exp(-x^2) for a Gaussian input with mean zero and variance a: (1 + 4
        a)^(-1/2).
        """
        return self.dual(a, a, a)


def _finite(value: Covariance) -> Covariance:
    if bool(torch.isinf(value).any()):
        raise NotFiniteError(
            f"E[exp(u) exp(v)] exceeds the range of {value.dtype}",
            accepted="finite second moments",
            fix="Reduce the variances before the exponential with a smaller weight variance or ScaledDual(Exp(), ...)",
        )
    return value
