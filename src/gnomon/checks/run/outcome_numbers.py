"""Judges a trained regression network: worse than a simple model, or overfitted.

With the squared errors a_i of n training and b_j of m test examples in units of the variance of the targets, the gap of
their means is judged by Welch's

    z = (mean b - mean a) / sqrt(var a / n + var b / m)                                                         (1)

Reference: [welch1947generalization]; [hastie2009elements], chapter 7.

>>> import torch
>>> a, b = torch.full((400,), 0.01), torch.full((200,), 0.6) + 0.1 * torch.randn(200)
>>> [f.kind for f in regression_outcome_findings(a, b, simple=0.4)], regression_outcome_findings(a, a + 1e-3,
...     simple=0.9)
(['overfit'], ())
"""

from math import sqrt

from jaxtyping import Float
from torch import Tensor

from gnomon.checks.run.outcome import (
    FAR_BASELINE_LEAD,
    LARGE_GAP,
    MIN_ACCURACY_GAP,
    MIN_BASELINE_LEAD,
    OVERFIT_Z,
    advice_for_overfitting,
)
from gnomon.core.results import Finding, Value
from gnomon.findings import data as data_kinds
from gnomon.findings import training as training_kinds

__all__ = ["regression_outcome_findings"]

MIN_EXPLAINED_VARIANCE = 0.03
"""Share of explained variance up to which nothing was learned."""


def regression_outcome_findings(
    train: Float[Tensor, " n"],
    test: Float[Tensor, " m"] | None,
    *,
    simple: float = 0.0,
    fix: str = "",
    advice: str = training_kinds.MORE_CAPACITY,
) -> tuple[Finding, ...]:
    """Reports overfitting, underfitting or no learning of a regression network, from its squared errors on train and
    test.

    ``simple`` is the share of the variance that a simple model explains on held-out examples, 0 if it is not known,
    ``fix`` what helps against overfitting and ``advice`` what helps a network that fits badly.

    Hypotheses: independent examples. False alarms: 3e-5 by (1) for overfitting; underfitting is a difference of ten
    points of explained variance, and three deviations of the training error in addition.
    Reference: [welch1947generalization].
    Cost: one pass over the errors.

    >>> import torch
    >>> regression_outcome_findings(torch.ones(100), None, simple=0.8)[0].kind                    # the mean, no more
    'not-learning'
    """
    explained = 1 - float(train.mean())
    evidence = (
        Value("variance explained on train", explained),
        Value("variance explained by ridge regression on random features", simple, meaning="held-out examples"),
    )
    values = {"explained": max(explained, 0.0), "simple": max(simple, 0.0), "advice": advice}
    error = float(train.std()) / len(train) ** 0.5 if len(train) > 1 else 1.0
    if explained <= MIN_EXPLAINED_VARIANCE and simple <= MIN_EXPLAINED_VARIANCE and simple:
        return (Finding(training_kinds.REGRESSION_NOTHING_LEARNED, "", values, evidence),)
    if test is not None and simple and max(simple, 1 - float(test.mean())) <= MIN_EXPLAINED_VARIANCE:
        return (Finding(data_kinds.TARGETS_UNRELATED, "labels", values, evidence),)
    if simple - explained > MIN_BASELINE_LEAD + 3 * error:
        if explained <= MIN_EXPLAINED_VARIANCE:
            return (Finding(training_kinds.REGRESSION_NOT_LEARNING, "", values, evidence, 1e-4),)
        far = simple - explained > FAR_BASELINE_LEAD + 3 * error
        row = training_kinds.REGRESSION_FAR_BELOW_SIMPLE if far else training_kinds.REGRESSION_UNDERFIT
        return (Finding(row, "", values, evidence, 1e-4),)
    return _overfit(train, test, fix or advice_for_overfitting(0.0, 0, ""))


def _overfit(train: Tensor, test: Tensor | None, fix: str) -> tuple[Finding, ...]:
    if test is None or len(test) < 2 or len(train) < 2:
        return ()
    gap = float(test.mean() - train.mean())
    z = gap / max(sqrt(float(train.var()) / len(train) + float(test.var()) / len(test)), 1e-12)  # (1)
    if z < OVERFIT_Z or gap < MIN_ACCURACY_GAP:
        return ()
    values = {"train": 1 - float(train.mean()), "test": max(1 - float(test.mean()), 0.0), "advice": fix}
    evidence = (Value("gap between train and test", gap), Value("z-score", z))
    strong = gap >= LARGE_GAP
    row = training_kinds.REGRESSION_STRONG_OVERFIT if strong else training_kinds.REGRESSION_OVERFIT
    return (Finding(row, "", values, evidence, 3e-5),)
