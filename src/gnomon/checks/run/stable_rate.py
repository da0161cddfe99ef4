"""Compares the learning rate with the largest stable one, which the curvature of the loss determines.

    limit = 2 (1 + momentum) / lambda_max(Hessian of the loss)                                              (1)

Reference: [cohen2021gradient].
"""

from math import isfinite

from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds

__all__ = ["stable_rate_findings"]

SMALL_SHARE = 0.1
"""Share of the stable learning rate below which a larger one is worth trying: a note."""
TINY_SHARE = 0.01
"""Share of the stable learning rate below which training takes a hundred times as long as it could: a warning."""


def stable_rate_findings(lr: float, momentum: float, largest_stable_lr: float) -> tuple[Finding, ...]:
    """Reports a learning rate that is above the largest stable one, or far below it.

    See equation (1) of the module docstring.

    >>> [finding.kind for finding in stable_rate_findings(3.0, 0.0, 2.0)], stable_rate_findings(1.0, 0.0, 2.0)
    (['learning-rate-too-large'], ())
    """
    if not isfinite(largest_stable_lr):
        return ()
    evidence = (Value("learning rate in use", lr), Value("stable limit", largest_stable_lr, obtained="estimate"))
    values = {"lr": lr, "limit": largest_stable_lr, "half": 0.5 * largest_stable_lr}
    if lr > largest_stable_lr:
        return (Finding(kinds.ABOVE_STABLE, "optimizer", {**values, "ratio": lr / largest_stable_lr}, evidence),)
    # Momentum beta multiplies the effective learning rate by 1 / (1 - beta).
    pace = lr / (1 - momentum) / (largest_stable_lr / (1 + momentum))
    if pace >= SMALL_SHARE:
        return ()
    row = kinds.FAR_BELOW_STABLE if pace < TINY_SHARE else kinds.LEARNING_RATE_SMALL
    return (Finding(row, "optimizer", {**values, "ratio": largest_stable_lr / lr}, evidence),)
