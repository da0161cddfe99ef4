"""Decides whether results are poor, searches for a repair, and turns a repair that helps much into a finding.

A repair that is found by trial names the cause: if cross-entropy instead of the user's loss gains 40 points, the loss
does not suit the task.
"""

from dataclasses import replace
from math import inf

import torch
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.examination.fixes.prove import MAX_SCORED_EXAMPLES, FixTrialBudget, repeat_with_second_seed
from gnomon.examination.fixes.score import score_network
from gnomon.examination.fixes.search import search_repairs
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix, TriedFixes
from gnomon.examination.good_results import MIN_AVOIDED_ERROR, avoided_error
from gnomon.examination.subject import Subject
from gnomon.findings import repairs as kinds
from gnomon.training import TrainingRun
from gnomon.training.plan import BatchPlan

__all__ = ["add_repairs", "guess_score", "has_poor_results", "is_poor_run", "repair_findings"]

MIN_PROBLEM_GAIN = 0.12
"""Minimum gain of a repair whose cause is a problem, as a share of the errors of a guess."""
MIN_WARNING_GAIN = 0.06
"""Gain from which the cause is a warning, as a share of the errors of a guess."""
MIN_REMOVED_ERROR = 0.35
"""Share of the errors that a repair must remove."""
RESERVED_SHARE = 0.2
"""Share of the time that is kept for a second seed of the best repair."""
GENERAL = frozenset({
    "longer-training", "higher-rate", "lower-rate", "use-adam", "usual-sgd-momentum", "standardize-inputs",
    "initialize", "smaller-batch", "larger-batch", "smaller-dropout", "use-relu",
})  # fmt: skip
"""Fixes that help many networks a little, whatever is wrong. If a problem is already known, they are warnings."""
MIN_STEPS_TO_BLAME = 100
"""Minimum number of training steps for a general change to be a problem; any faster training helps in fewer steps."""
MAX_EQUALS = 3
"""Equally good changes that the advice names, at most."""


def has_poor_results(subject: Subject, trial: TrialRun, run: TrainingRun, *, seed: int) -> bool:
    """Returns whether a trained network avoids less than 80 % of the error of a guess on held-out examples.

    Also True if training diverged. False if only the user's loss says how good an output is.
    Cost: one pass over the held-out examples.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> from gnomon.training import Adam
    >>> trial = TrialRun(network.module, network.train, network.train, network.loss, Adam(0.1), BatchPlan(20), 50)
    >>> has_poor_results(network, trial, trial.run(seed=0), seed=0)
    False
    """
    if run.diverges:
        return True
    scores = score_network(subject, trial, run.model, examples=MAX_SCORED_EXAMPLES, seed=seed)
    return scores.is_share and avoided_error(scores.mean, guess_score(subject, scores.unit)) < MIN_AVOIDED_ERROR


def is_poor_run(subject: Subject, run: TrainingRun, seed: int) -> bool:
    """Returns whether the trained network of the examination has poor results, as `has_poor_results` says.

    Cost: one pass over the held-out examples.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> from gnomon.training import Adam
    >>> trial = TrialRun(network.module, network.train, network.train, network.loss, Adam(0.1), BatchPlan(20), 50)
    >>> is_poor_run(network, trial.run(seed=0), 0)
    False
    """
    if subject.task.reading is not None and subject.task.reading.task == "model loss":
        return False
    held = subject.train if subject.test is None else subject.test
    trial = TrialRun(subject.module, subject.train, held, subject.loss, run.optimizer, BatchPlan(1), 1)
    return has_poor_results(subject, trial, run, seed=seed)


def guess_score(subject: Subject, unit: str) -> float:
    """Returns the score of always guessing the most frequent class; 0 for numbers, where it is the mean.

    Cost: counting the labels of the probe.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (torch.arange(80) % 4 > 0).long()), None, seed=0)
    >>> guess_score(network, "accuracy")
    0.75
    """
    if unit != "accuracy":
        return 0.0
    y: Tensor = subject.probe.y
    if y.is_floating_point():
        return 0.0
    counts = torch.bincount(y[y >= 0].flatten().long().cpu())
    return float(counts.max() / counts.sum()) if counts.numel() else 0.0


