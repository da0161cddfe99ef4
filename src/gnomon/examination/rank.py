"""Ranks networks by the test score that a short training run predicts.

>>> one = Candidate("deep", 0.9, 0.4, 0.1, True, ShortRun(0.3, 0.15, 0.3, 0.1, 0.5, 100, False), "15 % wrong")
>>> print(Ranking((one,), 100))
1. deep  score 0.900  15 % wrong
>>> from dataclasses import replace
>>> other = Candidate("wide", 0.89, 0.4, 0.1, True, one.short_run, "16 % wrong", Interval(0.86, 0.92, 0.95), 0.2)
>>> Ranking((replace(one, interval=Interval(0.87, 0.93, 0.95), deviation=0.2), other), 100).equal_to_best
('deep', 'wide')
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, hypot, inf, isfinite, log
from time import perf_counter
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import GnomonError, InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.machine.clock import Clock
from gnomon.core.results import Axis, Bars, Interval, Plot, Result
from gnomon.core.results.record import Record
from gnomon.examination.cost import measure_step_cost
from gnomon.examination.short_run import ShortRun, short_run
from gnomon.examination.subject import Subject, build_subject
from gnomon.tangent import alignment, ntk
from gnomon.tangent.projection import random_combination
from gnomon.training import Adam
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import OptimizerChoice, resolve_optimizer

Progress = Callable[[str, int, int], None]
"""Called with the name of the candidate that starts, its number, and the number of candidates."""
SCHEMA_VERSION = 4
"""Version of `Ranking.to_dict`."""
MIN_KERNEL_CONTRAST = 1e-3
"""Smallest share of the kernel that distinguishes examples. Below it, learning takes a thousand times longer than
learning the mean."""
SHORT_RUN_SHARE = 0.5
"""Share of the planned steps that a short run takes."""
MIN_SHORT_RUN_STEPS = 40
"""Steps of a short run, at least."""
KERNEL_EXAMPLES = 64
"""Number of examples in the kernel that explains a result."""
KERNEL_TIME_SHARE = 0.2
"""Share of a candidate's time for its kernel."""
TIMING_SHARE = 0.05
"""Share of a candidate's time for the pass that measures its speed."""
EXAMPLES_PER_PASS_IN_BUDGET = 1.2
"""Number of examples per affordable training pass. With it, three evaluations on a quarter of the examples take less
than a third of the time."""
NORMAL_QUANTILE = 1.96
"""Quantile of the normal distribution for intervals of 95 %."""
MIN_EXAMPLES = 32
"""Examples of a candidate, at least."""


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """One ranked network: its predicted score (accuracy or explained variance), and the reason for its rank.

    ``alignment`` and ``spread`` belong to the tangent kernel at the start, 0 if there is none; 0 and 1 if the
    time did not suffice for it. ``interval`` is the interval of 95 % of the score, ``deviation`` the standard deviation
    of the logarithm of the predicted error, 1 - score; 0 if they are not known.
    """

    name: str
    score: float
    alignment: float
    spread: float
    trainable: bool
    short_run: ShortRun
    reason: str
    interval: Interval | None = None
    deviation: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranking(Result):
    """Result: networks ranked by predicted score, best first, and the names of networks skipped for lack of time."""

    candidates: tuple[Candidate, ...]
    examples: int
    unranked: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the ranked networks, best first."""
        return tuple(c.name for c in self.candidates)

    @property
    def equal_to_best(self) -> tuple[str, ...]:
        """Returns the names of all ranked networks that do not differ from the best one by more than the uncertainty.

        The logarithms of the predicted errors differ by less than 1.96 standard deviations.
        """
        best = self.candidates[0]
        return tuple(c.name for c in self.candidates if c is best or (c.trainable and _are_equal(best, c)))

    @property
    def verdict(self) -> str:
        """Names the best network and its predicted score in one sentence."""
        best, count = self.candidates[0], len(self.candidates)
        burst = f"a trial of {best.short_run.steps} training steps on {self.examples:,} examples"
        if not best.trainable:
            return f"None of the {count} networks learned in {burst}: {best.reason}."
        score = f"predicted score {best.score:.1%}{_range(best)}"
        if len(equal := self.equal_to_best) > 1:
            return f"{' and '.join((', '.join(equal[:-1]), equal[-1]))} are equal by {burst}: {score}."
        return f"{best.name} should do best of {count}, by {burst}: {score}."

    def __str__(self) -> str:
        wide = max(len(c.name) for c in self.candidates)
        rows = [f"{i}. {c.name:<{wide}}  score {c.score:.3f}{_range(c)}  {c.reason}"
                for i, c in enumerate(self.candidates, 1)]  # fmt: skip
        rows += [f"equal within these intervals: {', '.join(self.equal_to_best)}"] * (len(self.equal_to_best) > 1)
        rows += [f"not ranked because the time ran out: {', '.join(self.unranked)}"] if self.unranked else []
        return "\n".join(rows)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the predicted score of each ranked network, best on top."""
        bars = Bars("score", self.names, [c.score for c in self.candidates])
        return (Plot("Ranking before training", (bars,), Axis("predicted score"), caption=self.verdict),)

    def to_dict(self) -> dict[str, Any]:
        """Returns the ranking as plain values for JSON; ``schema`` is the version of the key names."""
        return {"schema": SCHEMA_VERSION} | Result.to_dict(self)


