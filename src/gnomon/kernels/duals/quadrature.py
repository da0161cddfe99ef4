"""The dual of any elementwise function, by quadrature.

For (u, v) ~ N(0, [[a, c], [c, b]]) the expectations E[phi(u) phi(v)], E[phi'(u) phi'(v)] and E[u phi'(u) v phi'(v)]
are computed by Mehler's series

    E[phi(u) phi(v)] = sum_k alpha_k(a) alpha_k(b) (c / sqrt(a b))^k,   alpha_k(a) = E[phi(sqrt(a) z) he_k(z)]    (1)

where Parseval's identity certifies its error, and by double integrals of piecewise polynomials, cut at the corners and
jumps of phi, where it does not: near c = +-sqrt(a b), and at large variances. phi' is torch's gradient.

Accuracy: absolute error below 1e-8 sqrt(E[phi(u)^2] E[phi(v)^2]), for variances from 0 to 1e12 and every correlation,
+-1 included; mostly 1e-12. Certified: the tail of (1), by Parseval's identity, to 1e-10; every polynomial, by
comparison with the function between its nodes, to 1e-9 of its local size. Tested: all of it, against closed forms and
an independent quadrature.
Hypotheses: phi is elementwise, deterministic, finite, and piecewise analytic; away from its corners and jumps it has
no feature finer than one percent of its distance from the origin; E[phi(u)^2] exists, and phi does something within
ten deviations; (u, v) is centered Gaussian.
Reference: [daniely2016toward], definition 4 and lemma 11.
Cost: some 50 ms for a new function, remembered as long as the dual lives; 20 to 200 microseconds per distinct variance;
per pair 0.05 to 0.3 microseconds where (1) is certified and 4 where it is not, on one core; all cores work.

>>> one = torch.ones((), dtype=torch.float64)
>>> Quadrature(torch.relu).dual(one, one, 0 * one)               # 1 / 2 pi
tensor(0.1592, dtype=torch.float64)
"""

from dataclasses import dataclass, field

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import ALIGNED, AbstractDual, root
from gnomon.kernels.duals.numeric.differentiable import pair, single
from gnomon.kernels.duals.numeric.functions import Derivative, Elementwise, Gain, Square, check
from gnomon.kernels.duals.numeric.line import Sampler


@dataclass(frozen=True, slots=True)
class Quadrature(AbstractDual):
    """An elementwise torch function: tanh, SiLU, a lambda, an nn.Module without parameters."""

    function: Elementwise
    _value: Sampler = field(init=False, repr=False, compare=False)
    _derivative: Sampler = field(init=False, repr=False, compare=False)
    _gain: Sampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self.function)
        for name, made in (("_value", self.function), ("_derivative", Derivative(self.function)),
                           ("_gain", Gain(self.function))):  # fmt: skip
            object.__setattr__(self, name, Sampler(made))  # what is found out about the function lives as long as it

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1)."""
        return pair(self._value, self._value, *_lifted(a, b, c)).to(c.dtype)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1) of phi'."""
        return pair(self._derivative, self._derivative, *_lifted(a, b, c)).to(c.dtype)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1) of u phi'(u)."""
        return pair(self._gain, self._gain, *_lifted(a, b, c)).to(c.dtype)

    def corners(self, a: Variance) -> bool:
        """Whether phi is not smooth within ten deviations of some variable, so that equation (1) falls slowly."""
        return self._value.corners(a.detach().double().reshape(-1).sqrt())

    def mean(self, a: Variance) -> Variance:
        """alpha_0 of equation (1)."""
        return single(self._value, a.double()).to(a.dtype)

    def variance(self, a: Variance) -> Variance:
        """Equation (1) at a = b = c, which is one integral."""
        return single(Square(self._value), a.double()).to(a.dtype)


def _lifted(a: Variance, b: Variance, c: Covariance) -> tuple[Variance, Variance, Covariance]:
    """The arguments in float64; correlations that are +-1 within their own rounding become so in float64."""
    if c.dtype == torch.float64:
        return a.double(), b.double(), c
    norm = root(a.double()) * root(b.double())
    lifted = c.double()
    aligned = lifted.abs() >= (1 - ALIGNED * torch.finfo(c.dtype).eps) * norm
    return a.double(), b.double(), lifted + torch.where(aligned, lifted.sign() * norm - lifted, 0).detach()
