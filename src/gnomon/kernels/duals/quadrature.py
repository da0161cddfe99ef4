"""The dual of any elementwise function, by quadrature.

For (u, v) ~ N(0, [[a, c], [c, b]]) the expectations E[phi(u) phi(v)], E[phi'(u) phi'(v)] and E[u phi'(u) v phi'(v)]
are computed by Mehler's series

    E[phi(u) phi(v)] = sum_k alpha_k(a) alpha_k(b) (c / sqrt(a b))^k,   alpha_k(a) = E[phi(sqrt(a) z) he_k(z)]    (1)

where Parseval's identity certifies its error, and by adaptive double integrals, cut at the corners and jumps of phi,
where it does not: near c = +-sqrt(a b). phi' is torch's gradient.

Accuracy: absolute error below 1e-8 sqrt(E[phi(u)^2] E[phi(v)^2]), for variances from 0 to 1e4 and every correlation,
+-1 included; mostly 1e-10.
Hypotheses: phi is elementwise, deterministic, finite, and piecewise analytic; away from its corners and jumps it has
no feature finer than one percent of its distance from the origin; E[phi(u)^2] exists, and phi does something within
ten deviations; (u, v) is centered Gaussian.
Reference: [daniely2016toward], definition 4 and lemma 11.
Cost: some 50 ms per call and 50 microseconds per distinct variance; per pair 0.1 to 6 microseconds where (1) is
certified, 150 where it is not (about 1 where there are so many such pairs that a table pays).

>>> one = torch.ones((), dtype=torch.float64)
>>> Quadrature(torch.relu).dual(one, one, 0 * one)               # 1 / 2 pi
tensor(0.1592, dtype=torch.float64)
"""

from dataclasses import dataclass

import torch

from gnomon.core.typing import Covariance, Variance
from gnomon.kernels.duals.base import ALIGNED, AbstractDual, root
from gnomon.kernels.duals.numeric.differentiable import pair, single
from gnomon.kernels.duals.numeric.functions import Derivative, Elementwise, Gain, Square, check


@dataclass(frozen=True, slots=True)
class Quadrature(AbstractDual):
    """An elementwise torch function: tanh, SiLU, a lambda, an nn.Module without parameters."""

    function: Elementwise

    def __post_init__(self) -> None:
        check(self.function)

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1)."""
        return pair(self.function, self.function, *_lifted(a, b, c)).to(c.dtype)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1) of phi'."""
        derivative = Derivative(self.function)
        return pair(derivative, derivative, *_lifted(a, b, c)).to(c.dtype)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Equation (1) of u phi'(u)."""
        gain = Gain(self.function)
        return pair(gain, gain, *_lifted(a, b, c)).to(c.dtype)

    def mean(self, a: Variance) -> Variance:
        """alpha_0 of equation (1)."""
        return single(self.function, a.double()).to(a.dtype)

    def variance(self, a: Variance) -> Variance:
        """Equation (1) at a = b = c, which is one integral."""
        return single(Square(self.function), a.double()).to(a.dtype)


def _lifted(a: Variance, b: Variance, c: Covariance) -> tuple[Variance, Variance, Covariance]:
    """The arguments in float64; correlations that are +-1 within their own rounding become so in float64."""
    if c.dtype == torch.float64:
        return a.double(), b.double(), c
    norm = root(a.double()) * root(b.double())
    lifted = c.double()
    aligned = lifted.abs() >= (1 - ALIGNED * torch.finfo(c.dtype).eps) * norm
    return a.double(), b.double(), lifted + torch.where(aligned, lifted.sign() * norm - lifted, 0).detach()