def add_repairs(
    subject: Subject, found: TriedFixes, base: tuple[TrialRun, TrainingRun], symptom: Finding | None,
    budget: FixTrialBudget, *, seed: int, explained: bool = False,
) -> tuple[TriedFixes, tuple[Finding, ...]]:  # fmt: skip
    """Searches for a repair if results are poor even with the fixes that helped; returns all fixes and its finding.

    ``symptom`` is the finding that says how training ended, or None; ``explained`` says that another problem is known.
    Cost: at most the time of the budget.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> from gnomon.training import Adam
    >>> trial = TrialRun(network.module, network.train, network.train, network.loss, Adam(0.1), BatchPlan(20), 50)
    >>> base = trial, trial.run(seed=0)  # good results, so no repair is searched
    >>> add_repairs(network, TriedFixes(()), base, None, FixTrialBudget(9.0, 0.1, lambda: 0.0), seed=0)
    (TriedFixes(tried=(), untried=()), ())
    """
    trial, run = base
    best_so_far = max((one.after for one in found.proven_fixes if not one.later), default=-inf)
    proven = next((one for one in reversed(found.proven_fixes) if one.trials and one.runs and not one.later), None)
    state = (
        base if proven is None or proven.trials is None or proven.runs is None else (proven.trials[1], proven.runs[1])
    )
    if not has_poor_results(subject, *state, seed=seed):
        return found, ()
    asked = Finding(kinds.REPAIR_FOUND, "", {"cause": "", "gain": "", "advice": ""})
    kept = RESERVED_SHARE * max(budget.left, 0.0)
    shorter = replace(budget, end=budget.end - kept)
    repairs = search_repairs(subject, asked, trial, run, shorter, seed=seed)
    if not repairs.tried or repairs.tried[0].after < best_so_far + MIN_WARNING_GAIN:
        return found, ()
    best = repeat_with_second_seed(subject, repairs.tried[0], budget, seed)
    tried = (best, *(replace(one, kind="" if symptom is None else symptom.kind) for one in repairs.tried[1:]))
    guess = guess_score(subject, best.unit)
    findings = repair_findings(best, repairs.tried[1 : repairs.equal], guess=guess, explained=explained)
    kept_ones = (
        tried if findings else tuple(replace(one, kind="" if symptom is None else symptom.kind) for one in tried)
    )
    unproven = tuple(one for one in kept_ones[1:] if not one.is_proven)
    return TriedFixes((*found.tried, kept_ones[0], *unproven), found.untried), findings


def repair_findings(
    best: TriedFix, equal: tuple[TriedFix, ...], *, guess: float, explained: bool = False
) -> tuple[Finding, ...]:
    """Returns a finding that names the cause that a repair implies, if it removes many errors.

    >>> from gnomon.core.results import Interval
    >>> gain = Interval(0.5, 0.6, 0.95)
    >>> one = TriedFix("repair-found", "lower-rate", "lr=0.1", "", 0.3, 0.85, gain, "accuracy", 500, 400)
    >>> repair_findings(one, (), guess=0.1)[0].values["cause"]
    'The learning rate is too large'
    """
    gain, left, scale = best.after - best.before, 1 - best.before, max(1 - guess, 1e-9)
    if not best.is_proven or best.unit == "loss" or gain < max(MIN_WARNING_GAIN * scale, MIN_REMOVED_ERROR * left):
        return ()
    general = best.fix in GENERAL and (explained or best.steps < MIN_STEPS_TO_BLAME)
    row = kinds.REPAIR_FOUND if gain >= MIN_PROBLEM_GAIN * scale and not general else kinds.REPAIR_HELPS
    advice = _advice(best)
    others = [one.words for one in equal if one.is_proven and one.fix != best.fix][:MAX_EQUALS]
    if others:
        advice += f" Equally good: {'; '.join(others)}."
    values = {"cause": kinds.CAUSES[best.fix], "gain": best.sentence, "advice": advice}
    return (Finding(row, "", values, (Value("gain", gain, interval=best.gain),), 0.05),)


def _advice(best: TriedFix) -> str:
    if best.fix == "test-inputs":
        return f"Prepare the test inputs like the training inputs: {best.words}."
    words = best.words if best.words.startswith("without ") else f"with {best.words}"
    return f"Train {words}."
