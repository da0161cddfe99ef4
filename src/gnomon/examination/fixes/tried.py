"""Stores the results of testing fixes: scores before and after, the gain with its interval, and the changed training
run.

>>> words, gain = ("input-scale", "standardize-inputs", "standardized inputs", ""), Interval(0.6, 0.7, 0.95)
>>> before, _, after = TriedFix(*words, 0.31, 0.96, gain, "accuracy", 500, 400).sentence.partition(" (")
>>> before, after
('With standardized inputs: 31.0 % -> 96.0 % right on 500 held-out examples',
 'one random seed, same 400 steps; gain 60 to 70 points with 95 % confidence).')
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.results import Axis, Finding, Interval, Line, Plot
from gnomon.core.results.plain import HIDDEN_IN_JSON, to_json_value
from gnomon.core.results.record import Record
from gnomon.examination.fixes.trial import TrialRun
from gnomon.training import TrainingRun

__all__ = ["TriedFixes", "TriedFix", "advice_after_trials", "format_score"]

ONLY_GUESSES = ("test-inputs",)
"""Fixes that are tried without a sign of their fault. They are named only if they help."""
CHOSEN_BY_TRIAL = ("higher-rate", "lower-rate")
"""Fixes that try several numbers; the advice names the one that was proven."""
MAX_LISTED = 5
"""Changes without a gain that an advice lists, at most."""
MIN_GAIN = 0.02
"""Smallest gain of a proven fix: a share of the examples or of the variance, or of the loss before."""


@dataclass(frozen=True, slots=True, eq=False)
class TriedFix(Record):
    """Result of testing one fix on a copy: scores before and after, the gain with its interval, steps and held-out
    examples.

    ``kind`` is the kind of finding that it answers, ``fix`` the id of the fix, ``words`` what was changed and ``diff``
    the change as code. ``unit`` says what is scored: accuracy, explained variance or loss. ``gain`` is the interval of
    95 % of the gain. ``later`` says what longer training reaches, if the fix only makes training faster. ``trials`` are
    the recipes without and with the fix, each with its model before training; ``runs`` are their runs, and
    ``runs[1].model`` is the fixed and trained model.
    """

    kind: str
    fix: str
    words: str
    diff: str
    before: float
    after: float
    gain: Interval
    unit: str
    examples: int
    steps: int
    seeds: int = 1
    later: str = ""
    trials: tuple[TrialRun, TrialRun] | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)
    runs: tuple[TrainingRun, TrainingRun] | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def is_proven(self) -> bool:
        """Checks whether the fix improves the score by more than chance and by enough to matter.

        A network that explains no variance even with the fix is as bad as predicting the mean, so nothing is proven.
        """
        if self.unit == "explained variance" and self.after <= 0:
            return False
        scale = abs(self.before) if self.unit == "loss" else 1.0
        return self.gain.low > 0 and self.after - self.before >= MIN_GAIN * scale

    @property
    def sentence(self) -> str:
        """Says in one sentence which fix was tested and how much it gained."""
        before, after = (format_score(value, self.unit) for value in (self.before, self.after))
        words = self.words if self.words.startswith("without ") else f"with {self.words}"
        head = (
            f"{words[0].upper()}{words[1:]}: {before} -> {after}{_of(self.unit)} on {self.examples:,} held-out examples"
        )
        points = self.unit != "loss"
        low, high = (
            f"{100 * g:.2g}" if points and abs(g) < 0.995 else "100" if points else f"{g:.2g}"
            for g in (self.gain.low, self.gain.high)
        )
        gain = f"gain {low} to {high}{' points' if points else ''} with 95 % confidence"
        seeds = f"mean of {self.seeds} random seeds" if self.seeds > 1 else "one random seed"
        return f"{head} ({seeds}, same {self.steps:,} steps; {gain}).{f' {self.later}' if self.later else ''}"

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Returns the result of testing the fix as plain values for JSON."""
        names = (
            "kind",
            "fix",
            "words",
            "diff",
            "before",
            "after",
            "gain",
            "unit",
            "examples",
            "steps",
            "seeds",
            "later",
        )
        return to_json_value(
            {name: getattr(self, name) for name in names} | {"proven": self.is_proven, "sentence": self.sentence}
        )

    def plot(self, id: str) -> Plot:
        """Plots the training curves without and with the fix."""
        assert self.runs is not None
        label, curves = _curves(self.runs)
        names = ("as given", f"with {self.words}")
        lines = tuple(
            Line(name, [max(1, s) for s in run.steps.tolist()], curve, "solid", i)
            for i, (name, run, curve) in enumerate(zip(names, self.runs, curves, strict=True))
        )
        return Plot("Without and with the fix", lines, Axis("step", log=True), Axis(label), self.sentence, id=id)


