"""Threat model: an attacker may move an input by at most eps in a norm, within the valid range of inputs.

    B(x) = { z : |z - x| <= eps,  low <= z <= high },      | . | the largest entry or the Euclidean length          (1)

Reference: [madry2018towards].

>>> import torch
>>> threat = ThreatModel.of(0.5, "inf", (0, 1))
>>> threat.project(torch.zeros(1, 2), torch.tensor([[0.9, -0.2]])).tolist()
[[0.5, 0.0]]
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import out_of_range_error
from gnomon.core.inputs.checks import check_number
from gnomon.core.results.record import Record

__all__ = ["ThreatModel", "example_dot", "example_norms", "broadcast_per_example"]

Norm = str
"""How a change of an input is measured: "inf", its largest entry, or "2", its Euclidean length."""


@dataclass(frozen=True, slots=True)
class ThreatModel(Record):
    """The set of points that an attacker may choose around each example."""

    eps: float
    norm: Norm
    low: float
    high: float

    @classmethod
    def of(cls, eps: Any, norm: Any, bounds: Any) -> "ThreatModel":
        """Checks the options eps, norm and bounds of an attack, and returns the threat model."""
        eps = check_number("eps", eps, above=0)
        if norm not in ("inf", "2"):
            raise out_of_range_error("norm", '"inf" or "2"', norm)
        try:
            low, high = (check_number("bounds", b) for b in bounds)
        except (TypeError, ValueError) as error:
            raise out_of_range_error("bounds", "two numbers such as (0, 1)", bounds) from error
        if not low < high:
            raise out_of_range_error("bounds", "(low, high) with low below high", bounds)
        return cls(eps, norm, low, high)

    def at(self, eps: float) -> "ThreatModel":
        """Returns the same threat model with another eps."""
        return ThreatModel(eps, self.norm, self.low, self.high)

    def size(self, move: Tensor) -> Tensor:
        """Returns the norm of each example's perturbation, in the norm of the threat model."""
        flat = move.flatten(1)
        return flat.abs().amax(1) if self.norm == "inf" else flat.norm(dim=1)

    def project(self, x: Tensor, z: Tensor, eps: Tensor | float | None = None) -> Tensor:
        """Projects points z onto the points that the attacker may choose around x, within radius ``eps`` if given.

        In the Euclidean norm it projects onto the ball first and then onto the bounds; the result is inside both.
        """
        eps = self.eps if eps is None else eps
        radius = broadcast_per_example(eps, x) if isinstance(eps, Tensor) else eps
        if self.norm == "inf":
            return torch.minimum(torch.maximum(z, x - radius), x + radius).clamp(self.low, self.high)  # (1)
        move = z - x
        size = broadcast_per_example(move.flatten(1).norm(dim=1), x).clamp_min(1e-30)
        return (x + move * (radius / size).clamp(max=1.0)).clamp(self.low, self.high)  # (1)

    def steepest(self, gradient: Tensor) -> Tensor:
        """Returns the step of norm 1 that raises the loss most: the gradient's signs, or the gradient divided by its
        length.
        """
        if self.norm == "inf":
            return gradient.sign()
        return gradient / broadcast_per_example(gradient.flatten(1).norm(dim=1), gradient).clamp_min(1e-30)

    def free(self, z: Tensor, gradient: Tensor) -> Tensor:
        """Returns the gradient with zeros for entries that would push z out of the valid range of inputs."""
        blocked = ((z <= self.low) & (gradient < 0)) | ((z >= self.high) & (gradient > 0))
        return gradient.masked_fill(blocked, 0.0)

    def dual(self, gradient: Tensor) -> Tensor:
        """Returns the dual norm of each example's gradient: the sum of absolute entries for "inf", the length for
        "2".
        """
        flat = gradient.flatten(1)
        return flat.abs().sum(1) if self.norm == "inf" else flat.norm(dim=1)

    def random(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """Draws a random allowed point for each example, from which an attack can start."""
        if self.norm == "inf":
            move = (torch.rand(x.shape, generator=generator) * 2 - 1).to(x)
        else:
            move = torch.randn(x.shape, generator=generator).to(x)
            move = self.steepest(move) * broadcast_per_example(torch.rand(len(x), generator=generator).to(x), x)
        return self.project(x, x + self.eps * move)

    def __str__(self) -> str:
        name = "largest change of an entry" if self.norm == "inf" else "Euclidean length of the change"
        return f"{name} at most {self.eps:g}"


def broadcast_per_example(values: Tensor, x: Tensor) -> Tensor:
    """Reshapes one number per example so that it multiplies whole examples of x.

    >>> broadcast_per_example(torch.ones(2), torch.zeros(2, 3, 4)).shape
    torch.Size([2, 1, 1])
    """
    return values.reshape(-1, *[1] * (x.dim() - 1))


def example_dot(a: Tensor, b: Tensor) -> Tensor:
    """Returns the inner product of two tensors for each example.

    >>> example_dot(torch.ones(1, 2, 3), torch.ones(1, 2, 3)).tolist()
    [6.0]

    Cost: one pass.
    """
    return (a * b).flatten(1).sum(1)


def example_norms(a: Tensor) -> Tensor:
    """Returns the Euclidean length of each example.

    >>> example_norms(torch.ones(1, 4)).tolist()
    [2.0]

    Cost: one pass.
    """
    return a.flatten(1).norm(dim=1)
