"""Tests whether the network does better than guessing.

With the share a of right decisions, the share e that would be right if decisions and labels were unrelated, the mean
cross-entropy L of the probabilities, and the cross-entropy H of always predicting the shares of the classes,

    kappa = (a - e) / (1 - e),    e = sum over classes c of (share decided c) (share labeled c)                (1)
    gain = 1 - L / H                                                                                           (2)

Both are about 0 for a guess. A network guesses if kappa and gain are both small: one that ranks rare events well but
never decides for them has a gain, and one that is too sure of many right decisions has a kappa. An untrained network is
a random function of the inputs, so its decisions are slightly related to the labels by luck. After training only luck
in the draw of the examples is left, and z = (a - e) / sqrt(e (1 - e) / n) judges it.

A regression guesses if it explains no more of the variance than predicting the mean does.

Hypotheses: independent examples.
Reference: [cohen1960coefficient] for (1).

>>> guess = torch.full((100, 2), 0.5)
>>> [f.kind for f in guessing_findings(guess, torch.arange(100) % 2, data_name="test", trained=False)]
['untrained']
"""

from math import sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.checks.run.outcome_numbers import MIN_EXPLAINED_VARIANCE
from gnomon.core.metrics import predicted_classes
from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds

__all__ = ["MIN_EXAMPLES", "guessing_findings", "regression_guessing_findings"]

MIN_EXAMPLES = 16
"""Minimum number of examples. With fewer, the 95 % interval of a share is wider than 25 points on each side."""
MAX_KAPPA_UNTRAINED = 0.2
"""Maximum kappa (1) for a network that was not trained here; untrained networks reach it by luck."""
MAX_KAPPA_TRAINED = 0.1
"""Maximum kappa (1) after training: the share of the errors of guessing that training must avoid."""
MAX_Z_TRAINED = 3.0
"""z-score against guessing after training; above it, the network has learned at least a little."""
MAX_GAIN = 0.02
"""Maximum gain (2). Untrained networks on digits reach 0.02 by luck; 59 % right on two equal classes has the same
gain."""


def guessing_findings(
    probabilities: Float[Tensor, "n k"], y: Int[Tensor, " n"], *, data_name: str, trained: bool
) -> tuple[Finding, ...]:
    """Reports a problem if a classifier's predicted probabilities are not better than guessing.

    ``data_name`` is "training" or "test"; ``trained`` says that the network was trained here. With fewer
    than `MIN_EXAMPLES` examples nothing is said.

    Hypotheses: rows of p are probabilities, labels are classes 0 to k - 1.
    Reference: [cohen1960coefficient].
    Cost: one pass.

    >>> y = torch.arange(100) % 2
    >>> guessing_findings(torch.nn.functional.one_hot(y).double(), y, data_name="test", trained=True)
    ()
    """
    n, classes = probabilities.shape
    if n < MIN_EXAMPLES or classes < 2:
        return ()
    decided = predicted_classes(probabilities)
    shares, answers = (torch.bincount(t.cpu().long(), minlength=classes).double() / n for t in (y, decided))
    right, chance = float((decided == y).double().mean()), float((shares * answers).sum())
    kappa = (right - chance) / (1 - chance) if chance < 1 else 0.0  # (1)
    present = shares[shares > 0]
    entropy = -float((present * present.log()).sum())
    own = probabilities.double().gather(1, y[:, None].long()).clamp_min(torch.finfo(torch.float64).tiny)
    gain = 1 + float(own.log().mean()) / entropy if entropy > 0 else 0.0  # (2)
    if entropy == 0.0 or gain >= MAX_GAIN or kappa >= (MAX_KAPPA_TRAINED if trained else MAX_KAPPA_UNTRAINED):
        return ()
    if trained and right - chance > MAX_Z_TRAINED * sqrt(chance * (1 - chance) / n):
        return ()
    score = (
        f"{right:.1%} of {data_name} examples are right (always guessing the largest class: {float(shares.max()):.1%})"
    )
    evidence = (Value("agreement beyond chance (kappa)", kappa), Value("gain over guessing by class frequencies", gain))
    return (_finding(score, evidence, trained=trained),)


def regression_guessing_findings(explained: float, n: int, *, data_name: str, trained: bool) -> tuple[Finding, ...]:
    """Reports a problem if a regression network explains no more of the targets' variance than predicting their mean
    does.

    Hypotheses: a squared error.
    Reference: [hastie2009elements].

    >>> [f.kind for f in regression_guessing_findings(-0.3, 100, data_name="test", trained=True)]
    ['chance-level']
    >>> regression_guessing_findings(0.5, 100, data_name="test", trained=True)
    ()
    """
    if n < MIN_EXAMPLES or explained > MIN_EXPLAINED_VARIANCE:
        return ()
    share = f"{max(explained, 0.0):.1%}"
    score = f"{share} of the variance of {data_name} targets is explained (always predicting their mean: 0%)"
    return (_finding(score, (Value("variance explained", explained),), trained=trained),)


def _finding(score: str, evidence: tuple[Value, ...], *, trained: bool) -> Finding:
    return Finding(kinds.CHANCE_LEVEL if trained else kinds.UNTRAINED, "", {"score": score}, evidence)
