"""The engine of a plan, chosen when the plan is made: compiled loops where they cover the program, else the reference.

Compiled loops run on the CPU, without gradients, for float64 and float32. Points whose statistics they do not cover
(an activation with a corner at such variances, numbers that overflow) are computed by the reference as well, which
covers everything and explains what is not finite.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import NotFiniteError, lesson
from gnomon.kernels import fused, propagate, reference
from gnomon.kernels.plan import LimitPlan


@dataclass(frozen=True, slots=True)
class Engine:
    """A plan, and the compiled loops that cover it (None: the reference runs)."""

    plan: LimitPlan
    compiled: fused.Compiled | None

    def run(
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype, tile: int, call: str
    ) -> dict[str, Tensor]:
        """The kernels between two sets of points, one object twice for a symmetric kernel; ``tile`` pairs at a time.

        Their numbers are finite: compiled loops count those that are not, and leave the reference to explain them.
        """
        if self.compiled is not None and fused.takes(points, dtype):
            result = self.compiled.run(points, kinds, dtype)
            if result is not None:
                return result
        x, y = points
        left = propagate.features(self.plan, x)
        data = (left, left if y is x else propagate.features(self.plan, y))
        result = reference.run(self.plan, data, tile, kinds, dtype)
        _check_finite(result, call)
        return result

    def compile_seconds(self, sample: Tensor, dtype: torch.dtype) -> float:
        """Seconds, about, to compile the loops that points like the sample need and that are not kept."""
        if self.compiled is None or not fused.takes((sample, sample), dtype):
            return 0.0
        return self.compiled.compile_seconds(dtype)

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:
        """Bytes of the compiled loops beside the result, for so many points like the sample; None for the reference."""
        if self.compiled is None or not fused.takes((sample, sample), dtype):
            return None
        return self.compiled.workspace(sample, count, dtype)


def engine(plan: LimitPlan) -> Engine:
    """Choose the engine of a plan.

    >>> from torch import nn
    >>> from gnomon.kernels.plan import plan as make
    >>> from gnomon.program.read import read
    >>> net, x = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)), torch.eye(2, dtype=torch.float64)
    >>> type(engine(make(read(net, x), net, "torch", standard=True)).compiled).__name__
    'CompiledChain'
    """
    return Engine(plan, fused.compiled(plan))


def _check_finite(result: dict[str, Tensor], call: str) -> None:
    for name, k in result.items():
        if not all(bool(torch.isfinite(end)) for end in torch.aminmax(k.detach())):
            raise NotFiniteError(
                lesson(
                    call,
                    f"the {name} is not finite: variances leave the range of {k.dtype} on the way through the network",
                    "variances stay bounded from layer to layer",
                    "Use a smaller weight_std, smaller inputs, or normalization layers",
                )
            )
