"""Defines the set of inputs that a certificate covers, and finds minima of linear functions over the set.

    min over z of <a, z>  = sum_i min(a_i low_i, a_i high_i)    over a box                                  (1)
                          = <a, x> - eps |a|_2                  over a Euclidean ball                       (2)

>>> import torch
>>> region = PerturbationRegion.of(torch.zeros(1, 2), torch.tensor([0.5]), "2", (-9.0, 9.0))
>>> float(region.least(torch.tensor([[[3.0, 4.0]]])))
-2.5
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.results.record import Record

__all__ = ["PerturbationRegion"]


@dataclass(frozen=True, slots=True, eq=False)
class PerturbationRegion(Record):
    """All points within ``eps`` of each example in a norm, and a box that contains these points."""

    x: Tensor
    eps: Tensor
    norm: str
    low: Tensor
    high: Tensor

    @classmethod
    def of(cls, x: Tensor, eps: Tensor, norm: str, bounds: tuple[float, float]) -> "PerturbationRegion":
        """Returns the region of all points within one radius per example, cut to the valid range of inputs."""
        radius = eps.reshape(-1, *[1] * (x.dim() - 1))
        return cls(x, eps, norm, (x - radius).clamp(*bounds), (x + radius).clamp(*bounds))

    def least(self, a: Tensor) -> Tensor:
        """Returns the smallest value over the region of each linear function with the given coefficients a."""
        center, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        flat = a.flatten(2)
        box = torch.einsum("nsd,nd->ns", flat, center.flatten(1)) - torch.einsum("nsd,nd->ns", flat.abs(),
                                                                                radius.flatten(1))  # fmt: skip
        if self.norm == "inf":
            return box  # (1)
        ball = torch.einsum("nsd,nd->ns", flat, self.x.flatten(1)) - self.eps[:, None] * flat.norm(dim=2)  # (2)
        return torch.maximum(box, ball)
