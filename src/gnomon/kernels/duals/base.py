"""The contract of an activation in the infinite-width limit.

For (u, v) ~ N(0, [[a, c], [c, b]]) an elementwise function phi has

    dual(a, b, c)            = E[phi(u) phi(v)]            (1)
    dual_derivative(a, b, c) = E[phi'(u) phi'(v)]          (2)
    dual_gain(a, b, c)       = E[u phi'(u) v phi'(v)]      (3)
    variance(a)              = dual(a, a, a)               (4)

(3) is the tangent kernel of a trainable gain: d/dg phi(g u) at g = 1 is u phi'(u).
Arguments are tensors that broadcast against each other; results have the broadcast shape.
Everything is differentiable by autograd, also where u and v coincide.
"""

from abc import ABC, abstractmethod

from torch import Tensor


class AbstractDual(ABC):
    """An elementwise function seen through centered Gaussian pairs."""

    @abstractmethod
    def dual(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        """E[phi(u) phi(v)]; equation (1)."""

    @abstractmethod
    def dual_derivative(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        """E[phi'(u) phi'(v)]; equation (2), with torch's convention where phi has a corner."""

    @abstractmethod
    def dual_gain(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        """E[u phi'(u) v phi'(v)]; equation (3)."""

    @abstractmethod
    def mean(self, a: Tensor) -> Tensor:
        """E[phi(u)]."""

    @abstractmethod
    def variance(self, a: Tensor) -> Tensor:
        """E[phi(u)^2], the second moment; equation (4)."""
