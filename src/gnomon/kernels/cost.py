"""What a kernel will cost, said before anything is allocated."""

from dataclasses import dataclass
from time import perf_counter

import torch

from gnomon.core.memory import free_bytes, human
from gnomon.core.record import Record
from gnomon.kernels.plan import Plan
from gnomon.kernels.rules.data import DataRule

WORKSPACE = 128 * 2**20  # tiles larger than this gain nothing: they only leave the caches
WORD = 8


@dataclass(frozen=True, slots=True)
class Cost(Record):
    """Memory in bytes and time in seconds of a kernel between n1 and n2 points.

    ``result`` is the kernel itself, ``workspace`` what the tiles of the computation need at one time, ``tile`` the
    number of pairs per tile. ``fits`` compares with the memory that is free now.

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
    free: int

    @property
    def memory(self) -> int:
        """Peak bytes: result and workspace."""
        return self.result + self.workspace

    @property
    def fits(self) -> bool:
        """Whether the peak fits into the memory that is free."""
        return self.memory <= self.free

    def __str__(self) -> str:
        """One sentence."""
        verdict = "fits" if self.fits else "does not fit"
        return (
            f"{self.n1} x {self.n2} kernel: {human(self.result)} for the result and {human(self.workspace)} to work in "
            f"({self.tile} pairs at a time), about {self.seconds:.2g} s; {verdict} into {human(self.free)} of memory"
        )


def cost(plan: Plan, n1: int, n2: int, *, kinds: int, word: int, memory: int | None) -> Cost:
    """Memory and time of a plan on n1 x n2 pairs. Cost: one probe of a few milliseconds."""
    free = free_bytes()
    tangent = kinds > 1
    result = n1 * n2 * word * kinds
    pair = plan.pair_entries(tangent=tangent) * WORD
    point = (sum(_kept(plan)) + 1) * WORD * (n1 + n2)
    room = memory - result - point if memory is not None else min(WORKSPACE, free - result - point)
    tile = max(1, min(n1 * n2, room // pair))
    seconds = plan.work(tangent=tangent) * n1 * n2 * _second_per_unit()
    return Cost(n1, n2, result, tile * pair + point, tile, seconds, free)


def _kept(plan: Plan) -> list[int]:
    """Numbers kept for each point during the whole computation: features, and variances below each nonlinearity."""
    kept = []
    for rule, step in zip(plan.rules, plan.program.steps, strict=True):
        size = int(torch.Size(step.grid).numel())
        if isinstance(rule, DataRule):
            kept.append(size * step.channels)  # the features themselves
            continue
        watches = rule.watches()
        kept.append(size * size if True in watches else size if False in watches else 0)
    return kept


def _second_per_unit() -> float:
    """Seconds per elementary operation, measured on the spot: one multiplication, by all threads of torch."""
    x = torch.linspace(0, 1, 1 << 14, dtype=torch.float64)  # small enough for one core's cache and one thread
    x * x  # the first call of a process is slow
    times = []
    for _ in range(5):
        start = perf_counter()
        x * x
        times.append(perf_counter() - start)
    return min(times) / x.numel() / torch.get_num_threads()
