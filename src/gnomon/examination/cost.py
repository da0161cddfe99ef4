"""Measures the time of training steps on a few examples, to plan what fits into the time budget.

    seconds of a step on b examples ~ fixed + each b                                                        (1)

Everything that has a size takes it from (1) and the time it is given, and takes it from a ladder of few sizes: the same
seed gives the same numbers unless the time is so short, or the machine so busy, that another rung must be taken.

>>> largest_size_up_to(AFFORDABLE_EXAMPLE_COUNTS, 100.0)
64
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.machine.clock import Clock
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results.record import Record
from gnomon.examination.subject import Subject

__all__ = [
    "StepCost",
    "AFFORDABLE_EXAMPLE_COUNTS",
    "choose_threads",
    "measure_step_cost",
    "with_one_thread",
    "machine_slowdown",
    "largest_size_up_to",
]

FIRST_TIMED_EXAMPLES = 2
"""Examples in the first timing."""
LAST_TIMED_EXAMPLES = 32
"""Examples in the last timing."""
TIMED_EXAMPLES_FACTOR = 4
"""Factor between the numbers of examples of two timings; timings that would take too long by (1) are skipped."""
AFFORDABLE_EXAMPLE_COUNTS = (8, 16, 32, 64, 128, 256, 512)
"""Numbers of examples from which probes are chosen."""
MIN_THREAD_SPEEDUP = 1.3
"""Minimum speedup over one thread for using several threads."""
THREAD_TRIAL_SHARE = 0.05
"""Share of the time that comparing thread counts may take."""
MAX_REPEATED_PASSES = 32
"""Maximum number of repeated passes if the clock did not advance after one pass."""
MIN_PASS_SECONDS = 1e-6
"""Smallest measured duration of a pass in seconds; needed because some clocks tick in milliseconds."""
BENCHMARK_MATRIX_ROWS = 600
"""Rows of the matrices whose product measures the speed of the machine."""
BENCHMARK_SECONDS_IDLE = 0.02
"""Seconds that three such products take on an idle core."""
UPDATE_SECONDS_PER_PARAMETER = 1e-8
"""Seconds, approximately, that an optimizer takes for one parameter: it reads and writes about forty bytes."""


@dataclass(frozen=True, slots=True)
class StepCost(Record):
    """The time of a training step in seconds, split into a fixed part, a part per example, and the optimizer's
    update.
    """

    fixed: float
    each: float
    update: float

    def passes(self, examples: float) -> float:
        """Returns the estimated seconds of a forward and backward pass on this number of examples.

        >>> StepCost(1.0, 0.5, 0.0).passes(4)
        3.0
        """
        return self.fixed + self.each * examples  # (1)

    def step(self, batch: int) -> float:
        """Returns the estimated seconds of a training step on a batch of this size."""
        return self.passes(batch) + self.update


def measure_step_cost(subject: Subject, clock: Clock, seconds: float) -> StepCost:
    """Measures the time of forward and backward passes on 2 examples and, if there is time, on 8 and 32.

    A pass on two examples alone would not separate ``fixed`` from ``each``: a perceptron of ten million parameters
    takes as long for its weights as for forty examples.
    Cost: two passes on two examples, and at most two on 8 and two on 32.

    >>> from gnomon.core.machine.clock import FakeClock
    >>> from gnomon.examination.subject import build_subject as of
    >>> network = of(torch.nn.Linear(2, 1, bias=False), (torch.eye(2), torch.ones(2)), None, seed=0)
    >>> measure_step_cost(network, FakeClock(0.5), 10.0)      # each pass takes one tick, for two examples
    StepCost(fixed=0.0, each=0.25, update=2e-08)
    """
    parameters = sum(p.numel() for p in subject.module.parameters() if p.requires_grad)
    few = subject.probe.some(FIRST_TIMED_EXAMPLES).x
    _time_pass(subject, few, clock)  # A warm-up that is not timed: the first pass also initializes torch.
    short = _time_pass(subject, few, clock)
    n, most = count_examples(few), min(LAST_TIMED_EXAMPLES, len(subject.probe))
    size, fixed, each = n, 0.0, short / n
    while size < most and fixed + each * min(TIMED_EXAMPLES_FACTOR * size, most) <= seconds:  # (1)
        size = min(TIMED_EXAMPLES_FACTOR * size, most)
        long = min(_time_pass(subject, subject.probe.some(size).x, clock) for _ in range(2))
        each = max((long - short) / (size - n), 0.05 * long / size)
        fixed = max(long - each * size, 0.0)
    return StepCost(fixed, each, UPDATE_SECONDS_PER_PARAMETER * parameters)


@contextmanager
def with_one_thread() -> Iterator[int]:
    """Context manager that limits torch to one thread, and restores the previous number of threads at the end.

    >>> with with_one_thread() as before:
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        yield before
    finally:
        torch.set_num_threads(before)


