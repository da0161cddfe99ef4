"""Plans a training run: how many steps, on which examples, when to measure, and when to stop.

>>> plan = TrainingPlan.of(4, None, 2, 0, lambda: False)
>>> sorted(plan.recorded)
[0, 2, 4]
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_number, check_seed, check_type
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.machine.clock import Clock
from gnomon.training.evaluate import Objective

__all__ = ["BatchPlan", "TrainingPlan", "RecordingPlan", "deadline"]

DEFAULT_RECORDED_STEPS = 60
"""Approximate number of recorded steps if the caller gives none."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Says which examples each training step uses: random batches of a given size, or the batches of a data loader.

    ``augment`` changes the inputs of every batch before it is used, such as a random crop; records are made without it.

    >>> BatchPlan(64).size
    64
    """

    size: int | None = None
    loader: AbstractSource | None = None
    augment: Callable[[Inputs], Inputs] | None = None


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """Says at which steps a training run is measured, and on how many examples of each data set.

    With ``share=0.2`` a record that would bring the time of all records above 20 % of the time of the steps waits
    until it
    does not; the first state and the last are always recorded.

    >>> RecordingPlan((0, 10, 100), examples=512, share=0.2).examples
    512
    """

    at: int | Sequence[int] | None = None
    examples: int | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The validated options of a training run; ``late`` returns whether the time budget is used up."""

    steps: int
    batch: int | None
    recorded: frozenset[int]
    seed: int
    late: Callable[[], bool]
    batches: BatchPlan = BatchPlan()
    records: RecordingPlan = RecordingPlan()

    @classmethod
    @add_call_to_errors("train(module, data)")
    def of(cls, steps: Any, batch: Any, record: Any, seed: Any, late: Callable[[], bool]) -> "TrainingPlan":
        """Validates the options of a training run; raises an error for values out of range."""
        steps = check_integer("steps", steps, least=0)
        batches = batch if isinstance(batch, BatchPlan) else BatchPlan(batch)
        records = record if isinstance(record, RecordingPlan) else RecordingPlan(record)
        size = None if batches.size is None else check_integer("batch", batches.size)
        if batches.augment is not None:
            fix = "Pass a function that takes the inputs of a batch and returns inputs"
            check_type("augment", batches.augment, Callable, fix=fix)
        if records.examples is not None:
            check_integer("examples", records.examples)
        if records.share is not None and not 0 < check_number("share", records.share) <= 1:
            raise out_of_range_error("share", "above 0 and at most 1", records.share)
        return cls(
            steps, size, _recorded_steps(records.at, steps), check_seed(seed), late, batches, records
        )  # fmt: skip

    @property
    def draws_examples(self) -> bool:
        """Checks whether examples are drawn one by one; False with a data loader, which draws batches itself."""
        return self.batch is not None and self.batches.loader is None

    def feed(self, objective: Objective) -> Iterator[tuple[Inputs, Tensor] | None]:
        """Yields the inputs and targets of each training step, endlessly; None means all examples."""
        augment = self.batches.augment
        for pair in self._pairs(objective):
            yield pair if augment is None or pair is None else (augment(pair[0]), pair[1])

    def _pairs(self, objective: Objective) -> Iterator[tuple[Inputs, Tensor] | None]:
        loader = self.batches.loader
        while loader is not None:
            for batch in loader.batches():
                yield objective.of_loaded_batch(batch)
        for index in self.indices(len(objective)):
            yield (
                None
                if index is None and self.batches.augment is None
                else objective.at(torch.arange(len(objective)) if index is None else index)
            )

    def indices(self, n: int) -> Iterator[Tensor | None]:
        """Yields the indices of the examples for each training step, endlessly; every epoch uses each example once.

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


def deadline(clock: Clock, start: float, budget: float | None) -> Callable[[], bool]:
    """Returns a function that checks whether the time budget is used up.

    Cost: one look at the clock each time.

    >>> deadline(lambda: 3.0, 0.0, 2.0)()
    True
    """
    end = inf if budget is None or budget == inf else start + check_number("budget", budget)
    return lambda: clock() > end


def _recorded_steps(record: int | Sequence[int] | None, steps: int) -> frozenset[int]:
    if record is None:
        spread = torch.linspace(0, 1, DEFAULT_RECORDED_STEPS, dtype=torch.float64)
        return frozenset({*((steps + 1.0) ** spread - 1).round().long().tolist(), steps})
    if isinstance(record, Iterable) and not isinstance(record, str):
        return frozenset({*(check_integer("record", one, least=0) for one in record), steps})
    return frozenset({*range(0, steps + 1, check_integer("record", record)), steps})
