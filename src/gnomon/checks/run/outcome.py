"""Judges the accuracy of a trained classifier: no better than guessing, worse than a simple model, or overfitted.

With k of n training and l of m test examples right, the gap of the two shares is judged by the pooled normal test

    z = (k / n - l / m) / sqrt(p (1 - p) (1 / n + 1 / m)),    p = (k + l) / (n + m)                             (1)

Reference: [hastie2009elements], chapter 7.

>>> [f.kind for f in outcome_findings(AccuracyOutcome(0.99, 0.7, 2000, 500, guess=0.1, simple=0.75))]
['overfit']
>>> outcome_findings(AccuracyOutcome(0.99, 0.97, 2000, 500, guess=0.1, simple=0.95))
()
"""

from dataclasses import dataclass
from math import sqrt

from gnomon.core.results import Finding, Value
from gnomon.core.results.record import Record
from gnomon.findings import training as kinds

__all__ = ["AccuracyOutcome", "outcome_findings", "advice_for_overfitting"]

OVERFIT_Z = 4.0
"""z-score threshold of (1); the false-alarm rate is 3e-5."""
MIN_ACCURACY_GAP = 0.1
"""Gap between training and test accuracy that is worth closing."""
LARGE_GAP = 0.4
"""Gap at which most of what the network learned does not hold on test examples."""
MIN_BASELINE_LEAD = 0.1
"""Lead of a simple model over the training accuracy at which training failed."""

FAR_BASELINE_LEAD = 0.25
"""Lead of a simple model over the training score at which the network is a problem rather than a compromise."""

MIN_SAVED_ERRORS = 0.1
"""Share of the errors of guessing that training must avoid on its own examples to have learned anything."""
MAX_LARGEST_CLASS = 0.6
"""Maximum share of the largest class for using `MIN_SAVED_ERRORS`."""

MIN_GAIN_OF_DOUBLING = 0.01
"""Gain from doubling the data at which collecting more is worthwhile."""


@dataclass(frozen=True, slots=True)
class AccuracyOutcome(Record):
    """Accuracies of a trained network on train and test, with numbers of examples and accuracies of simple baselines.

    ``guess`` is the accuracy of always guessing the largest class, ``simple`` the accuracy of kernel regression on
    held-out examples (0 if it is not known), ``gain`` what doubling the data to ``fitted`` examples brought a simple
    model (0 if it is not known), ``alike`` the accuracy on test with classes as frequent as in train if it is known.
    ``advice`` says what helps a network that fits badly.
    """

    train: float
    test: float | None
    examples: int
    tested: int
    guess: float
    simple: float = 0.0
    gain: float = 0.0
    fitted: int = 0
    alike: float | None = None
    advice: str = kinds.MORE_CAPACITY


def outcome_findings(outcome: AccuracyOutcome) -> tuple[Finding, ...]:
    """Reports overfitting, underfitting or no learning of a classifier, each with a fix.

    For runs that were long enough. False alarms: 3e-5 by (1) for overfitting; underfitting is detected by a difference
    of ten points in accuracy, which has a deviation of at most 2 points from 600 examples on.

    Hypotheses: independent examples.
    Reference: [hastie2009elements].

    >>> outcome_findings(AccuracyOutcome(0.12, 0.1, 2000, 500, guess=0.1, simple=0.9))[0].kind
    'not-learning'
    """
    return (*_underfit(outcome), *_overfit(outcome))


def _underfit(found: AccuracyOutcome) -> tuple[Finding, ...]:
    deviation = sqrt(found.guess * (1 - found.guess) / max(1, found.examples))
    values = {"train": found.train, "guess": found.guess, "simple": found.simple, "advice": found.advice}
    evidence = (
        Value("accuracy on train", found.train),
        Value("accuracy of kernel regression", found.simple, meaning="held-out examples"),
        Value("accuracy of always guessing the largest class", found.guess),
    )
    if found.train <= found.guess + 2 * deviation and 0 < found.simple <= found.guess + 2 * deviation:
        return (Finding(kinds.NOTHING_LEARNED, "", values, evidence),)
    if found.simple - found.train <= MIN_BASELINE_LEAD:
        return _hardly(found, evidence)
    if found.train <= found.guess + max(0.03, 4 * deviation) < found.simple:
        return (Finding(kinds.NOT_LEARNING, "", values, evidence, 1e-4),)
    row = kinds.FAR_BELOW_SIMPLE if found.simple - found.train > FAR_BASELINE_LEAD else kinds.UNDERFIT
    return (Finding(row, "", values, evidence, 1e-4),)


def _hardly(found: AccuracyOutcome, evidence: tuple[Value, ...]) -> tuple[Finding, ...]:
    """Reports a network that is hardly better than guessing, if no simple model shows that better is possible."""
    if found.guess > MAX_LARGEST_CLASS or found.train - found.guess >= MIN_SAVED_ERRORS * (1 - found.guess):
        return ()
    return (Finding(kinds.HARDLY_LEARNED, "", {"train": found.train, "guess": found.guess}, evidence),)


def advice_for_overfitting(gain: float, fitted: int, unit: str) -> str:
    """Returns advice against overfitting; recommends more data if doubling the data clearly improves a simple model.

    >>> advice_for_overfitting(0.04, 300, "accuracy").partition(";")[0]
    'Collect more examples (300 instead of 150 gave a simple model +4.0 points of accuracy)'
    """
    others = "stop earlier, add weight_decay or dropout, or augment"
    if not fitted:
        return f"{others[0].upper()}{others[1:]}; more examples also help."
    told = f"({fitted:,} instead of {fitted // 2:,} gave a simple model {100 * gain:+.1f} points of {unit})"
    if gain >= MIN_GAIN_OF_DOUBLING:
        return f"Collect more examples {told}; or {others}."
    return f"{others[0].upper()}{others[1:]}; more examples would help little {told}."


def _overfit(found: AccuracyOutcome) -> tuple[Finding, ...]:
    if found.test is None or not found.tested or not found.examples:
        return ()
    n, m = found.examples, found.tested
    p = (found.train * n + found.test * m) / (n + m)
    z = (found.train - found.test) / sqrt(max(p * (1 - p), 1e-9) * (1 / n + 1 / m))  # (1)
    # The gap in accuracy is explained if it nearly vanishes after weighting the test classes as in training.
    explained = found.alike is not None and found.train - found.alike < MIN_ACCURACY_GAP
    if z < OVERFIT_Z or found.train - found.test < MIN_ACCURACY_GAP or explained:
        return ()
    advice = advice_for_overfitting(found.gain, found.fitted, "accuracy")
    evidence = (Value("gap between train and test", found.train - found.test), Value("z-score", z))
    values = {"train": found.train, "test": found.test, "advice": advice}
    row = kinds.STRONG_OVERFIT if found.train - found.test >= LARGE_GAP else kinds.OVERFIT
    return (Finding(row, "", values, evidence, 3e-5),)
