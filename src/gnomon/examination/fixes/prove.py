"""Tests possible fixes: trains a copy with each fix for the same number of steps, and compares held-out scores.

A fix that helps stays: later fixes are tried on top of it. For each finding, fixes are tried until one helps. Changes
that differ in one number, such as learning rates, are compared in short runs by their training loss, and the best is
trained to the end. Held-out examples only score, they never choose.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite, sqrt

import torch

from gnomon.core.errors import GnomonError
from gnomon.core.inputs.source import AbstractSource, InMemorySource, StreamingSource
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.machine.clock import Clock
from gnomon.core.results import Finding, Interval
from gnomon.core.results.record import Record
from gnomon.examination.fixes.examples import SourceOfChosenExamples
from gnomon.examination.fixes.fix import Fix, TrialChange
from gnomon.examination.fixes.score import NORMAL_QUANTILE, gain_interval, score_network
from gnomon.examination.fixes.table import fixes_for
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix, TriedFixes, format_score
from gnomon.examination.step import error_sentence
from gnomon.examination.subject import Subject
from gnomon.findings import most_serious_first
from gnomon.training import TrainingRun

__all__ = ["FixTrialBudget", "held_out_split", "repeat_with_second_seed", "run_trial", "try_fixes"]

MAX_SCORED_EXAMPLES = 1000
"""Held-out examples that score a network, at most."""
HELD_OUT_SHARE = 0.25
"""Share of the training examples that is held out without a test set."""
MIN_EXAMPLES_TO_SPLIT = 120
"""With fewer examples and no test set, networks are scored on the training examples."""
SHORT_RUN_SHARE = 0.1
"""Steps of a short run that chooses among changes, as a share of all steps."""
MIN_SHORT_RUN_STEPS = 20
"""Steps of a short run, at least."""
CLOSE_TO_BEST = 0.8
"""A change is chosen if its loss falls by this share of the largest fall; changes come in the order of preference."""
EARLY_FRACTION = 8
"""If a fix has no effect at the end, it is compared after this fraction of the steps."""


@dataclass(frozen=True, slots=True)
class FixTrialBudget(Record):
    """The time limit for testing fixes, and the expected duration of one training step in seconds.

    >>> FixTrialBudget(10.0, 1.0, lambda: 4.0).allows(6)
    True
    """

    end: float
    step: float
    clock: Clock

    @property
    def left(self) -> float:
        """Returns the seconds left for testing fixes."""
        return self.end - self.clock()

    def allows(self, steps: float) -> bool:
        """Returns whether this number of training steps fits into the time left."""
        return steps * self.step <= self.left


@dataclass(frozen=True, slots=True, eq=False)
class _State(Record):
    """The training run with all fixes that have helped so far: its settings and its finished result."""

    trial: TrialRun
    run: TrainingRun


def held_out_split(subject: Subject, seed: int) -> tuple[AbstractSource, AbstractSource, bool]:
    """Chooses data for testing fixes: train and test if there is a test set, otherwise a part of train is held out.

    The last value says whether all training examples of the subject are used.

    >>> from torch import nn
    >>> from gnomon.examination.subject import build_subject as of
    >>> data = torch.randn(200, 2), torch.arange(200) % 2
    >>> train, held, whole = held_out_split(of(nn.Linear(2, 2), data, None, seed=0), 0)
    >>> len(train), len(held), whole
    (150, 50, False)
    """
    train = subject.train
    if subject.test is not None:
        return train, subject.test, True
    if len(train) < MIN_EXAMPLES_TO_SPLIT or subject.recipe.loader is not None:
        return train, train, True
    known: AbstractSource = InMemorySource(train.whole(), None) if isinstance(train, StreamingSource) else train
    held = stratified_sample(len(known), known.labels(), round(HELD_OUT_SHARE * len(known)), seed=seed)
    rest = torch.ones(len(known), dtype=torch.bool)
    rest[held] = False
    return SourceOfChosenExamples(known, rest.nonzero().flatten()), SourceOfChosenExamples(known, held), False


def try_fixes(
    subject: Subject, findings: Sequence[Finding], trial: TrialRun, run: TrainingRun, budget: FixTrialBudget, *,
    seed: int,
) -> TriedFixes:  # fmt: skip
    """Tests possible fixes of all problems by training copies, most serious problem first, until the time is over.

    ``trial`` is the recipe as given and ``run`` its training run.
    Cost: for each fix one training run, and short runs if there are several changes to choose from.

    >>> try_fixes(None, (), None, None, FixTrialBudget(1.0, 1.0, lambda: 0.0), seed=0)
    TriedFixes(tried=(), untried=())
    """
    state, tried, untried, used = _State(trial, run), [], [], set[str]()
    first: dict[str, tuple[Finding, Fix]] = {}
    for finding in most_serious_first(findings):
        for fix in fixes_for(finding):
            if fix.id in used:
                continue
            used.add(fix.id)
            if not budget.allows(state.trial.steps):
                untried.append(f"{fix.id}: no time")
                continue
            found = _try(subject, finding, fix, state, budget, seed)
            if isinstance(found, str):
                untried.append(f"{fix.id}: {found}")
                continue
            tried.append(found)
            first.setdefault(finding.kind, (finding, fix))
            if found.is_proven and found.trials is not None and found.runs is not None:
                state = state if found.later else _State(found.trials[1], found.runs[1])
                break
    if len(first) > 1 and not any(one.is_proven for one in tried) and budget.allows(trial.steps):
        together = _try(subject, next(iter(first.values()))[0], _together(list(first.values())), state, budget, seed)
        tried += [] if isinstance(together, str) else [together]
    return TriedFixes(tuple(repeat_with_second_seed(subject, one, budget, seed) for one in tried), tuple(untried))


def _together(pairs: Sequence[tuple[Finding, Fix]]) -> Fix:
    """Combines the fixes of several problems into one, because one problem may hide another."""

    def apply(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
        made: list[TrialChange] = []
        for own, fix in pairs:
            changes = fix.apply(made[-1].trial if made else trial, own, subject)
            made += changes[:1]
        words, lines = " and ".join(one.words for one in made), "\n".join(one.diff for one in made)
        return (TrialChange(made[-1].trial, words, lines),) if made else ()

    return Fix("+".join(fix.id for _, fix in pairs), apply)


def _try(
    subject: Subject, finding: Finding, fix: Fix, state: _State, budget: FixTrialBudget, seed: int
) -> TriedFix | str:  # fmt: skip
    """Tests one fix; returns the result, or a phrase that says why the test was not possible."""
    try:
        changes = fix.apply(state.trial, finding, subject)
        if not changes:
            return "does not apply"
        change = _best(changes, state.trial.steps, budget, seed)
        after = None if change is None else run_trial(change.trial, budget, seed)
        if change is None or after is None:
            return "no time" if change is not None else "training diverges with each change"
        before = replace(state.trial, balanced=change.trial.balanced)
        compare = partial(_compare, subject, finding, fix, change, seed=seed)
        found = compare((before, change.trial), (state.run, after))
        return found if found.is_proven else _early(found, compare, (before, change.trial), budget, seed)
    except (GnomonError, RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        # The fix raises an error for this module, so the finding keeps only its advice as text.
        return f"failed ({error_sentence(error)})"


def _compare(
    subject: Subject, finding: Finding, fix: Fix, change: TrialChange, trials: tuple[TrialRun, TrialRun],
    runs: tuple[TrainingRun, TrainingRun], *, seed: int,
) -> TriedFix:  # fmt: skip
    """Compares the held-out scores of a training run without a fix and one with it."""
    before, after = (
        score_network(subject, trial, run.model, examples=MAX_SCORED_EXAMPLES, seed=seed)
        for trial, run in zip(trials, runs, strict=True)
    )
    gain = gain_interval(before.values, after.values)
    return TriedFix(
        finding.kind, fix.id, change.words, change.diff, before.mean, after.mean, gain, after.unit, len(after.values),
        int(runs[1].steps[-1]), 1, "", trials, runs,
    )  # fmt: skip


def _early(
    found: TriedFix, compare: Callable[..., TriedFix], trials: tuple[TrialRun, TrialRun], budget: FixTrialBudget,
    seed: int,
) -> TriedFix:  # fmt: skip
    """Compares two training runs after an eighth of their steps as well, to detect fixes that only make training
    faster.

    A fix that ends significantly below is not tried again.
    """
    short = tuple(replace(trial, steps=trial.steps // EARLY_FRACTION) for trial in trials)
    if found.gain.high < 0 or min(trial.steps for trial in short) < MIN_SHORT_RUN_STEPS:
        return found
    runs = tuple(run_trial(trial, budget, seed) for trial in short)
    if any(run is None for run in runs):
        return found
    early: TriedFix = compare(short, runs)
    if not early.is_proven:
        return found
    scores = " and ".join(format_score(value, found.unit) for value in (found.before, found.after))
    return replace(
        early,
        later=f"After {found.steps:,} steps the network with the fix and the one without score "
        f"nearly the same: {scores}.",
    )


def run_trial(trial: TrialRun, budget: FixTrialBudget, seed: int) -> TrainingRun | None:
    """Trains; returns the run, or None if there was not enough time.

    Cost: the steps of the trial.

    >>> run_trial(TrialRun(None, None, None, None, None, None, 10), FixTrialBudget(1.0, 1.0, lambda: 0.0), 0) is None
    True
    """
    if not budget.allows(trial.steps):
        return None
    run = trial.run(seed=seed, seconds=budget.left, clock=budget.clock)
    run.raise_if_interrupted()
    return None if run.stopped == "time" else run


def _best(changes: Sequence[TrialChange], steps: int, budget: FixTrialBudget, seed: int) -> TrialChange | None:
    """Tries all variants of a fix in short training runs; returns the first one whose loss is close to the smallest."""
    short = max(MIN_SHORT_RUN_STEPS, round(SHORT_RUN_SHARE * steps))
    if len(changes) < 2 or not budget.allows(len(changes) * short + steps):
        return changes[0] if changes else None
    falls = []
    for change in changes:
        run = run_trial(replace(change.trial, steps=min(short, steps)), budget, seed)
        fall = -inf if run is None or run.diverges else float(run.loss[0] - run.loss[-1])
        falls.append(fall if isfinite(fall) else -inf)
    if max(falls) == -inf:
        return None
    enough = CLOSE_TO_BEST * max(falls) if max(falls) > 0 else max(falls)
    return next(change for change, fall in zip(changes, falls, strict=True) if fall >= enough)


def repeat_with_second_seed(subject: Subject, one: TriedFix, budget: FixTrialBudget, seed: int) -> TriedFix:
    """Repeats both runs with a second seed if there is time, and averages the gain of the fix.

    The interval is widened by the difference of the two seeds.
    Cost: two training runs.

    >>> gain = Interval(-0.1, 0.1, 0.95)
    >>> one = TriedFix("overfit", "usual-decay", "decay", "", 0.3, 0.3, gain, "accuracy", 500, 400)
    >>> repeat_with_second_seed(None, one, FixTrialBudget(1.0, 1.0, lambda: 0.0), 0) is one  # not proven
    True
    """
    if not one.is_proven or one.trials is None or one.runs is None:
        return one
    frozen = not any(p.requires_grad for p in one.trials[0].module.parameters())
    if frozen or not budget.allows(one.trials[0].steps + one.trials[1].steps):
        return one
    again = [run_trial(trial, budget, seed + 1) for trial in one.trials]
    if any(run is None for run in again):
        return one
    runs = (*one.runs, *(run for run in again if run is not None))
    b1, a1, b2, a2 = (
        score_network(subject, one.trials[i % 2], run.model, examples=MAX_SCORED_EXAMPLES, seed=seed).values
        for i, run in enumerate(runs)
    )
    gain = combine_seeds(gain_interval(b1, a1), (float((a1 - b1).mean()), float((a2 - b2).mean())))
    before, after = float((b1 + b2).mean()) / 2, float((a1 + a2).mean()) / 2
    return replace(one, before=before, after=after, gain=gain, seeds=2)


def combine_seeds(first: Interval, gains: tuple[float, float]) -> Interval:
    """Returns a confidence interval for a fix's mean gain over two seeds, from sampling error and the difference of the
    seeds.

        half = sqrt(h^2 + (1.96 (g_1 - g_2) / 2)^2)

    The confidence is over the held-out examples, for these two seeds. Two seeds say little about others.

    >>> round(combine_seeds(Interval(0.1, 0.3, 0.95), (0.2, 0.2)).low, 6)
    0.1
    """
    center, spread = sum(gains) / 2, NORMAL_QUANTILE * abs(gains[0] - gains[1]) / 2
    half = sqrt((first.width / 2) ** 2 + spread**2)
    return Interval(center - half, center + half, first.confidence)
