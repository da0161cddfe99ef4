"""Computes Gaussian expectations of any elementwise function by quadrature (numerical integration).

For (u, v) ~ N(0, [[a, c], [c, b]]) the expectations E[phi(u) phi(v)], E[phi'(u) phi'(v)] and E[u phi'(u) v phi'(v)]
are computed by Mehler's series

    E[phi(u) phi(v)] = sum_k alpha_k(a) alpha_k(b) (c / sqrt(a b))^k,   alpha_k(a) = E[phi(sqrt(a) z) he_k(z)]    (1)

if Parseval's identity certifies its error, and by double integrals of piecewise polynomials, cut at the corners and
jumps of phi, otherwise: near c = +-sqrt(a b), and at large variances. phi' is torch's gradient.

Accuracy: absolute error below 1e-8 sqrt(E[phi(u)^2] E[phi(v)^2]), for variances from 0 to 1e12 and every correlation,
+-1 included; mostly 1e-12. Certified: the tail of (1), by Parseval's identity, to 1e-10; every polynomial, by
comparison with the function between its nodes, to 1e-9 of its local size. Tested: all of it, against closed forms and
an independent quadrature.
Hypotheses: phi is elementwise, deterministic, finite, and piecewise analytic; away from its corners and jumps it has
no feature finer than one percent of its distance from the origin; E[phi(u)^2] exists, and phi does something within
ten deviations; (u, v) is centered Gaussian.
Reference: [daniely2016toward], definition 4 and lemma 11.
Cost: some 50 ms for a new function, remembered as long as the dual lives; 20 to 200 microseconds per distinct variance;
per pair 0.05 to 0.3 microseconds if (1) is certified and 4 if not, on one core; all cores work.

>>> import torch
>>> one = torch.ones((), dtype=torch.float64)
>>> Quadrature(torch.relu).dual(one, one, 0 * one)               # 1 / 2 pi
tensor(0.1592, dtype=torch.float64)
"""

from dataclasses import dataclass, field

from gnomon.core.typing import Covariance, Variance
from gnomon.expectations import Moments
from gnomon.expectations.functions import Elementwise, check_elementwise
from gnomon.kernels.duals.base import AbstractDual


@dataclass(frozen=True, slots=True)
class Quadrature(AbstractDual):
    """Any elementwise torch function phi (tanh, SiLU, a lambda): its expectations E[phi(u) phi(v)] by numerical
    integration.
    """

    function: Elementwise
    _moments: Moments = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_elementwise(self.function)
        # The moments are stored with the dual function, because computing them takes long.
        object.__setattr__(self, "_moments", Moments(self.function))

    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after an elementwise function phi: E[phi(u) phi(v)] for Gaussian u, v with
        covariance c.
        """
        return self._moments.product(a, b, c)

    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which an elementwise function phi multiplies tangent kernels: E[phi'(u) phi'(v)] for
        Gaussian u, v.
        """
        return self._moments.slope_product(a, b, c)

    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after a function phi: E[u phi'(u) v phi'(v)]."""
        return self._moments.gain_product(a, b, c)

    def corners(self, a: Variance) -> bool:
        """Whether the function phi has a corner within ten standard deviations of zero, so that a power series
        converges slowly.
        """
        return self._moments.corners(a)

    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of an elementwise function for a Gaussian input with mean zero and variance a."""
        return self._moments.mean(a)

    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of a function for a Gaussian input with mean zero and variance a, by one
        integral.
        """
        return self._moments.square(a)
