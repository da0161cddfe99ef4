"""Defines the interface of activations in infinite-width kernels: expectations over Gaussian preactivations.

For (u, v) ~ N(0, [[a, c], [c, b]]) an elementwise function phi has

    dual(a, b, c)            = E[phi(u) phi(v)]            (1)
    dual_derivative(a, b, c) = E[phi'(u) phi'(v)]          (2)
    dual_gain(a, b, c)       = E[u phi'(u) v phi'(v)]      (3)
    variance(a)              = dual(a, a, a)               (4)

(3) is the tangent kernel of a trainable gain: d/dg phi(g u) at g = 1 is u phi'(u).
Arguments are tensors that broadcast against each other; results have the broadcast shape. Keep a of shape (n, 1) and
b of shape (1, m) unexpanded: what depends on one variance alone is then computed once per variance.
Everything is differentiable by autograd, also if u and v coincide or are opposite, and at zero variance.
If a derivative does not exist or is infinite (a corner met with zero variance; the dual of a jump at u = +-v), the
gradient is zero.

Conventions. At zero variance u is the number 0, so that phi' there is torch's phi'(0), corners included.
Where phi has a jump, phi' is torch's gradient: the jump does not count.
Hypotheses: a, b >= 0 and c^2 <= a b up to rounding. Reference: [daniely2016toward].
"""

from abc import ABC, abstractmethod

from gnomon.core.typing import Covariance, Variance


class AbstractDual(ABC):
    """Interface of an activation phi in infinite-width kernels: expectations such as E[phi(u) phi(v)] for Gaussian u
    and v.
    """

    __slots__ = ()

    @abstractmethod
    def dual(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the kernel entry after the activation phi: E[phi(u) phi(v)] for Gaussian u, v with covariance c."""

    @abstractmethod
    def dual_derivative(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns the factor by which the activation phi multiplies tangent kernels: E[phi'(u) phi'(v)] for Gaussian u,
        v.
        """

    def dual_and_derivative(self, a: Variance, b: Variance, c: Covariance) -> tuple[Covariance, Covariance]:
        """Returns `dual` and `dual_derivative` of the activation together; override this method if both share work."""
        return self.dual(a, b, c), self.dual_derivative(a, b, c)

    @abstractmethod
    def dual_gain(self, a: Variance, b: Variance, c: Covariance) -> Covariance:
        """Returns what a trained input scale (gain) adds to the NTK after the activation phi: E[u phi'(u) v
        phi'(v)].
        """

    @abstractmethod
    def mean(self, a: Variance) -> Variance:
        """Returns the mean output of the activation for a Gaussian input with mean zero and variance a."""

    @abstractmethod
    def variance(self, a: Variance) -> Variance:
        """Returns the mean squared output of the activation for a Gaussian input with mean zero and variance a."""


def determinant(a: Variance, b: Variance, c: Covariance) -> Covariance:
    """Returns the determinant of I + [[a, c], [c, b]] as 1 + a + b + (a b - c^2), which avoids cancellation.

    Cost: elementwise.

    >>> import torch
    >>> one = torch.ones((), dtype=torch.float64)
    >>> determinant(one, one, one)
    tensor(3., dtype=torch.float64)
    """
    return 1 + a + b + (a * b - c * c)
