"""Estimates the memory and the time that a kernel matrix needs, before it is computed.

Memory is counted from the plan. Time is measured: kernels of a few points, then four times as many, until one takes a
tenth of a second and three times what the first took; then

    seconds = A + B points + C pairs                                                                      (1)

with A, B, C >= 0 from least squares of relative errors. So it holds whatever the layers, activations, variances and the
machine are, as far as the points that were tried are like the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch

from gnomon.core.machine.memory import format_bytes, free_bytes
from gnomon.core.results.record import Record
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.data import DataRule

MAX_TILE_BYTES = 8 * 2**20
"""Maximum size of a tile; with global pooling, 16 MiB take 1.5 times as long, and so do 2 MiB."""
BYTES_PER_NUMBER = 8
"""Bytes of a float64."""
FIRST_TRIAL_POINTS = 8
"""Number of points of the first trial."""
SUFFICIENT_TRIAL_SECONDS = 0.1
"""A trial that takes this many seconds is long enough."""
MIN_TRIAL_GROWTH = 3.0
"""Ratio of the last trial's time to the first's at which the growth with the number of pairs is visible."""
MAX_TRIAL_SECONDS = 2.0
"""Maximum seconds for all trials."""
SECONDS_PER_ENTRY = 2e-8
"""Seconds that torch takes per covariance below an activation with a closed form: ReLU 1e-8 to 1.6e-8, GELU 3e-8."""
SECONDS_PER_NUMERIC_ENTRY = 1e-7
"""The same for other activations: 0.5e-7 to 2e-7."""
IMPORT_SECONDS = 0.2
"""Seconds to import the modules of kernels, on a free core; they are imported before a cost can be measured."""
LOOPS_SHARE_OF_TORCH_SECONDS = 0.2
"""Time of compiled loops divided by the time of torch, for kernels that are large enough to compile them."""
MIN_PAIRS_PER_THREAD = 2**17
"""Minimum number of pairs per thread; fewer are not distributed."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Memory of a kernel computation in bytes: ``result`` for the matrix, ``workspace`` for ``tile`` pairs at
    a time.
    """

    result: int
    workspace: int
    tile: int
    free: int

    @property
    def memory(self) -> int:
        """The peak memory of a kernel computation in bytes: the result and the workspace."""
        return self.result + self.workspace


@dataclass(frozen=True, slots=True)
class KernelCost(Record):
    """Memory in bytes and time in seconds that a kernel matrix between n1 and n2 points needs.

    ``result`` is the kernel itself, ``workspace`` what the tiles of the computation need at one time, ``tile`` the
    number of pairs per tile. ``fits`` compares with the memory that is free now. ``compilation`` is about what
    compiling loops adds to the first kernel, 0 if they are compiled already or if torch computes the kernel sooner.
    Before they are compiled, ``seconds`` is a fifth of what torch would take, a rough estimate. ``setup``
    is what imports and reading the module add to the first kernel of a process; estimating the cost has just spent it.

    >>> import gnomon
    >>> gnomon.limit(torch.nn.Linear(3, 1)).cost(1000, 500).result  # two kernels of float64
    8000000
    """

    n1: int
    n2: int
    result: int
    workspace: int
    tile: int
    seconds: float
    compilation: float
    setup: float
    free: int

    @property
    def memory(self) -> int:
        """The peak memory of a kernel computation in bytes: the result and the workspace."""
        return self.result + self.workspace

    @property
    def first_call(self) -> float:
        """The seconds until the first kernel matrix in a new process is ready: setup, compilation, and the kernel
        itself.
        """
        return self.setup + self.compilation + self.seconds

    @property
    def fits(self) -> bool:
        """Whether the peak memory of the kernel computation fits into the free memory of the machine."""
        return self.memory <= self.free

    def __str__(self) -> str:
        """Returns one sentence that states the memory and the time that the kernel matrix needs."""
        verdict = "fits" if self.fits else "does not fit"
        time = f"about {self.seconds:.2g} s"
        if self.compilation > 0:
            time = f"{time}, plus about {self.compilation:.2g} s to compile loops the first time"
        elif self.setup > self.seconds:
            time = f"{time} ({self.first_call:.2g} s for the first kernel of a process)"
        return (
            f"{self.n1} x {self.n2} kernel: {format_bytes(self.result)} for the result, "
            f"{format_bytes(self.workspace)} of workspace "
            f"({self.tile} pairs at a time), {time}; {verdict} into {format_bytes(self.free)} of memory"
        )


def needs(plan: LimitPlan, n1: int, n2: int, *, kinds: tuple[str, ...], word: int, memory: int | None) -> Needs:
    """Returns the memory needed to compute the kernels between n1 and n2 points with a given plan (one formula per
    layer).

    >>> from gnomon.program.read import read_program
    >>> from gnomon.kernels.plan import plan
    >>> net = torch.nn.Linear(3, 1)
    >>> made = plan(read_program(net, torch.zeros(1, 3)), net, "torch", standard=True)
    >>> needs(made, 1000, 500, kinds=("ntk",), word=4, memory=None).result
    2000000
    """
    free = free_bytes()
    result = n1 * n2 * word * len(kinds)
    pair = plan.pair_entries(tangent="ntk" in kinds) * BYTES_PER_NUMBER
    point = (sum(_keep(plan)) + 1) * BYTES_PER_NUMBER * (n1 + n2)
    room = memory - result - point if memory is not None else min(MAX_TILE_BYTES, free - result - point)
    tile = max(1, min(n1 * n2, room // pair))
    return Needs(result, tile * pair + point, tile, free)


def _keep(plan: LimitPlan) -> list[int]:
    """Returns the number of values that each layer stores per input: features, and variances before activations."""
    kept = []
    for rule, step in zip(plan.rules, plan.program.steps, strict=True):
        size = int(torch.Size(step.grid).numel())
        if isinstance(rule, DataRule):
            kept.append(size * step.channels)  # the features themselves
            continue
        watches = rule.watches()
        kept.append(size * size if True in watches else size if False in watches else 0)
    return kept


def torch_seconds(plan: LimitPlan, n1: int, n2: int) -> float:
    """Returns a rough estimate of the seconds that torch needs for a kernel without compiled loops, from array sizes.

    Only the choice of the engine depends on it: activations take most of the time, in proportion to their entries.

    >>> from gnomon.program.read import read_program
    >>> from gnomon.kernels.plan import plan
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> round(torch_seconds(plan(read_program(net, torch.zeros(1, 3)), net, "torch", standard=True), 1000, 1000), 3)
    0.02
    """
    numeric = plan.activation_entries(numeric=True)
    closed = plan.activation_entries() - numeric
    return n1 * n2 * (SECONDS_PER_ENTRY * closed + SECONDS_PER_NUMERIC_ENTRY * numeric)


def seconds(run: Callable[[int, int], object], n1: int, n2: int, *, symmetric: bool) -> float:
    """Returns the seconds that ``run(n1, n2)`` will take, extrapolated from runs on fewer points.

    See equation (1) of the module docstring.
    Hypotheses: similar points; as many threads as torch uses, each with GRAIN pairs at least.
    Cost: from a quarter of a second to five, and the compiler's time if it has not run before.

    >>> seconds(lambda n1, n2: None, 1000, 1000, symmetric=True) < 1
    True
    """
    threads, trials, times = torch.get_num_threads(), [], []

    def terms(k1: int, k2: int) -> list[float]:
        pairs = k1 * (k1 + 1) / 2 if symmetric else k1 * k2
        return [1.0, k1 + k2, pairs / max(1.0, min(threads, pairs / MIN_PAIRS_PER_THREAD))]

    k = FIRST_TRIAL_POINTS
    run(min(k, n1), min(k, n2))  # This first run is not timed, because it includes setup and compilation.
    while True:
        size = min(k, n1), min(k, n2)
        trials.append(terms(*size))
        times.append(min(_time(run, *size), _time(run, *size)))
        grown = times[-1] > max(SUFFICIENT_TRIAL_SECONDS, MIN_TRIAL_GROWTH * times[0])
        if size == (n1, n2) or (grown and len(trials) >= len(trials[0])) or sum(times) > MAX_TRIAL_SECONDS:
            break
        k *= 4
    if size == (n1, n2):
        return times[-1]
    return _extrapolate(np.array(trials), np.array(times), np.array(terms(n1, n2)))


def _time(run: Callable[[int, int], object], k1: int, k2: int) -> float:
    start = perf_counter()
    run(k1, k2)
    return perf_counter() - start


def _extrapolate(trials: np.ndarray, times: np.ndarray, wanted: np.ndarray) -> float:
    """Extrapolates measured times of kernel computations to more points; at least the time of the last trial.

    See equation (1) of the module docstring.
    """
    from scipy.optimize import nnls

    factors, _ = nnls(trials / times[:, None], np.ones(len(times)))
    return max(float(wanted @ factors), float(times[-1]))
