"""What is to be done during a run: how many steps, on which examples, measured when, and until when.

>>> plan = Plan.of(4, None, 2, 0, lambda: False)
>>> sorted(plan.recorded)
[0, 2, 4]
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch import Tensor

from gnomon.core.checks import check_seed, integer, number
from gnomon.core.clock import Clock

CALL = "train(module, x, y)"
RECORDS = 60
"""Recorded steps, about, where the caller names none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked options of a run; ``late`` tells whether the time budget is spent."""

    steps: int
    batch: int | None
    recorded: frozenset[int]
    seed: int
    late: Callable[[], bool]

    @classmethod
    def of(cls, steps: Any, batch: Any, record: Any, seed: Any, late: Callable[[], bool]) -> "Plan":
        """Check the options."""
        steps = integer("steps", steps, call=CALL, least=0)
        batch = None if batch is None else integer("batch", batch, call=CALL)
        return cls(steps, batch, _recorded(record, steps), check_seed(seed, call=CALL), late)

    def indices(self, n: int) -> Iterator[Tensor | None]:
        """Numbers of the examples of each step, without end: all batches of one size, each example once in every n.

        None stands for all examples in their order.
        """
        if self.batch is None or self.batch >= n:
            while True:
                yield None
        generator, left = torch.Generator().manual_seed(self.seed), torch.empty(0, dtype=torch.long)
        while True:
            while len(left) < self.batch:
                left = torch.cat([left, torch.randperm(n, generator=generator)])
            yield left[: self.batch]
            left = left[self.batch :]


def deadline(clock: Clock, start: float, seconds: float | None) -> Callable[[], bool]:
    """Whether the time budget is spent, whenever it is asked.

    >>> deadline(lambda: 3.0, 0.0, 2.0)()
    True
    """
    end = inf if seconds is None or seconds == inf else start + number("seconds", seconds, call=CALL)
    return lambda: clock() > end


def _recorded(record: int | Sequence[int] | None, steps: int) -> frozenset[int]:
    if record is None:
        spread = torch.linspace(0, 1, RECORDS, dtype=torch.float64)
        return frozenset({*((steps + 1.0) ** spread - 1).round().long().tolist(), steps})
    if isinstance(record, Iterable) and not isinstance(record, str):
        return frozenset({*(integer("record", one, call=CALL, least=0) for one in record), steps})
    return frozenset({*range(0, steps + 1, integer("record", record, call=CALL)), steps})
