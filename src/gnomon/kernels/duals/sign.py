"""Computes Gaussian expectations of the sign function and the step function in closed form.

With cos t = c / sqrt(a b):

    E[sign(u) sign(v)] = 1 - 2 t / pi                      (1)
    E[step(u) step(v)] = (pi - t) / 2 pi                   (2)

Their derivative is torch's gradient, zero; the tangent kernel of a layer below them vanishes, as it does in a network.
Price's theorem, d dual / d c = E[phi' phi'], holds only with the jump counted, hence not for these two.
Hypotheses: (u, v) jointly Gaussian and centered; sign(0) = step(0) = 0, hence 0 at zero variance.
Reference: [cho2009kernel], degree 0; [williams1996computing], the limit of steep sigmoids.
Cost: elementwise.

>>> one = torch.ones((), dtype=torch.float64)
>>> Sign().dual(one, one, 0.5 * one)             # t = pi / 3
tensor(0.3333, dtype=torch.float64)
"""

from dataclasses import dataclass
from math import pi

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.expectations.polar import angle_from_cosine, cosine_from_covariance
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class Sign(AbstractDual):
    """The sign function phi, which is -1, 0 or 1: its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the sign function phi: E[phi(u) phi(v)] for Gaussian u, v with
        covariance c.
        """
        t = angle_from_cosine(cosine_from_covariance(a, b, c))
        return torch.where((a > 0) & (b > 0), 1 - t * (2 / pi), 0)  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the sign function multiplies tangent kernels: 0, because its slope is 0 except at
        zero.
        """
        return torch.zeros_like(a * b * c)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the sign function phi, E[u phi'(u) v
        phi'(v)]: 0.
        """
        return torch.zeros_like(a * b * c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of the sign function for a Gaussian input with mean zero: 0, because the function is
        odd.
        """
        return torch.zeros_like(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of the sign function for a Gaussian input with mean zero and variance a: 1,
        or 0 if a = 0.
        """
        return (a > 0).to(a.dtype)


@dataclass(frozen=True, slots=True)
class Heaviside(AbstractDual):
    """The step function phi (1 if x > 0, else 0): its expectations such as E[phi(u) phi(v)] for Gaussian u and v."""

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the step function phi: E[phi(u) phi(v)] for Gaussian u, v with
        covariance c.
        """
        t = angle_from_cosine(cosine_from_covariance(a, b, c))
        return torch.where((a > 0) & (b > 0), (pi - t) / (2 * pi), 0)  # (2)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the step function multiplies tangent kernels: 0, because its slope is 0 except at
        zero.
        """
        return torch.zeros_like(a * b * c)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the step function phi, E[u phi'(u) v
        phi'(v)]: 0.
        """
        return torch.zeros_like(a * b * c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of the step function for a Gaussian input with mean zero and variance a: 1/2, or 0 if
        a = 0.
        """
        return (a > 0).to(a.dtype) / 2

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of the step function for a Gaussian input with mean zero and variance a: 1/2,
        or 0 if a = 0.
        """
        return (a > 0).to(a.dtype) / 2
