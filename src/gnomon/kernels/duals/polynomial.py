"""Computes Gaussian expectations of polynomials of any degree, including monomials.

With He_k the Hermite polynomials orthogonal under N(0, a), x^m is the sum over k <= m, m - k even, of
binom(m, k) (m - k - 1)!! a^((m - k) / 2) He_k(x). Hence for phi(x) = sum_m p_m x^m

    A_k(a) = sum_m p_m binom(m, k) (m - k - 1)!! a^((m - k) / 2)          (1)
    E[phi(u) phi(v)] = sum_k k! A_k(a) A_k(b) c^k                         (2)
    E[phi(u)] = A_0(a)                                                    (3)

The derivatives are polynomials again: phi' and x phi'.
Hypotheses: (u, v) jointly Gaussian and centered. Degrees beyond about 12 lose digits when signs alternate.
Reference: [daniely2016toward], Hermite expansion of the dual.
Cost: elementwise, (degree + 1) terms; (1) once per variance.

>>> one = torch.ones((), dtype=torch.float64)
>>> Polynomial((0.0, 0.0, 1.0)).dual(one, one, one)          # E[u^4] = 3
tensor(3., dtype=torch.float64)
"""

from dataclasses import dataclass
from math import comb, factorial, prod

import torch

from gnomon.core.errors import add_call_to_errors
from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class Polynomial(AbstractDual):
    """The activation phi(x) = coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...: expectations over
    Gaussian u, v.
    """

    coefficients: tuple[float, ...]

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after a polynomial phi: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""
        return _dual(self.coefficients, a, b, c)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which a polynomial phi multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u,
        v.
        """
        return _dual(tuple(m * p for m, p in enumerate(self.coefficients))[1:], a, b, c)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after a polynomial phi: E[u phi'(u) v phi'(v)]."""
        return _dual(tuple(m * p for m, p in enumerate(self.coefficients)), a, b, c)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of a polynomial for a Gaussian input with mean zero and variance a."""
        return _projection(self.coefficients, 0, a)  # (3)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of a polynomial for a Gaussian input with mean zero and variance a."""
        return self.dual(a, a, a)


@add_call_to_errors
def monomial(degree: int) -> Polynomial:
    """Returns the monomial x^degree as an activation with Gaussian expectations such as E[u^degree v^degree].

    >>> monomial(3).variance(torch.tensor(1.0))              # E[u^6] = 15
    tensor(15.)
    """
    return Polynomial((0.0,) * degree + (1.0,))


def _dual(coefficients: tuple[float, ...], a: Variance, b: Variance, c: Covariance) -> Covariance:
    total = torch.zeros_like(a * b * c)
    for k in reversed(range(len(coefficients))):  # Horner's scheme evaluates the polynomial in c without powers.
        total = total * c + factorial(k) * (_projection(coefficients, k, a) * _projection(coefficients, k, b))
    return total


def _projection(coefficients: tuple[float, ...], k: int, a: Variance) -> Variance:
    total = torch.zeros_like(a)
    # Horner's scheme evaluates the polynomial in a without powers.
    for m in reversed(range(k, len(coefficients), 2)):
        odd_factorial = prod(range(m - k - 1, 1, -2))
        total = total * a + coefficients[m] * comb(m, k) * odd_factorial
    return total
