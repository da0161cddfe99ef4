"""The identity, a layer without activation.

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
    """x."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """The covariance itself; equation (1)."""
        return c + torch.zeros_like(a * b)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """One; equation (2)."""
        return torch.ones_like(a * b * c)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """The dual, for u phi'(u) = phi(u)."""
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Zero: phi is odd."""
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """The variance itself."""
        return a.clone()