def choose_threads(subject: Subject, clock: Clock, seconds: float, threads: int) -> int:
    """Sets torch to ``threads`` threads if a short test shows that they are clearly faster than one, otherwise to one.

    The comparison may take `THREAD_TRIAL_SHARE` of the time.

    On a machine that others use as well, threads that wait for each other at every operation can make a network ten
    times slower than one thread alone, so that one pass with several may take as long as ten without.
    Cost: some passes on two examples, and on 32 where `THREAD_TRIAL_SHARE` of the time allows it.

    >>> from gnomon.core.machine.clock import FakeClock
    >>> from gnomon.examination.subject import build_subject as of
    >>> network = of(torch.nn.Linear(2, 1), (torch.eye(2), torch.ones(2)), None, seed=0)
    >>> choose_threads(network, FakeClock(0.5), 100.0, 2)                         # as long with one as with all
    1
    """
    try:
        return threads if threads > 1 and _worthwhile(subject, clock, THREAD_TRIAL_SHARE * seconds, threads) else 1
    except Exception:  # The section on the network reports this error.
        return 1
    finally:
        torch.set_num_threads(1)


def _worthwhile(subject: Subject, clock: Clock, seconds: float, threads: int) -> bool:
    def seconds_of_pass(count_: int, n: int) -> float:
        torch.set_num_threads(count_)
        return min(_time_pass(subject, subject.probe.some(n).x, clock) for _ in range(2))

    few = seconds_of_pass(1, FIRST_TIMED_EXAMPLES)
    if 4 * few > seconds:
        return False
    n = LAST_TIMED_EXAMPLES if 4 * few * LAST_TIMED_EXAMPLES / FIRST_TIMED_EXAMPLES < seconds else FIRST_TIMED_EXAMPLES
    return MIN_THREAD_SPEEDUP * seconds_of_pass(threads, n) < seconds_of_pass(1, n)


def machine_slowdown(clock: Clock) -> float:
    """Returns by which factor this machine is currently slower than an idle reference processor core.

    Cost: a product of matrices of `BENCHMARK_MATRIX_ROWS` rows, taken three times.

    >>> from gnomon.core.machine.clock import FakeClock
    >>> machine_slowdown(FakeClock(0.01)), machine_slowdown(FakeClock(0.1)) > 4
    (1.0, True)
    """
    matrix = torch.ones(BENCHMARK_MATRIX_ROWS, BENCHMARK_MATRIX_ROWS)
    start = clock()
    for _ in range(3):
        matrix @ matrix
    return max(1.0, (clock() - start) / BENCHMARK_SECONDS_IDLE)


def largest_size_up_to(ladder: Sequence[int], at_most: float) -> int:
    """Returns the largest size in a list that is at most ``at_most``; the smallest size if there is none.

    >>> largest_size_up_to((8, 16), 3.0)
    8
    """
    return max((size for size in ladder if size <= at_most), default=min(ladder))


def _time_pass(subject: Subject, x: Inputs, clock: Clock) -> float:
    """Measures the seconds of one forward and backward pass; averages several passes if the clock is too coarse for
    one.
    """
    parameters = [p for p in subject.module.parameters() if p.requires_grad]
    with preserve(subject.module, seed=0):
        start, passes, spent = clock(), 0, 0.0
        while passes < MAX_REPEATED_PASSES and spent <= 0:
            out = run_to_rows(subject.module, x)
            if parameters and out.requires_grad:
                torch.autograd.grad(out.square().sum(), parameters, allow_unused=True)
            passes, spent = passes + 1, clock() - start
        return max(spent, MIN_PASS_SECONDS) / passes
