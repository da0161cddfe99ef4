"""Searches for a repair of a network with poor results: tries a broad, ordered list of changes on copies.

No finding has to suggest a change. Each change is trained for a few steps on a copy, and the changes with the largest
gain are trained for as many steps as the network as given:

    short runs of s steps, s = min(S, T / (2 K c))    for K changes, S steps, T seconds and c seconds per step      (1)

One half of the held-out examples chooses among the changes, the other half states the gain, so that choosing the best
of many changes does not make its gain look larger. Changes of the test inputs need no training.

Hypotheses: independent held-out examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.fixes.candidates import RepairCandidate, candidates
from gnomon.examination.fixes.prove import MAX_SCORED_EXAMPLES, FixTrialBudget, run_trial
from gnomon.examination.fixes.score import HeldOutScores, gain_interval, score_network
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix
from gnomon.examination.subject import Subject
from gnomon.training import TrainingRun

__all__ = ["Repairs", "gain_of_halves", "search_repairs"]

MIN_SHORT_STEPS = 30
"""Steps of a short run, at least."""
SHORT_TIME_SHARE = 0.5
"""Share of the time for short runs."""
MAX_FULL_RUNS = 6
"""Changes that are trained for all steps, at most."""
EQUAL_GAIN = 0.03
"""Changes whose scores differ by less are called equally good; of these the first in the list is named."""
ERRORS = (GnomonError, RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError)
"""Errors of a change that does not suit the module; the change is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Repairs(Record):
    """Result: the changes that were trained for all steps, best first; the first ``equal`` of them are equally good.

    >>> Repairs().best is None
    True
    """

    tried: tuple[TriedFix, ...] = ()
    equal: int = 0

    @property
    def best(self) -> TriedFix | None:
        """Returns the best change if it is proven, otherwise None."""
        return self.tried[0] if self.tried and self.tried[0].is_proven else None


@dataclass(frozen=True, slots=True, eq=False)
class _Tested(Record):
    """A change with its run, its scores, and the gain on the half of the held-out examples that chooses."""

    candidate: RepairCandidate
    trial: TrialRun
    run: TrainingRun
    scores: HeldOutScores
    chosen_by: float


def gain_of_halves(before: Tensor, after: Tensor) -> tuple[float, float]:
    """Returns the mean gain on the even and on the odd examples.

    >>> import torch
    >>> gain_of_halves(torch.zeros(4), torch.tensor([1.0, 0.0, 1.0, 0.0]))
    (1.0, 0.0)
    """
    gains = after - before
    return float(gains[0::2].mean()), float(gains[1::2].mean())


def search_repairs(
    subject: Subject, finding: Finding, trial: TrialRun, run: TrainingRun, budget: FixTrialBudget, *, seed: int
) -> Repairs:  # fmt: skip
    """Tries the changes of `candidates` and returns those that were trained for all steps, best first.

    See equation (1) of the module docstring. ``trial`` is the recipe to repair and ``run`` its training run.
    Cost: at most the time of the budget.

    >>> import torch
    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> search_repairs(network, None, None, None, FixTrialBudget(0.0, 1.0, lambda: 1.0), seed=0)
    Repairs(tried=(), equal=0)
    """
    if budget.left <= 0:
        return Repairs()
    made = list(candidates(subject, finding, trial))
    affordable = budget.left / budget.step
    free = [one for one in made if not one.change.trains]
    made = [one for one in made if one.change.trains]
    base = _score(subject, trial, run, seed)
    full = [_score_of_change(subject, one, one.change.trial, run, base, seed) for one in free]
    short = int(min(trial.steps, SHORT_TIME_SHARE * affordable / (len(made) + 1)))
    if made and short < trial.steps:
        short = min(trial.steps, max(short, MIN_SHORT_STEPS))
        made = made[: max(0, int(SHORT_TIME_SHARE * affordable / short) - 1)]
        made = _first_round(subject, trial, made, short, budget, seed)[:MAX_FULL_RUNS]
    for one in made:
        if (tested := _run_candidate(subject, one, one.change.trial, base, budget, seed)) is not None:
            full.append(tested)
    return _sort_by_gain(subject, finding, trial, run, [one for one in full if one is not None], seed)


def _first_round(
    subject: Subject, trial: TrialRun, made: Sequence[RepairCandidate], steps: int, budget: FixTrialBudget, seed: int
) -> list[RepairCandidate]:  # fmt: skip
    """Trains each change for a few steps; returns those that gain, the largest gain first."""
    given = replace(trial, steps=steps)
    first = run_trial(given, budget, seed)
    if first is None:
        return []
    base = _score(subject, given, first, seed)
    tested = []
    for one in made:
        fewer = replace(one.change.trial, steps=max(1, round(steps * one.change.trial.steps / trial.steps)))
        if (found := _run_candidate(subject, one, fewer, base, budget, seed)) is not None:
            tested.append(found)
    tested.sort(key=lambda one: -one.chosen_by)
    return [one.candidate for one in tested if one.chosen_by > 0]


def _run_candidate(
    subject: Subject, one: RepairCandidate, trial: TrialRun, base: HeldOutScores, budget: FixTrialBudget, seed: int
) -> _Tested | None:  # fmt: skip
    try:
        run = run_trial(trial, budget, seed)
    except ERRORS:
        return None
    return None if run is None or run.diverges else _score_of_change(subject, one, trial, run, base, seed)


def _score_of_change(
    subject: Subject, one: RepairCandidate, trial: TrialRun, run: TrainingRun, base: HeldOutScores, seed: int
) -> _Tested | None:  # fmt: skip
    try:
        scores = _score(subject, trial, run, seed)
        if scores.unit != base.unit or len(scores.values) != len(base.values):
            return None
        return _Tested(one, trial, run, scores, gain_of_halves(base.values, scores.values)[0])
    except ERRORS:
        return None


def _score(subject: Subject, trial: TrialRun, run: TrainingRun, seed: int) -> HeldOutScores:
    return score_network(subject, trial, run.model, examples=MAX_SCORED_EXAMPLES, seed=seed)


def _sort_by_gain(
    subject: Subject, finding: Finding, trial: TrialRun, run: TrainingRun, tested: Sequence[_Tested], seed: int
) -> Repairs:  # fmt: skip
    """Sorts the tested changes: of those nearly as good as the best one, the first in the list of changes leads."""
    if not tested:
        return Repairs()
    best = max(one.chosen_by for one in tested)
    near = [one for one in tested if one.chosen_by >= best - EQUAL_GAIN]
    near.sort(key=lambda one: one.candidate.rank)
    others = sorted((one for one in tested if one.chosen_by < best - EQUAL_GAIN), key=lambda one: -one.chosen_by)
    base = _score(subject, trial, run, seed)
    return Repairs(tuple(_result_of_change(finding, trial, run, base, one) for one in (*near, *others)), len(near))


def _result_of_change(
    finding: Finding, trial: TrialRun, run: TrainingRun, base: HeldOutScores, one: _Tested
) -> TriedFix:
    """Returns the result of a change, measured on the half of the held-out examples that did not choose it."""
    before, after = base.values[1::2], one.scores.values[1::2]
    change = one.candidate.change
    return TriedFix(
        finding.kind, one.candidate.fix, change.words, change.diff, float(before.mean()), float(after.mean()),
        gain_interval(before, after), base.unit, len(after), int(one.run.steps[-1]), 1, "", (trial, one.trial),
        (run, one.run),
    )  # fmt: skip
