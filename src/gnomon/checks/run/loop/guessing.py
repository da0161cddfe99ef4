"""Finds a classifier that stays at the loss of guessing, although labels look unrelated to inputs.

A prediction that ignores the inputs reaches at best the entropy H of the labels: with the shares p_c of the classes,

    H = - sum_c p_c log p_c                                                                              (1)

>>> from gnomon.checks.run.loop.facts import LoaderFacts
>>> loader = LoaderFacts(60, 20, 3, backwards=60, counts=(80, 80), related=False)
>>> losses = tuple((step, 0.7) for step in range(60))
>>> facts = LoopFacts(steps=60, losses=losses, loaders=(loader,), mean_loss="NllLoss")
>>> [finding.kind for finding in guessing_findings_of_loop(facts)]
['labels-unrelated']
"""

from collections.abc import Sequence
from math import isfinite, log, nan
from statistics import mean

from gnomon.checks.run.loop.facts import LoopFacts, ValuesByStep
from gnomon.core.results import Finding
from gnomon.findings import loop_losses as loss_kinds

__all__ = ["guessing_findings_of_loop", "is_loss_of_guessing", "late_value"]

MIN_LOSSES = 30
"""Losses for a judgment."""
MIN_PASSES = 3
"""Passes over the data for a judgment."""
MIN_SHARE_OF_ENTROPY = 0.97
"""Part of the entropy of the labels that a network without any relation to use cannot go below, apart from chance."""


def guessing_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports labels that look unrelated to inputs, if the loss stays at the loss of guessing as well.

    >>> guessing_findings_of_loop(LoopFacts())
    []
    """
    training = [one for one in facts.loaders if one.backwards]
    if len(training) != 1 or len(facts.losses) < MIN_LOSSES or not facts.mean_loss.startswith("NllLoss"):
        return []
    (one,), late = training, late_value(facts.losses)
    if one.passes < MIN_PASSES or one.related is not False or not is_loss_of_guessing(late, one.counts):
        return []
    values = {"loss": late, "entropy": entropy_of_labels(one.counts), "passes": one.passes}
    return [Finding(loss_kinds.LOSS_OF_GUESSING, values=values)]


def late_value(series: ValuesByStep) -> float:
    """Returns the mean of the last third of a series; NaN if it is empty.

    >>> late_value(((1, 9.0), (2, 9.0), (3, 2.0)))
    2.0
    """
    values = [value for _, value in series if isfinite(value)]
    return mean(values[-max(1, len(values) // 3) :]) if values else nan


def is_loss_of_guessing(loss: float, counts: Sequence[int]) -> bool:
    """Checks whether a cross-entropy is at least what predictions without the inputs reach, see (1).

    >>> is_loss_of_guessing(0.7, (5, 5)), is_loss_of_guessing(0.5, (5, 5))
    (True, False)
    """
    return len(counts) > 1 and loss >= MIN_SHARE_OF_ENTROPY * entropy_of_labels(counts)


def entropy_of_labels(counts: Sequence[int]) -> float:
    """Returns the entropy (1) of labels with these numbers of examples, in nats.

    >>> round(entropy_of_labels((1, 1)), 4)
    0.6931
    """
    total = sum(counts)
    return -sum(n / total * log(n / total) for n in counts if n)
