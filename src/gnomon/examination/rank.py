"""Candidates before training: which architecture suits the data, by its kernel alone.

>>> one = Candidate("deep", 0.9, 0.4, 0.1, True, "infinite-width", "alignment 0.4")
>>> print(Ranking((one,), 100))
1. deep  score 0.900  alignment 0.4
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import check_seed, integer, number
from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError, InputError, called, lesson
from gnomon.core.record import Record
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.examination.subject import Subject, subject
from gnomon.kernels import Limit
from gnomon.linalg.leave_one_out import leave_one_out
from gnomon.tangent import alignment, ntk

CALL = "rank(networks, train=(x, y))"
Progress = Callable[[str, int, int], None]
"""Called with the name of the candidate that begins, its number, and how many there are."""
SCHEMA = 2
"""Version of `Ranking.to_dict`."""
LEAST = 1e-3
"""Share of a kernel that tells examples apart, below which they take a thousand times as long as the mean to learn."""


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """One network: its leave-one-out score (accuracy or explained variance), alignment, spread (2), and the reasons."""

    name: str
    score: float
    alignment: float
    spread: float
    trainable: bool
    kernel: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ranking(Result):
    """Candidates, the best first, and the names of those for which the time did not suffice."""

    candidates: tuple[Candidate, ...]
    examples: int
    unranked: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(c.name for c in self.candidates)

    @property
    def verdict(self) -> str:
        """One sentence."""
        best, count = self.candidates[0], len(self.candidates)
        return f"{best.name} is the best of {count} by its kernel on {self.examples} examples: score {best.score:.3f}."

    def __str__(self) -> str:
        wide = max(len(c.name) for c in self.candidates)
        rows = [f"{i}. {c.name:<{wide}}  score {c.score:.3f}  {c.reason}" for i, c in enumerate(self.candidates, 1)]
        rows += [f"not ranked, for the time did not suffice: {', '.join(self.unranked)}"] if self.unranked else []
        return "\n".join(rows)

    def plots(self) -> tuple[Plot, ...]:
        """The score of each candidate, the best on top."""
        bars = Bars("score", self.names, [c.score for c in self.candidates])
        return (Plot("Ranking before training", (bars,), Axis("leave-one-out score"), caption=self.verdict),)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; ``schema`` says which version of the names this is."""
        return {"schema": SCHEMA} | Result.to_dict(self)


def rank(
    networks: Mapping[str, nn.Module | Callable[[], nn.Module]],
    train: Any,
    *,
    examples: int = 300,
    budget: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Clock = perf_counter,
) -> Ranking:
    """Order networks by what their kernels would score on the data, before any of them is trained.

        score = leave-one-out accuracy (or explained variance) of kernel regression                              (1)

    The kernel is the infinite-width one where it can be computed from the module, the finite network's own otherwise. A
    network whose kernel hardly tells examples apart is put last, for its training would take too long:

        spread = trace(H K H) / trace(K) < 1e-3,    H = I - 1 1^T / n                                            (2)

    ``train`` is data as `gnomon.examine` takes them; targets are numbers, or integer classes. ``budget`` is in seconds:
    a candidate that is due after it is named in ``unranked``; the first is always judged. ``progress(name, number,
    count)`` is called as each candidate begins; ``clock`` is what ``budget`` is read from.

    Hypotheses: the score of the kernel says something about the score of the trained network; how much, depends.
    Reference: [jacot2018neural].
    Cost: one kernel of ``examples`` points for each network, and its eigendecomposition.

    >>> x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    >>> y = (x[:, 0] * x[:, 1] > 0).long()                                  # no line separates these
    >>> def deep(): return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2))
    >>> rank({"line": nn.Linear(2, 2), "deep": deep}, (x, y)).names
    ('deep', 'line')
    """
    if not isinstance(networks, Mapping) or not networks:
        what = "no networks" if isinstance(networks, Mapping) else f"the networks are a {type(networks).__name__}"
        raise InputError(lesson(CALL, what, "networks by name", 'Pass at least one, as in {"deep": network}'))
    examples, seed = integer("examples", examples, call=CALL), check_seed(seed, call=CALL)
    limit = inf if budget is None else number("budget", budget, call=CALL, above=0)
    train = list(train) if isinstance(train, Iterator) else train  # each candidate reads the data
    subjects = {
        name: subject(network, train, None, optimizer=None, seed=seed, name=name, call=CALL, probe=examples)
        for name, network in networks.items()
    }
    with called(CALL):
        candidates = _candidates(subjects, limit, progress, clock)
    ranked = sorted(candidates, key=lambda c: (not c.trainable, -c.score, -c.alignment))
    left = tuple(name for name in subjects if name not in {c.name for c in candidates})
    return Ranking(tuple(ranked), len(next(iter(subjects.values())).probe), left)


def _candidates(
    subjects: Mapping[str, Subject], budget: float, progress: Progress | None, clock: Clock
) -> list[Candidate]:
    """Those candidates that can begin before the time is spent."""
    candidates: list[Candidate] = []
    start = clock()
    for i, (name, network) in enumerate(subjects.items()):
        if candidates and clock() - start >= budget:
            break
        if progress is not None:
            progress(name, i, len(subjects))
        candidates.append(_candidate(name, network))
    return candidates


def _candidate(name: str, network: Subject) -> Candidate:
    kernel, kind = _kernel(network)
    y = network.targets(network.probe.y)
    if not bool(torch.isfinite(kernel).all()) or not bool(kernel.abs().max() > 0):
        return Candidate(name, 0.0, 0.0, 0.0, False, kind, "its kernel is zero or not finite")
    prediction = leave_one_out(kernel, y)
    score = (prediction.accuracy or 0.0) if network.task.classes else 1 - prediction.error
    spread = float((kernel.diagonal().mean() - kernel.mean()) / kernel.diagonal().mean())  # (2)
    aligned = alignment(kernel, y - y.mean(0)) if spread > 1e-9 else 0.0
    trainable = spread >= LEAST
    numbers = f"{kind} kernel, alignment {aligned:.3f}, spread {spread:.2g}"
    reason = numbers if trainable else f"{numbers}: it hardly tells examples apart"
    return Candidate(name, score, aligned, spread, trainable, kind, reason)


def _kernel(network: Subject) -> tuple[Tensor, str]:
    x = network.probe.x
    if isinstance(x, Tensor) and x.is_floating_point():
        try:
            return Limit(network.module).ntk(x), "infinite-width"
        except GnomonError:
            pass  # without an infinite-width limit, the finite network's own kernel is used
    return ntk(network.module, x).double(), "finite-width"
