"""The dual of the identity, a layer without activation.

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
    """The dual of the identity, phi(x) = x."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[phi(u) phi(v)] for the identity phi and Gaussian u, v with variances a, b and covariance c; the
        covariance itself.
        """
        return c + torch.zeros_like(a * b)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[phi'(u) phi'(v)] for the identity phi and Gaussian u, v with variances a, b and covariance
        c; one.
        """
        return torch.ones_like(a * b * c)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[u phi'(u) v phi'(v)], which equals the dual because u phi'(u) = phi(u)."""
        return self.dual(a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns E[phi(u)] = 0, because phi is odd."""
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns E[phi(u)^2] for the identity phi and a Gaussian u with variance a; the variance itself."""
        return a.clone()
