"""Compiled loops for the plans that they cover: chains of dense layers, and convolutional programs.

Results are those of the reference, to 1e-10 in float64 and 2e-5 in float32.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.fused import dense, images, pairs, stages, waiting
from gnomon.kernels.fused.tape import kinked
from gnomon.kernels.plan import LimitPlan

DTYPES = {torch.float32: np.float32, torch.float64: np.float64}


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


@dataclass(frozen=True, slots=True)
class CompiledChain(Compiled):
    """Dense layers, activations, normalizations and sums, without positions."""

    plan: LimitPlan

    def run(  # noqa: D102
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        with torch.no_grad():
            sides = _both(points, stages.data_rule(self.plan).features)
            tape = dense.lower(self.plan, sides, dtype)
            if tape is None:
                return None
            out = _room(points, kinds, dtype)
            bad = dense.run(tape, (out.get("nngp"), out.get("ntk")), symmetric=sides[0] is sides[1])
        return None if bad else out

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:  # noqa: D102
        with torch.no_grad():
            data = stages.data_rule(self.plan).features(sample)
            tape = dense.lower(self.plan, (data, data), dtype)
        return None if tape is None else dense.workspace(tape, count, torch.get_num_threads())

    def compile_seconds(self, dtype: torch.dtype) -> float:  # noqa: D102
        return waiting.chain_wait(_arithmetic(self.plan, dtype), DTYPES[dtype])


@dataclass(frozen=True, slots=True)
class CompiledImages(Compiled):
    """Convolutions, poolings and what stands between them, plane by plane."""

    tape: images.PlaneTape

    def run(  # noqa: D102
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        with torch.no_grad():
            sides, out = _both(points, self._images), _room(points, kinds, dtype)
            try:
                bad = pairs.run(self.tape, sides, out, symmetric=sides[0] is sides[1])
            except images.Uncovered:
                return None
            ends = [end for k in out.values() for end in torch.aminmax(k)]  # float64 numbers may leave float32
        return None if bad or not all(bool(torch.isfinite(end)) for end in ends) else out

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:  # noqa: D102
        if self.run((sample, sample), ("ntk",), dtype) is None:
            return None
        with torch.no_grad():
            return pairs.workspace(self.tape, self._images(sample), count, torch.get_num_threads())

    def compile_seconds(self, dtype: torch.dtype) -> float:  # noqa: D102
        arithmetic = _arithmetic(self.tape.plan, dtype)
        return waiting.planes_wait(arithmetic, flat=images.Runner(self.tape, arithmetic, alone=False).flat)

    def _images(self, x: Tensor) -> Tensor:
        op = stages.data_rule(self.tape.plan).op
        return op.function(x).movedim(op.channel, 1)


def compiled(plan: LimitPlan) -> Compiled | None:
    """The compiled loops of a plan; None where they do not cover it, or numba is absent.

    Cost: none; loops are compiled by their first run.

    >>> from torch import nn
    >>> from gnomon.program.laws import Law
    >>> from gnomon.kernels.plan import plan as make
    >>> from gnomon.program.read import read
    >>> net, x = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)), torch.eye(2, dtype=torch.float64)
    >>> chain = compiled(make(read(net, x), net, Law(2**0.5), standard=False))
    >>> chain.run((x, x), ("nngp",), torch.float64)["nngp"]  # the arc-cosine kernel: 1 and 1 / pi
    tensor([[1.0000, 0.3183],
            [0.3183, 1.0000]], dtype=torch.float64)
    """
    if dense.covers(plan):
        return CompiledChain(plan) if _compiler() else None
    tape = images.lower(plan)
    return CompiledImages(tape) if tape is not None and _compiler() else None


def takes(points: tuple[Tensor, Tensor], dtype: torch.dtype) -> bool:
    """Whether compiled loops take such points: on the CPU, without gradients, for float64 or float32.

    >>> takes((torch.zeros(1, 1), torch.zeros(1, 1)), torch.float64)
    True
    """
    gradients = torch.is_grad_enabled() and any(p.requires_grad for p in points)
    return dtype in DTYPES and points[0].device.type == "cpu" and not gradients


def _arithmetic(plan: LimitPlan, dtype: torch.dtype) -> type:
    """The precision that loops compute in, at variances that are not extreme."""
    return np.float32 if dtype == torch.float32 and all(map(kinked, plan.rules)) else np.float64


def _room(points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype) -> dict[str, Tensor]:
    """Uninitialized results; numpy asks the system for huge pages, torch does not."""
    shape = (len(points[0]), len(points[1]))
    return {kind: torch.from_numpy(np.empty(shape, DTYPES[dtype])) for kind in kinds}


def _both(points: tuple[Tensor, Tensor], function: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    first = function(points[0])
    return first, first if points[1] is points[0] else function(points[1])


@cache
def _compiler() -> bool:
    """Whether numba is installed; said once if it is not."""
    if find_spec("numba") is not None:
        return True
    warnings.warn("numba is not installed: kernels are computed by torch, 10 to 100 times slower", stacklevel=2)
    return False
