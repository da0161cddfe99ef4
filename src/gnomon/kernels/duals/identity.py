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
        """Returns E[u v] = c for Gaussian u, v with covariance c, the expectation E[phi(u) phi(v)] of the identity
        phi(x) = x.
        """
        return c + torch.zeros_like(a * b)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[phi'(u) phi'(v)] for the identity phi(x) = x, which is one because phi' = 1."""
        return torch.ones_like(a * b * c)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[u phi'(u) v phi'(v)] for the identity phi(x) = x, which is the covariance of u and v."""
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean of a Gaussian u with mean zero after the identity, which is 0."""
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the second moment E[u^2] of a centered Gaussian u after the identity, which is its variance a."""
        return a.clone()
