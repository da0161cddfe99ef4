"""Stops long computations of the examination at their deadline, and estimates the time that they would need.

>>> from gnomon.core.machine.clock import FakeClock
>>> context = StepContext(0, deadline=1.0, fit=False, clock=FakeClock(0.6))
>>> stop_at_deadline(context, "A kernel of 64 examples")(1, 10)
>>> stop_at_deadline(context, "A kernel of 64 examples")(2, 10)
Traceback (most recent call last):
...
gnomon.examination.step.OutOfTime: A kernel of 64 examples did not finish in time. Give a larger budget.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.machine.clock import Clock
from gnomon.examination.step import OutOfTime, StepContext
from gnomon.linalg.operator import AbstractOperator

__all__ = ["TimedOperator", "stop_at_deadline", "out_of_time_error"]

MAX_TIME_FACTOR = 100.0
"""Largest number of budgets that is stated as enough; with less than a hundredth of the time nothing is known."""


def stop_at_deadline(context: StepContext, what: str) -> Callable[[int, int], None]:
    """Returns a progress callback that raises `OutOfTime` after the deadline of an examination step.

    >>> stop_at_deadline(StepContext(0, deadline=1.0, fit=False, clock=lambda: 0.5), "A kernel")(1, 10)  # there is time
    """

    def look(done: int, total: int) -> None:
        if context.seconds < 0 and done < total:
            raise OutOfTime(f"{what} did not finish in time. Give a larger budget.")

    return look


def out_of_time_error(what: str, seconds: float, context: StepContext) -> OutOfTime:
    """Creates (but does not raise) an `OutOfTime` error that names the needed and the remaining time.

    >>> print(out_of_time_error("A kernel", 20.0, StepContext(0, deadline=3.0, fit=False, clock=lambda: 1.0)))
    A kernel would take about 20 s, but only 2 s are left.
    """
    left = max(context.seconds, 0.0)
    factor = MAX_TIME_FACTOR if seconds > MAX_TIME_FACTOR * left else max(1.0, seconds / left)
    return OutOfTime(f"{what} would take about {seconds:.2g} s, but only {left:.2g} s are left.", factor)


@dataclass(slots=True)
class TimedOperator(AbstractOperator):
    """A linear operator that raises `OutOfTime` if a matrix-vector product would begin after the deadline."""

    operator: AbstractOperator
    look: Callable[[int, int], None]

    @property
    def size(self) -> int:
        """Returns the number of rows of the linear operator."""
        return self.operator.size

    @property
    def like(self) -> Tensor:
        """Returns a tensor with the dtype and device of the vectors that the linear operator takes."""
        return self.operator.like

    def matvec(self, v: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Returns the matrix-vector product of the operator with v; raises `OutOfTime` after the deadline."""
        self.look(0, 1)
        return self.operator.matvec(v)

    def seconds(self, clock: Clock) -> float:
        """Measures the seconds of one matrix-vector product with the operator."""
        v = torch.ones(self.size).to(self.like) / self.size**0.5
        start = clock()
        self.operator.matvec(v)
        return clock() - start
