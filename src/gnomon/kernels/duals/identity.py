"""Computes Gaussian expectations of the identity, which stands for a layer without activation.

    E[u v] = c                                             (1)
    E[1]   = 1                                             (2)

Hypotheses: (u, v) jointly Gaussian and centered.
Reference: [lee2018deep], the recursion with linear units.
Cost: elementwise.

>>> one = torch.ones((), dtype=torch.float64)
>>> Identity().dual(one, one, 0.25 * one)
tensor(0.2500, dtype=torch.float64)
"""

from dataclasses import dataclass

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class Identity(AbstractDual):
    """The activation phi(x) = x: its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the identity phi: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return c + torch.zeros_like(a * b)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the identity multiplies tangent kernels: 1, because its slope is 1."""
        return torch.ones_like(a * b * c)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the identity: the covariance of the Gaussian
        inputs.
        """
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of the identity for a Gaussian input with mean zero and variance a: 0."""
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of the identity for a Gaussian input with mean zero and variance a: the
        variance a itself.
        """
        return a.clone()
