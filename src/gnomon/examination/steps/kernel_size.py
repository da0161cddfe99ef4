"""How many examples, and which outputs, the tangent kernel can be computed for in a given time."""

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
"""If the kernel of all outputs does not allow this many examples, one random combination of the outputs is used."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelMeans(Record):
    """The module whose kernel is computed, with all outputs or one combination of them; seconds on 16 examples."""

    module: nn.Module
    combined: bool
    seconds: float

    def estimate(self, n: int) -> float:
        """Seconds for n examples: the passes grow with n, the products of gradients with its square."""
        return self.seconds * (n / FIRST) ** 1.5

    def affordable(self, context: Context, part: float) -> int:
        """The largest rung of the ladder within a part of the time; skipped where not even the first is."""
        left = part * context.seconds
        fits = [n for n in SIZES if self.estimate(n) <= left]
        if not fits:
            raise needs(f"A tangent kernel of {FIRST} examples", self.seconds, context)
        return rung(SIZES, max(fits))

    def kernel(self, x: Inputs, context: Context, y: Inputs | None = None) -> Tensor:
        """The kernel, given up when the time is spent."""
        look = guard(context, "The tangent kernel")
        try:
            return ntk(self.module, x, y, progress=look).double()
        except InputError as error:  # outputs that are random, or that mix examples, which other sections name
            raise Skipped(f"There is no tangent kernel. {plainly(error)}") from error

    def of(self, module: nn.Module) -> nn.Module:
        """Another network in the same way: all of its outputs, or the same combination of them."""
        return same_combination(self.module, module) if self.combined else module


def kernel_means(subject: Subject, cost: Cost, context: Context) -> KernelMeans:
    """All outputs, where they leave time for `WANTED_EXAMPLES` examples, or else one combination; timed on 16
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
    """Before anything is timed: a backward pass for each output and example, and as much again for the products."""
    return outputs * (cost.fixed + 2 * FIRST * cost.each)
