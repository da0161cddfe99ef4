"""Checks the scale of targets and the balance of classes.

A network begins near zero with outputs of size one. For numbers to regress on, with mean m and spread s, the loss
before training is

    (1 / 2) (m^2 + s^2 + 1) against s^2 / 2 for always predicting the mean                                      (1)

and steps that suit outputs of size one are too small, or too large, by the factor s. For classes with shares p_c,

    always guessing the largest class is right in max_c p_c of cases,                                           (2)

and any accuracy is to be read against that.

Reference: [lecun1998efficient].

>>> import torch
>>> regression_target_findings(torch.tensor([150.0, 230.0, 90.0]))[0].kind
'target-scale'
>>> [finding.kind for finding in class_findings(torch.tensor([0] * 19 + [1]), 2)]
['imbalance']
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["class_findings", "regression_target_findings"]

SPREADS = (0.03, 30.0)
"""Range of target spreads for which Adam with lr 1e-3 converges within a few thousand steps."""
MAX_OFFSET_IN_SPREADS = 10.0
"""Distance of the mean from zero, in spreads, at which 99 % of the initial loss is the mean alone."""
MAX_EXCESS_SHARE = 0.75
"""Share of the largest class, beyond its even share, above which accuracy alone is misleading."""
MAX_CLASS_RATIO = 20.0
"""Largest ratio between the most and the least frequent class."""


def regression_target_findings(y: Float[Tensor, "n *k"]) -> tuple[Finding, ...]:
    """Reports a problem if the scale or the mean of regression targets makes training slow, so that they should be
    standardized.

    See equation (1) of the module docstring.
    Hypotheses: a squared loss and outputs of size one before training.
    Reference: [lecun1998efficient].
    Cost: one pass.

    >>> regression_target_findings(torch.tensor([0.5, -1.0, 1.2]))
    ()
    """
    table = y.detach().cpu().double().reshape(len(y), -1)
    size = float(table.var(0, correction=0).mean().sqrt())
    center = float(table.mean(0).square().mean().sqrt()) if table.shape[1] > 1 else float(table.mean())
    low, high = SPREADS

    evidence = (Value("spread of the targets", size), Value("mean of the targets", center))
    if len(table) < 2:  # A standard deviation needs at least two targets.
        return ()
    if size == 0.0:
        return (Finding(kinds.CONSTANT_TARGETS, "labels", {"center": center}, evidence),)
    if low <= size <= high and (abs(center) <= MAX_OFFSET_IN_SPREADS * size or abs(center) <= 1.0):
        return ()
    start = float((table.square().mean() + 1) / table.var(0, correction=0).mean().clamp_min(1e-300))
    return (Finding(kinds.TARGET_SCALE, "labels", {"center": center, "size": size, "start": start}, evidence),)


def class_findings(y: Int[Tensor, " n"], classes: int, test: Int[Tensor, " m"] | None = None) -> tuple[Finding, ...]:
    """Reports classes that are missing, numbered from 1 instead of 0, or much rarer than others.

    See equation (2) of the module docstring.
    These are counts: false alarms by chance are impossible. ``test`` are the classes of the test examples, if any.
    Hypotheses: none.
    Reference: [lecun1998efficient].
    Cost: one pass.

    >>> [f.kind for f in class_findings(torch.tensor([1, 2, 3]), 4)], class_findings(torch.tensor([0, 1, 1]), 2)
    (['labels-off-by-one'], ())
    """
    counts = torch.bincount(y.cpu().long(), minlength=classes)
    tested = counts if test is None else torch.bincount(test.cpu().long(), minlength=classes)
    unseen = ((counts == 0) & (tested > 0)).nonzero()[:, 0].tolist()
    found = []
    if unseen:
        share = float(tested[unseen].sum() / tested.sum())
        missing = (Value("classes missing", len(unseen)),)
        found.append(Finding(kinds.CLASS_MISSING, "labels", {"first": unseen[0], "share": share}, missing))
    if int(counts[0]) == 0 and int(tested[0]) == 0 and classes > 2 and bool((counts[1:] > 0).all()):
        found.append(Finding(kinds.LABELS_OFF_BY_ONE, "labels", {"last": classes - 1}))
    return (*found, *_imbalance(counts[counts > 0]))


def _imbalance(counts: Tensor) -> tuple[Finding, ...]:
    if len(counts) < 2:
        return ()
    largest, ratio = float(counts.max() / counts.sum()), float(counts.max() / counts.min())
    even = 1 / len(counts)
    if largest < even + MAX_EXCESS_SHARE * (1 - even) and ratio < MAX_CLASS_RATIO:
        return ()
    evidence = (Value("accuracy of always guessing the largest class", largest),)
    return (Finding(kinds.IMBALANCE, "labels", {"largest": largest, "ratio": ratio}, evidence),)
