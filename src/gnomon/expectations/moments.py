"""Computes Gaussian expectations of one elementwise function, and caches intermediate results.

For (u, v) ~ N(0, [[a, c], [c, b]]):

    E[f(u) f(v)],    E[f'(u) f'(v)],    E[u f'(u) v f'(v)]                                                 (1)
    E[f(u)],    E[f(u)^2],    d/da E[f(u)^2] = E[f(u) u f'(u)] / a                                         (2)

f' is torch's gradient. All are differentiable by autograd.

Accuracy: absolute error below 1e-8 sqrt(E[f(u)^2] E[f(v)^2]), for variances from 0 to 1e12 and every correlation,
+-1 included; mostly 1e-12.
Hypotheses: as for `expectations.expectation`.
Cost: some 50 ms for a new function; then see `expectations.expectation`.

>>> one = torch.ones((), dtype=torch.float64)
>>> Moments(torch.relu).product(one, one, 0 * one)               # 1 / 2 pi
tensor(0.1592, dtype=torch.float64)
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from gnomon.core.typing import Covariance, Variance
from gnomon.expectations.differentiable import expectation_of_one, expectation_of_product
from gnomon.expectations.functions import Derivative, Elementwise, InputTimesDerivative, SquaredFunction
from gnomon.expectations.line import Sampler
from gnomon.expectations.polar import ALIGNED_TOLERANCE_IN_EPS, sqrt_with_zero_gradient

__all__ = ["Moments"]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Computes Gaussian expectations such as E[f(u) f(v)] of one elementwise function f and of its derivative."""

    function: Elementwise
    _value: Sampler = field(init=False, repr=False)
    _derivative: Sampler = field(init=False, repr=False)
    _gain: Sampler = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, part in (("_value", self.function), ("_derivative", Derivative(self.function)),
                           ("_gain", InputTimesDerivative(self.function))):  # fmt: skip
            # Stored in this object, so that the sampler's cache lives as long as the object.
            object.__setattr__(self, name, Sampler(part))

    def product(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[f(u) f(v)] of the wrapped function f for Gaussian u, v with variances a, b and covariance c."""
        return expectation_of_product(self._value, self._value, *_to_float64(a, b, c)).to(c.dtype)  # (1)

    def slope_product(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[f'(u) f'(v)] of the wrapped function f for Gaussian u, v with variances a, b and covariance c."""
        return expectation_of_product(self._derivative, self._derivative, *_to_float64(a, b, c)).to(c.dtype)  # (1)

    def gain_product(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns E[u f'(u) v f'(v)] of the wrapped function f for Gaussian u, v with variances a, b and covariance
        c.
        """
        return expectation_of_product(self._gain, self._gain, *_to_float64(a, b, c)).to(c.dtype)  # (1)

    def mean(self, a: Variance) -> Variance:
        """Returns E[f(u)] of the wrapped function f for a Gaussian u with variance a."""
        return expectation_of_one(self._value, a.double()).to(a.dtype)  # (2)

    def square(self, a: Variance) -> Variance:
        """Returns E[f(u)^2] of the wrapped function f for a Gaussian u with variance a, by one integral."""
        return expectation_of_one(SquaredFunction(self._value), a.double()).to(a.dtype)  # (2)

    def slope_square(self, a: Variance) -> Variance:
        """Returns E[f'(u)^2] of the wrapped function f for a Gaussian u with variance a."""
        return expectation_of_one(SquaredFunction(self._derivative), a.double()).to(a.dtype)

    def square_slope(self, a: Variance) -> Variance:
        """Returns the derivative of E[f(u)^2] with respect to the variance a of u, without a second derivative of f."""
        positive = torch.where(a > 0, a, torch.nan).double()
        # (2)
        return (expectation_of_product(self._value, self._gain, positive, positive, positive) / positive).to(a.dtype)

    def corners(self, a: Tensor) -> bool:
        """Returns whether the function has a kink or a jump within ten standard deviations, for any of these
        variances.
        """
        return self._value.corners(a.detach().double().reshape(-1).sqrt())


def _to_float64(a: Variance, b: Variance, c: Covariance) -> tuple[Variance, Variance, Covariance]:
    """Converts variances and covariances to float64; correlations of nearly +-1 become exactly +-1."""
    if c.dtype == torch.float64:
        return a.double(), b.double(), c
    norm = sqrt_with_zero_gradient(a.double()) * sqrt_with_zero_gradient(b.double())
    lifted = c.double()
    aligned = lifted.abs() >= (1 - ALIGNED_TOLERANCE_IN_EPS * torch.finfo(c.dtype).eps) * norm
    return a.double(), b.double(), lifted + torch.where(aligned, lifted.sign() * norm - lifted, 0).detach()
