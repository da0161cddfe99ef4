"""Finds targets for which the loss can fall without limit, such as class indices in binary cross-entropy.

Binary cross-entropy is made for targets in [0, 1]. With output f (a logit) and target y it is

    l(f, y) = log(1 + e^f) - y f,    l -> -infinity as f -> infinity if y > 1, or as f -> -infinity if y < 0        (1)

so that training pushes outputs to infinity and the loss becomes negative. The Poisson loss e^f - y f has the same
defect for y < 0. Such a loss is recognized by its values: it is evaluated at large outputs, with the targets as they
are and with the targets moved into the accepted range. If only the first falls without bound, the targets are at fault.

Hypotheses: a loss (outputs, targets) -> number that treats outputs one by one.
Reference: [bishop2006pattern], section 4.3.2.

>>> import torch
>>> y = torch.tensor([[0.0], [1.0], [2.0]])
>>> unbounded_loss_findings(torch.nn.functional.binary_cross_entropy_with_logits, torch.zeros(3, 1), y)[0].kind
'targets-outside-loss'
>>> unbounded_loss_findings(torch.nn.functional.mse_loss, torch.zeros(3, 1), y)
()
"""

from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.checks.data.class_numbers import consecutive_integer_range
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["unbounded_loss_findings"]

LARGE_OUTPUTS = (1e2, 1e4)
"""Sizes of the outputs at which the loss is compared; a loss that falls in proportion to them has no minimum."""
UNBOUNDED_LOSS = -1.0
"""A loss below this value at large outputs, and falling, has no minimum."""
INSIDE = (1e-3, 1 - 1e-3)
"""Outputs close to the ends of (0, 1), tried for losses that accept only probabilities."""
RANGES = ((0.0, 1.0), (0.0, torch.inf))
"""Ranges of targets that losses accept: binary cross-entropy, then Poisson."""


def unbounded_loss_findings(
    loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a problem if the loss can fall without limit for these targets but not for valid ones.

    See equation (1) of the module docstring.
    These are values of the loss, so chance raises no false alarm.
    Cost: at most twelve values of the loss.

    >>> probabilities = torch.full((2, 1), 0.5)
    >>> unbounded_loss_findings(torch.nn.functional.binary_cross_entropy, probabilities, torch.tensor([[3.0], [1.0]]))[
    ...     0].values["example"]
    3.0
    """
    if not y.is_floating_point() or y.numel() != outputs.numel():
        return ()
    for low, high in RANGES:
        outside = (y < low) | (y > high)
        if not bool(outside.any()):
            continue
        away = torch.where(y > high, 1.0, torch.where(y < low, -1.0, 0.0)).reshape(outputs.shape)
        inside = y.clamp(low, high)
        unbounded = not _has_minimum(loss, away, y) and _has_minimum(loss, away, inside)
        if unbounded or _is_negative_only(loss, away, y, inside):
            return (_finding(y, outside, low, high),)
    return ()


def _finding(y: Tensor, outside: Tensor, low: float, high: float) -> Finding:
    share, example = float(outside.double().mean()), float(y[outside].flatten()[0])
    accepted = f"{low:g} to {high:g}" if high < torch.inf else f"{low:g} or more"
    ends = consecutive_integer_range(y) if y.numel() == len(y) else None
    values = {"share": share, "example": example, "accepted": accepted}
    evidence = (Value("share of targets outside", share),)
    if ends is None:
        return Finding(kinds.TARGETS_OUTSIDE_LOSS, "labels", values, evidence)
    count = ends[1] - ends[0] + 1
    return Finding(kinds.CLASSES_ON_ONE_OUTPUT, "labels", {**values, "classes": count, "last": ends[1]}, evidence)


def _has_minimum(loss: Callable[[Tensor, Tensor], Tensor], away: Tensor, y: Tensor) -> bool:
    """Checks whether the loss accepts the targets and stays bounded below as outputs grow.

    ``away`` has 1 or -1 for targets above or below the range, and 0 for others.
    """
    near, far = (_value(loss, size * away, y) for size in LARGE_OUTPUTS)
    if near is not None and far is not None:
        return far > UNBOUNDED_LOSS or far > 2 * near
    low, high = INSIDE
    edge = _value(loss, torch.where(away > 0, high, torch.where(away < 0, low, 0.5)), y)
    return edge is not None and edge > UNBOUNDED_LOSS


def _is_negative_only(loss: Callable[[Tensor, Tensor], Tensor], away: Tensor, y: Tensor, inside: Tensor) -> bool:
    """Checks whether the loss becomes very negative with the given targets, but never with targets in the valid range.

    A loss that cuts its outputs at the ends of their range has a minimum, but not at the targets.
    """
    tried = [size * away for size in LARGE_OUTPUTS]
    tried.append(torch.where(away > 0, INSIDE[1], torch.where(away < 0, INSIDE[0], 0.5)))
    values, usual = ([_value(loss, f, t) for f in tried] for t in (y, inside))
    lowest = min((v for v in values if v is not None), default=0.0)
    return lowest < UNBOUNDED_LOSS and all(v is not None and v >= 0 for v in usual)


def _value(loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor) -> float | None:
    """Evaluates a loss; returns None if the loss raises an error or is not finite."""
    try:
        with torch.no_grad():
            value = float(loss(outputs, y).double().mean())
    except Exception:  # The loss may accept only outputs or targets between 0 and 1, and raise any error for others.
        return None
    return value if value == value and abs(value) != torch.inf else None