@add_call_to_errors
def rank(
    networks: Mapping[str, nn.Module | Callable[[], nn.Module]],
    train: Any,
    *,
    optimizer: OptimizerChoice | None = None,
    steps: int = 600,
    batch: int = 64,
    examples: int = 2000,
    budget: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Clock = perf_counter,
) -> Ranking:
    """Trains each network for about half of the planned steps, and ranks the networks by the test score that this
    predicts.

        score = 1 - sqrt(e(b) (t(b) t(b) / t(b/2) + d(b) d(b) / d(b/2))),    b = steps / 2                     (1)

    with the error t on the examples that the burst is trained on, and the gap d from there to the error e on a quarter
    of the examples that it is not. A network whose error does not fall, or whose tangent kernel hardly distinguishes
    examples, is put last with the reason:

        spread = trace(H K H) / trace(K) < 1e-3,    H = I - 1 1^T / n                                            (2)

    Each score has an interval of 95 %; `Ranking.equal_to_best` names the candidates that are equal within it.
    ``train`` is data as `gnomon.examine` takes them; targets are numbers, or integer classes. ``optimizer``, ``steps``
    and ``batch`` describe the planned training. ``budget`` is in seconds: each candidate has its share of
    what is left, and one that is due after it, or after Ctrl-C, is named in ``unranked``; the first is always judged.
    ``progress(name, number, count)`` is called as each candidate begins; ``clock`` is what ``budget`` is read from.

    Hypotheses: the same as for `gnomon.examination.short_run`; networks that overtake others late are misjudged.
    Reference: [domhan2015speeding], [jacot2018neural] for the kernel.
    Cost: half of all training steps, and for each network a kernel of 64 points.

    >>> x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
    >>> y = (x[:, 0] * x[:, 1] > 0).long()                                  # no line separates these
    >>> def deep(): return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2))
    >>> rank({"line": nn.Linear(2, 2), "deep": deep}, (x, y), optimizer=Adam(0.01)).names
    ('deep', 'line')
    """
    if not isinstance(networks, Mapping) or not networks:
        what = "networks is empty" if isinstance(networks, Mapping) else f"the networks are a {type(networks).__name__}"
        raise InputError(what, accepted="networks by name", fix='Pass at least one, as in {"deep": network}')
    examples, seed = check_integer("examples", examples), check_seed(seed)
    steps, batch = check_integer("steps", steps), check_integer("batch", batch)
    limit = inf if budget is None else check_number("budget", budget, above=0)
    # An iterator becomes a list, because each candidate reads the data again.
    train = list(train) if isinstance(train, Iterator) else train
    subjects = {
        name: build_subject(network, train, None, seed=seed, name=name, probe=KERNEL_EXAMPLES)
        for name, network in networks.items()
    }
    plan = _Plan(Adam() if optimizer is None else resolve_optimizer(optimizer, None), steps, batch, examples, seed)
    candidates = _candidates(subjects, plan, limit, progress, clock)
    ranked = sorted(candidates, key=lambda c: (not c.trainable, -c.score, c.short_run.loss))
    left = tuple(name for name in subjects if name not in {c.name for c in candidates})
    return Ranking(tuple(ranked), min(examples, len(next(iter(subjects.values())).train)), left)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The training that all ranked networks would get, and how many examples are used."""

    optimizer: AbstractOptimizer
    steps: int
    batch: int
    examples: int
    seed: int


def _candidates(
    subjects: Mapping[str, Subject], plan: _Plan, budget: float, progress: Progress | None, clock: Clock
) -> list[Candidate]:
    """Evaluates the networks to rank one after the other until the time is over."""
    candidates: list[Candidate] = []
    start = clock()
    for i, (name, network) in enumerate(subjects.items()):
        left = budget - (clock() - start)
        if candidates and left <= 0:
            break
        if progress is not None:
            progress(name, i, len(subjects))
        seconds = None if budget == inf else max(left, 0.0) / (len(subjects) - i)
        try:
            candidates.append(_candidate(name, network, plan, seconds, clock))
        except KeyboardInterrupt:
            if not candidates:
                raise
            break
    return candidates


def _candidate(name: str, network: Subject, plan: _Plan, seconds: float | None, clock: Clock) -> Candidate:
    start, examples, told = clock(), plan.examples, True
    if seconds is not None:
        each = max(measure_step_cost(network, clock, TIMING_SHARE * seconds).each, 1e-9)
        examples = max(MIN_EXAMPLES, min(examples, int(EXAMPLES_PER_PASS_IN_BUDGET * seconds / each)))
        told = 2 * len(network.probe) * each <= KERNEL_TIME_SHARE * seconds
    aligned, spread = _kernel(network) if told else (0.0, 1.0)
    steps = min(plan.steps, max(MIN_SHORT_RUN_STEPS, round(SHORT_RUN_SHARE * plan.steps)))
    left = None if seconds is None else max(seconds - (clock() - start), 0.0)
    tried = short_run(network, plan.optimizer, examples=examples, steps=steps, batch=plan.batch, seed=plan.seed,
                  seconds=left, clock=clock)  # fmt: skip
    score = 1 - tried.after(plan.steps)  # (1)
    word = "wrong on" if network.task.classes else "unexplained:"
    reason = f"{word} {tried.half:.1%} after half of {tried.steps} steps, {tried.last:.1%} after all"
    blind, stuck = spread < MIN_KERNEL_CONTRAST, tried.is_stuck
    if tried.diverged or not isfinite(score):
        return Candidate(name, 0.0, aligned, spread, False, tried, "its loss is not finite")
    reason += (
        ": its outputs are nearly the same for all examples"
        if blind
        else ": its loss has hardly fallen so far"
        if stuck
        else ""
    )
    deviation = tried.deviation(plan.steps)
    low, high = (1 - min((1 - score) * exp(sign * NORMAL_QUANTILE * deviation), 1.0) for sign in (1, -1))
    return Candidate(
        name, score, aligned, spread, not (blind and stuck), tried, reason, Interval(low, high, 0.95), deviation
    )


def _are_equal(one: Candidate, other: Candidate) -> bool:
    """Checks whether the predicted errors of two networks differ by less than their uncertainty."""
    errors = [max(1 - c.score, 0.5 / max(c.short_run.held, 1)) for c in (one, other)]
    spread = hypot(one.deviation, other.deviation)
    return spread > 0 and abs(log(errors[0] / errors[1])) < NORMAL_QUANTILE * spread


def _range(candidate: Candidate) -> str:
    """Formats the confidence interval of a network's score as text in parentheses."""
    interval = candidate.interval
    return "" if interval is None else f" ({interval.low:.1%} to {interval.high:.1%})"


def _kernel(network: Subject) -> tuple[float, float]:
    """Computes two numbers of a network's tangent kernel: its alignment with the targets, and its variation between
    examples.
    """
    k = network.task.outputs
    try:
        module = network.module if k == 1 else random_combination(network.module, k, seed=0)
        kernel = ntk(module, network.probe.x).double()
    except (GnomonError, StopIteration):
        return 0.0, 0.0
    if not bool(torch.isfinite(kernel).all()) or not bool(kernel.abs().max() > 0):
        return 0.0, 0.0
    y = network.targets(network.probe.y)
    spread = float((kernel.diagonal().mean() - kernel.mean()) / kernel.diagonal().mean())  # (2)
    varied = spread > 1e-9 and bool((y - y.mean(0)).abs().max() > 0)
    return (alignment(kernel, y - y.mean(0)) if varied else 0.0), spread
