"""Defines the interface of compiled loops, which compute kernels and report their memory and compilation time.

Results agree with the reference to 1e-10 in float64 and 2e-5 in float32.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.kernels.fused.background import LoopType
from gnomon.kernels.fused.instructions import is_piecewise_linear
from gnomon.kernels.plan import LimitPlan

DTYPES = {torch.float32: np.float32, torch.float64: np.float64}
"""Result dtypes that compiled loops can write."""


class CompiledPlan(ABC):
    """Interface of compiled loops that compute the infinite-width kernels of one network."""

    @abstractmethod
    def run(
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        """Computes the kernels with compiled loops; returns None if torch must compute them (unsupported points, or
        overflow).
        """

    @abstractmethod
    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:
        """Returns the workspace in bytes for ``count`` points like the sample; None if compiled loops do not support
        such points.
        """

    @abstractmethod
    def is_loaded(self, dtype: torch.dtype) -> bool:
        """Whether the compiled loops are already in the memory of this process; finding out does not import numba."""

    @abstractmethod
    def compile_seconds(self, dtype: torch.dtype) -> float:
        """Returns the approximate seconds to compile the kernel loops that are not cached, if a processor core is
        free.
        """

    @abstractmethod
    def is_compiled_code_cached(self) -> bool:
        """Whether compiled loops seem to be cached on disk; finding out does not import numba."""

    @abstractmethod
    def loops(self, dtype: torch.dtype) -> tuple[LoopType, ...]:
        """Returns the loops that compute kernels with this result dtype, with the dtypes in which they work."""


@add_call_to_errors
def accepts_points(points: tuple[Tensor, Tensor], dtype: torch.dtype) -> bool:
    """Whether compiled kernel loops accept these points: on the CPU, without gradients, for a float64 or float32
    result.

    >>> accepts_points((torch.zeros(1, 1), torch.zeros(1, 1)), torch.float64)
    True
    """
    gradients = torch.is_grad_enabled() and any(p.requires_grad for p in points)
    return dtype in DTYPES and points[0].device.type == "cpu" and not gradients


def arithmetic_of(plan: LimitPlan, dtype: torch.dtype) -> type:
    """Returns the float type in which compiled kernel loops compute, unless variances are extremely small or large."""
    return np.float32 if dtype == torch.float32 and all(map(is_piecewise_linear, plan.rules)) else np.float64


def empty_results(points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype) -> dict[str, Tensor]:
    """Allocates the kernel matrices with numpy, which gets huge memory pages from the system, unlike torch."""
    shape = (len(points[0]), len(points[1]))
    return {kind: torch.from_numpy(np.empty(shape, DTYPES[dtype])) for kind in kinds}


def on_both_sides(points: tuple[Tensor, Tensor], function: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Applies a function to both sets of points; calls it only once if both sets are the same object."""
    first = function(points[0])
    return first, first if points[1] is points[0] else function(points[1])
