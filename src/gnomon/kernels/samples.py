"""Makes points for a kernel's cost estimate, from the points themselves or from their number and shape.

>>> sample_points(5, "n1", nn.Linear(3, 1), None).some(2).shape
torch.Size([2, 3])
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, out_of_range_error
from gnomon.core.inputs.checks import check_integer
from gnomon.kernels.inputs import points, takes_tokens


@dataclass(frozen=True, slots=True)
class SamplePoints:
    """Points for a kernel's cost estimate: the points themselves, or a number of points of one shape."""

    count: int
    shape: tuple[int, ...]
    given: Tensor | None

    def some(self, k: int) -> Tensor:
        """Returns k evenly spaced points of the data; random standard normal points if only the number of points is
        known.
        """
        if self.given is None:
            return torch.randn(k, *self.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        return self.given[torch.linspace(0, self.count - 1, k, dtype=torch.float64).long()]


def sample_points(n: Any, name: str, net: nn.Module, shape: tuple[int, ...] | None) -> SamplePoints:
    """Converts an argument that is either a batch of points or their number to `SamplePoints`.

    >>> sample_points(torch.eye(2), "n1", nn.Linear(2, 1), None).count
    2
    """
    if hasattr(n, "__len__") and not isinstance(n, str | bytes) and getattr(n, "ndim", 1) != 0:
        given = points(n, name, tokens=takes_tokens(net)).detach()
        return SamplePoints(len(given), tuple(given.shape[1:]), given)
    count = check_integer(name, n)
    if shape is not None and not isinstance(shape, tuple | list):
        raise out_of_range_error("shape", "a tuple, the shape of one input such as (c, h, w)", shape)
    known = _first_shape(net) if shape is None else shape
    return SamplePoints(count, tuple(check_integer("shape", size) for size in known), None)


def _first_shape(net: nn.Module) -> tuple[int, ...]:
    """Returns the shape of one input, if the first layer determines it; raises an error otherwise."""
    first = next((m for m in net.modules() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d)), None)
    if isinstance(first, nn.Linear):
        return (first.in_features,)
    raise InputError(
        "the shape of one input cannot be derived from the module",
        accepted="a known input shape",
        fix="Pass shape=(c, h, w)",
    )