def advice_after_trials(finding: Finding, found: "TriedFixes", *, several: bool) -> str:
    """Returns the advice for a reported problem: which fixes were tested and whether they helped.

    If a fix is proven and there were ``several`` to choose from, the advice is to apply that one. If none helps, the
    general text names what was tried.

    >>> from gnomon.findings.training import TRAINING_DIVERGED
    >>> gain = Interval(-0.01, 0.01, 0.95)
    >>> one = TriedFix("training-diverged", "lower-rate", "lr=0.1", "", 0.3, 0.3, gain, "accuracy", 500, 400)
    >>> advice_after_trials(Finding(TRAINING_DIVERGED, "", {"lr": 1.0}), TriedFixes((one,)), several=False)
    'Use a learning rate below 1. Tried without a clear gain: lr=0.1.'
    """
    own = [one for one in found.tried if one.kind == finding.kind]
    proven = next((one for one in own if one.is_proven), None)
    if proven is not None:
        words = proven.words if proven.words.startswith("without ") else f"with {proven.words}"
        return f"Train {words}." if several or proven.fix in CHOSEN_BY_TRIAL else finding.fix
    names = [one.words for one in own if one.fix not in ONLY_GUESSES]
    tried = ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")
    return f"{finding.fix} Tried without a clear gain: {tried}." if tried else finding.fix


@dataclass(frozen=True, slots=True, eq=False)
class TriedFixes(Record):
    """Result: all fixes that were tested, in order, and the ids of untested fixes, each with the reason."""

    tried: tuple[TriedFix, ...]
    untried: tuple[str, ...] = ()

    @property
    def proven_fixes(self) -> tuple[TriedFix, ...]:
        """Returns the tested fixes that helped."""
        return tuple(one for one in self.tried if one.is_proven)


def format_score(value: float, unit: str) -> str:
    """Formats a score as text: percent for fractions, a number for losses.

    >>> format_score(0.5, "accuracy"), format_score(-3.0, "explained variance"), format_score(-0.25, "loss")
    ('50.0 %', 'below 0 %', '0.25')
    """
    if unit == "loss":
        return f"{-value:.3g}"
    return f"{100 * value:.1f} %" if value >= 0 else "below 0 %"


def _of(unit: str) -> str:
    words = {"accuracy": " right", "balanced accuracy": " right as a mean over classes", "loss": " loss"}
    return words.get(unit, " of the variance explained")


def _curves(runs: Sequence[TrainingRun]) -> tuple[str, list[list[float]]]:
    """Returns two training curves for a plot: held-out accuracies if both runs have them, otherwise relative losses."""
    accuracies = [run.test_accuracy for run in runs]
    if all(curve is not None for curve in accuracies):
        return "share right on held-out examples", [curve.tolist() for curve in accuracies if curve is not None]
    losses = [run.loss if run.test_loss is None else run.test_loss for run in runs]
    return "held-out loss, relative to its start", [(loss / loss[0].abs().clamp(min=1e-30)).tolist() for loss in losses]
