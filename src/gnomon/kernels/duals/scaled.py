"""Computes Gaussian expectations of an activation whose input and output are scaled and whose output is shifted.

For phi(x) = o g(s x) + h, with G, G', m and U the dual, the dual of the derivative, the mean and the gain of g:

    E[phi(u) phi(v)]       = o^2 G(s^2 a, s^2 b, s^2 c) + o h (m(s^2 a) + m(s^2 b)) + h^2     (1)
    E[phi'(u) phi'(v)]     = o^2 s^2 G'(s^2 a, s^2 b, s^2 c)                                   (2)
    E[u phi'(u) v phi'(v)] = o^2 U(s^2 a, s^2 b, s^2 c)                                        (3)
    E[phi(u)]              = o m(s^2 a) + h                                                    (4)

Hypotheses: as for g. Reference: [daniely2016toward].
Cost: as for g.

>>> import torch
>>> from gnomon.kernels.duals.erf import Erf
>>> logistic_like = ScaledDual(Erf(), outer_scale=0.5, inner_scale=0.5, shift=0.5)
>>> import torch
>>> from gnomon.kernels.duals.erf import Erf
>>> logistic_like.mean(torch.tensor(7.0))
tensor(0.5000)
"""

from dataclasses import dataclass

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class ScaledDual(AbstractDual):
    """The activation outer_scale * inner(inner_scale * x) + shift: its Gaussian expectations, from the ones of
    ``inner``.
    """

    inner: AbstractDual
    outer_scale: float = 1.0
    inner_scale: float = 1.0
    shift: float = 0.0

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the scaled activation phi: E[phi(u) phi(v)] for Gaussian u, v with covariance
        c.
        """
        s = self.inner_scale**2
        value = self.outer_scale**2 * self.inner.dual(s * a, s * b, s * c)
        if self.shift:
            means = self.inner.mean(s * a) + self.inner.mean(s * b)
            value = value + (self.outer_scale * self.shift * means + self.shift**2)
        return value  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the scaled activation phi multiplies tangent kernels: E[phi'(u) phi'(v)] for
        Gaussian u, v.
        """
        s = self.inner_scale**2
        return self.outer_scale**2 * s * self.inner.dual_derivative(s * a, s * b, s * c)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the scaled phi: E[u phi'(u) v phi'(v)]."""
        s = self.inner_scale**2
        return self.outer_scale**2 * self.inner.dual_gain(s * a, s * b, s * c)  # (3)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of the scaled activation for a Gaussian input with mean zero and variance a."""
        return self.outer_scale * self.inner.mean(self.inner_scale**2 * a) + self.shift  # (4)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of the scaled activation for a Gaussian input with mean zero and
        variance a.
        """
        s = self.inner_scale**2
        value = self.outer_scale**2 * self.inner.variance(s * a)
        if self.shift:
            mean = self.inner.mean(s * a)
            value = value + (self.outer_scale * self.shift * (mean + mean) + self.shift**2)
        return value
