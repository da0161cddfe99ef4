"""Chooses for how many examples and outputs the tangent kernel can be computed in the available time."""

from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results.record import Record
from gnomon.examination.cost import AFFORDABLE_EXAMPLE_COUNTS, StepCost, largest_size_up_to
from gnomon.examination.step import StepContext, StepSkipped, error_sentence
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error, stop_at_deadline
from gnomon.tangent import ntk
from gnomon.tangent.projection import combine_outputs_like, random_combination

SIZES = AFFORDABLE_EXAMPLE_COUNTS[1:]
FIRST = min(SIZES)
WANTED_EXAMPLES = 256
"""If the kernel of all outputs is too slow for this number of examples, gnomon uses one random combination of
outputs."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelMethod(Record):
    """How to compute the tangent kernel: for all outputs or one random combination of them, with the measured
    seconds.
    """

    module: nn.Module
    combined: bool
    seconds: float

    def estimate(self, n: int) -> float:
        """Estimates the seconds for the tangent kernel of n examples."""
        return self.seconds * (n / FIRST) ** 1.5

    def affordable(self, context: StepContext, part: float) -> int:
        """Returns the largest number of examples whose kernel fits into the time left; raises `OutOfTime` if there is
        none.
        """
        left = part * context.seconds
        fits = [n for n in SIZES if self.estimate(n) <= left]
        if not fits:
            raise out_of_time_error(f"A tangent kernel of {FIRST} examples", self.seconds, context)
        return largest_size_up_to(SIZES, max(fits))

    def kernel(self, x: Inputs, context: StepContext, y: Inputs | None = None) -> Tensor:
        """Computes the tangent kernel; raises `OutOfTime` at the deadline."""
        look = stop_at_deadline(context, "The tangent kernel")
        try:
            return ntk(self.module, x, y, progress=look).double()
        # The outputs are random or depend on other examples of the batch, which other sections report.
        except InputError as error:
            raise StepSkipped(f"Skipped: the tangent kernel cannot be computed. {error_sentence(error)}") from error

    def of(self, module: nn.Module) -> nn.Module:
        """Applies the same choice of outputs (all, or one random combination) to another module."""
        return combine_outputs_like(self.module, module) if self.combined else module


def choose_kernel_method(subject: Subject, cost: StepCost, context: StepContext) -> KernelMethod:
    """Chooses whether to compute the kernel of all outputs, or of one random combination of them if time is short."""
    k = subject.task.outputs
    if _guess(1, cost) > 0.5 * context.seconds:
        raise out_of_time_error(f"A tangent kernel of {FIRST} examples", _guess(1, cost), context)
    if k == 1 or _guess(k, cost) <= 0.2 * context.seconds:
        every = _time(subject.module, False, subject, context)
        if k == 1 or every.estimate(min(WANTED_EXAMPLES, len(subject.probe))) <= 0.6 * context.seconds:
            return every
    return _time(random_combination(subject.module, k, seed=context.seed), True, subject, context)


def _time(module: nn.Module, combined: bool, subject: Subject, context: StepContext) -> KernelMethod:
    means = KernelMethod(module, combined, 0.0)
    start = context.clock()
    means.kernel(subject.probe.some(FIRST).x, context)
    return KernelMethod(module, combined, context.clock() - start)


def _guess(outputs: int, cost: StepCost) -> float:
    """Estimates the seconds of a small kernel before timing it: one backward pass per output and example, doubled."""
    return outputs * (cost.fixed + 2 * FIRST * cost.each)
