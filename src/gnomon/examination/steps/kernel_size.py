"""Chooses examples and outputs so that the tangent kernel can be computed in the available time."""

from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results.record import Record
from gnomon.examination.cost import LADDER, Cost, rung
from gnomon.examination.step import Context, Skipped, plainly
from gnomon.examination.subject import Subject
from gnomon.examination.timed import guard, needs
from gnomon.tangent import ntk
from gnomon.tangent.projection import random_combination, same_combination

SIZES = LADDER[1:]
FIRST = min(SIZES)
WANTED_EXAMPLES = 256
"""If the kernel of all outputs is too slow for this number of examples, gnomon uses one random combination of
outputs."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelMeans(Record):
    """The module whose kernel is computed, with all outputs or one combination, and the time on 16 examples."""

    module: nn.Module
    combined: bool
    seconds: float

    def estimate(self, n: int) -> float:
        """Estimated seconds for n examples: passes cost O(n), products of gradients O(n^2)."""
        return self.seconds * (n / FIRST) ** 1.5

    def affordable(self, context: Context, part: float) -> int:
        """The largest number of examples affordable within a part of the time; raises `OutOfTime` if there is none."""
        left = part * context.seconds
        fits = [n for n in SIZES if self.estimate(n) <= left]
        if not fits:
            raise needs(f"A tangent kernel of {FIRST} examples", self.seconds, context)
        return rung(SIZES, max(fits))

    def kernel(self, x: Inputs, context: Context, y: Inputs | None = None) -> Tensor:
        """Computes the kernel; raises `OutOfTime` at the deadline."""
        look = guard(context, "The tangent kernel")
        try:
            return ntk(self.module, x, y, progress=look).double()
        except InputError as error:  # random outputs or mixed examples, which other sections report
            raise Skipped(f"Skipped: the tangent kernel cannot be computed. {plainly(error)}") from error

    def of(self, module: nn.Module) -> nn.Module:
        """Applies the same choice of outputs to another network."""
        return same_combination(self.module, module) if self.combined else module


def kernel_means(subject: Subject, cost: Cost, context: Context) -> KernelMeans:
    """Uses all outputs if there is time for `WANTED_EXAMPLES` examples, else one random combination; timed on 16
    examples."""
    k = subject.task.outputs
    if _guess(1, cost) > 0.5 * context.seconds:
        raise needs(f"A tangent kernel of {FIRST} examples", _guess(1, cost), context)
    if k == 1 or _guess(k, cost) <= 0.2 * context.seconds:
        every = _time(subject.module, False, subject, context)
        if k == 1 or every.estimate(min(WANTED_EXAMPLES, len(subject.probe))) <= 0.6 * context.seconds:
            return every
    return _time(random_combination(subject.module, k, seed=context.seed), True, subject, context)


def _time(module: nn.Module, combined: bool, subject: Subject, context: Context) -> KernelMeans:
    means = KernelMeans(module, combined, 0.0)
    start = context.clock()
    means.kernel(subject.probe.some(FIRST).x, context)
    return KernelMeans(module, combined, context.clock() - start)


def _guess(outputs: int, cost: Cost) -> float:
    """Estimates the cost before timing: a backward pass per output and example, doubled for the products."""
    return outputs * (cost.fixed + 2 * FIRST * cost.each)
