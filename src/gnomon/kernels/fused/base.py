"""What every kind of compiled loops does: run, and state its memory and the time that compiling it takes.

Results are those of the reference, to 1e-10 in float64 and 2e-5 in float32.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import names_call
from gnomon.kernels.fused.instructions import is_piecewise_linear
from gnomon.kernels.plan import LimitPlan

DTYPES = {torch.float32: np.float32, torch.float64: np.float64}
"""Results that compiled loops can write."""


class Compiled(ABC):
    """A plan that compiled loops cover."""

    @abstractmethod
    def run(
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        """The kernels; None where the statistics of these points need the reference, or a result is not finite."""

    @abstractmethod
    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:
        """Bytes beside the result, for so many points like those of a sample; None where those need the reference."""

    @abstractmethod
    def compile_seconds(self, dtype: torch.dtype) -> float:
        """Seconds, about, to compile the loops that are not kept, on a free core."""


@names_call
def takes(points: tuple[Tensor, Tensor], dtype: torch.dtype) -> bool:
    """Whether compiled loops take such points: on the CPU, without gradients, for float64 or float32.

    >>> takes((torch.zeros(1, 1), torch.zeros(1, 1)), torch.float64)
    True
    """
    gradients = torch.is_grad_enabled() and any(p.requires_grad for p in points)
    return dtype in DTYPES and points[0].device.type == "cpu" and not gradients


def arithmetic_of(plan: LimitPlan, dtype: torch.dtype) -> type:
    """The precision that loops compute in, at variances that are not extreme."""
    return np.float32 if dtype == torch.float32 and all(map(is_piecewise_linear, plan.rules)) else np.float64


def empty_results(points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype) -> dict[str, Tensor]:
    """Uninitialized results; numpy asks the system for huge pages, torch does not."""
    shape = (len(points[0]), len(points[1]))
    return {kind: torch.from_numpy(np.empty(shape, DTYPES[dtype])) for kind in kinds}


def on_both_sides(points: tuple[Tensor, Tensor], function: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """The function of both sets of points; one result for a set that is given twice."""
    first = function(points[0])
    return first, first if points[1] is points[0] else function(points[1])
