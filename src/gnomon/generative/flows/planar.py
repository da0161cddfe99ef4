"""Planar maps, a kind of invertible map: a step along one direction whose size depends on the distance from a plane.

    f(z) = z + u tanh(w.z + b),    det df/dz = 1 + (1 - tanh^2(w.z + b)) u.w                               (1)

which is invertible if u.w > -1. The vector used is u + (softplus(u.w) - 1 - u.w) w / |w|^2, whose product
with w is above -1 for every u. The inverse needs a = w.z + b alone, the root of an increasing function of one variable:

    a + u.w tanh(a) = w.x + b                                                                              (2)

Reference: [rezende2015variational], Section 4.1 and Appendix A.1. Hypotheses: none, by that change of u.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from gnomon.generative.flows.base import AbstractTransform

__all__ = ["PlanarTransform"]

BISECTION_STEPS = 60
"""Bisections of an interval that contains the root: enough for every bit of float64."""


class PlanarTransform(AbstractTransform):
    """Invertible map that moves each point along one direction, depending on its distance from a plane.

    See equations (1) and (2) of the module docstring.

    >>> layer = PlanarTransform(2).double()
    >>> z = torch.randn(3, 2).double()
    >>> torch.allclose(layer.inverse(layer(z)[0])[0], z)
    True
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(features) / features**0.5)
        self.u = nn.Parameter(torch.randn(features) / features**0.5)
        self.b = nn.Parameter(torch.zeros(()))

    @property
    def direction(self) -> Tensor:
        """Returns the direction u in which the planar map moves points, adjusted so that the map is invertible."""
        product = self.u @ self.w
        return self.u + (softplus(product) - 1 - product) * self.w / self.w.square().sum()

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        u = self.direction
        height = (z @ self.w + self.b).tanh()
        return z + height[:, None] * u, torch.log1p((1 - height.square()) * (u @ self.w))  # (1)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        u = self.direction
        product, target = u @ self.w, x @ self.w + self.b
        a = _root(product.detach(), target.detach())
        # One Newton step at the root does not change the root's value, and makes it differentiable.
        slope = 1 + product.detach() * (1 - a.tanh().square())
        a = a - (a + product * a.tanh() - target) / slope
        height = a.tanh()
        return x - height[:, None] * u, -torch.log1p((1 - height.square()) * product)


@torch.no_grad()
def _root(product: Tensor, target: Tensor) -> Tensor:
    """Solves for the inverse of a planar map (one layer of a normalizing flow) by bisection."""
    low, high = target - product.abs() - 1e-3, target + product.abs() + 1e-3
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        above = middle + product * middle.tanh() > target
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return (low + high) / 2
