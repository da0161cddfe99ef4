"""Computes Gaussian expectations of the activation GELU, x Phi(x) with Phi the normal distribution function.

With A = 1 + a, B = 1 + b, D = A B - c^2, P = 1 / (2 pi sqrt(D)) and Q = 1/4 + atan(c / sqrt(D)) / 2 pi:

    E[phi(u) phi(v)]   = c Q + P (a b + c^2 (1/A + 1/B - 1))                                             (1)
    E[phi'(u) phi'(v)] = Q + c P (1/A + 1/B + 1/D)                                                       (2)
    E[phi(u)]          = a / sqrt(2 pi A)                                                                (3)
    E[u phi'(u) v phi'(v)] = (1) + T(a, b) + T(b, a) + P ((a B - c^2)(b A - c^2) + 2 c^2) / D^2          (4)
    T(a, b) = E[u Phi(u) v^2 Phi'(v)] = P (a b B + c^2 (1 - b) + c^2 B / D) / B^2                        (5)

Q = E[Phi(u) Phi(v)]; a factor Phi'(u) makes the Gaussian narrower, and Stein's identity removes factors u.
Hypotheses: (u, v) jointly Gaussian and centered. Reference: [tsuchida2021avoiding]; (4), (5) derived here.
Cost: elementwise.

>>> one = torch.ones((), dtype=torch.float64)
>>> GELU().dual(one, one, 0 * one)               # E[phi(u)]^2 = 1 / 4 pi
tensor(0.0796, dtype=torch.float64)
"""

from dataclasses import dataclass
from math import pi

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual, determinant


@dataclass(frozen=True, slots=True)
class GELU(AbstractDual):
    """The activation phi(x) = x Phi(x), the exact GELU: its expectations such as E[phi(u) phi(v)] for Gaussian u and
    v.
    """

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after phi = GELU: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        _, p, q = _parts(a, b, c)
        return c * q + p * (a * b + c * c * (1 / (1 + a) + 1 / (1 + b) - 1))  # (1)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which phi = GELU multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u, v."""
        d, p, q = _parts(a, b, c)
        return q + c * p * (1 / (1 + a) + 1 / (1 + b) + 1 / d)  # (2)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after phi = GELU: E[u phi'(u) v phi'(v)]."""
        d, p, _ = _parts(a, b, c)
        square = c * c
        gap = a * b - square
        narrow = p * ((a + gap) * (b + gap) + 2 * square) / (d * d)
        return self.dual(a, b, c) + _mix(a, b, square, d, p) + _mix(b, a, square, d, p) + narrow  # (4)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of GELU for a Gaussian input with mean zero and variance a."""
        return a * (2 * pi * (1 + a)).rsqrt()  # (3)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of GELU for a Gaussian input with mean zero and variance a."""
        return self.dual(a, a, a)


def _parts(a: Variance, b: Variance, c: Covariance) -> tuple[Covariance, Covariance, Covariance]:
    d = determinant(a, b, c)
    steep = d.rsqrt()
    return d, steep / (2 * pi), 0.25 + torch.atan(c * steep) / (2 * pi)


def _mix(a: Variance, b: Variance, square: Covariance, d: Covariance, p: Covariance) -> Covariance:
    return p * (a * b / (1 + b) + square * ((1 - b) / (1 + b) ** 2 + 1 / ((1 + b) * d)))  # (5)
