"""Checks whether the user's loss is smallest for outputs that fit the targets.

Two mistakes in a loss move its minimum away from the targets:

    l(k y, y) < l(y, y) = 0          for k > 1 and targets y in [0, 1]                                       (1)
    l(f_j = c, y) -> 0               for every y, as one output f_j of all examples grows                    (2)

(1) is an overlap such as the Dice loss of unbounded outputs: outputs that overshoot the targets have less loss than
correct outputs. (2) is a likelihood without its normalization: exp(-s) (y - f)^2 without + s vanishes as s grows,
whatever f predicts.

Hypotheses: a loss (outputs, targets) -> number; outputs have the size of the targets for (1).
Reference: [kendall2017what], equation (8), has the term that (2) lacks.

>>> import torch
>>> loss_minimum_findings(torch.nn.functional.mse_loss, torch.zeros(8, 1), torch.ones(8, 1))
()
"""

from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["loss_minimum_findings"]

OVERSHOOT_FACTOR = 100.0
"""Factor k of equation (1)."""
MAX_LOSS_AT_TARGETS = 0.02
"""Largest loss at the targets that counts as zero, as a share of the loss of inverted targets; overlaps add a constant
to avoid dividing by zero."""
MIN_GAIN_OF_OVERSHOOT = 0.1
"""Smallest gain of outputs that overshoot, as a share of the loss of inverted targets; well above rounding."""
LARGE_OUTPUTS = (30.0, -30.0, 1e4, -1e4)
"""Values c of equation (2): the first two for exponentials, the others for powers."""
VANISHED_LOSS = 1e-3
"""Share of the loss of the given outputs that counts as zero."""
MAX_OUTPUTS = 16
"""Most outputs of an example that are tried one by one."""
MIN_EXAMPLES = 8


def loss_minimum_findings(loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if outputs far from the targets have less loss than outputs that equal the targets.

    These are values of the loss, so chance raises no false alarm.
    Cost: at most 132 values of the loss.

    >>> dice = lambda p, y: 1 - 2 * (p * y).sum() / (p.sum() + y.sum())
    >>> loss_minimum_findings(dice, torch.zeros(8, 1), (torch.arange(8.0) % 2)[:, None])[0].kind
    'loss-rewards-overshoot'
    """
    if len(outputs) < MIN_EXAMPLES or not y.is_floating_point() or not y.numel():
        return ()
    f, y = outputs.detach(), y.detach()
    return _overshoot(loss, f, y) or _without_targets(loss, f, y)


def _overshoot(loss: Callable[[Tensor, Tensor], Tensor], f: Tensor, y: Tensor) -> tuple[Finding, ...]:
    if f.numel() != y.numel() or float(y.min()) < 0 or float(y.max()) > 1 or float(y.min()) == float(y.max()):
        return ()
    perfect = y.reshape(f.shape).to(f.dtype)
    values = [_value(loss, t, y) for t in (perfect, 1 - perfect, OVERSHOOT_FACTOR * perfect)]
    if any(value is None for value in values):
        return ()
    at_targets, inverted, overshot = (float(value) for value in values if value is not None)
    if inverted <= 0 or abs(at_targets) > MAX_LOSS_AT_TARGETS * inverted:
        return ()  # The loss does not compare outputs with targets directly; it may apply a sigmoid to them.
    if at_targets - overshot <= MIN_GAIN_OF_OVERSHOOT * inverted:
        return ()
    return (
        Finding(
            kinds.OVERSHOOT_REWARDED, "loss", {"right": at_targets, "overshot": overshot, "factor": OVERSHOOT_FACTOR}
        ),
    )


def _without_targets(loss: Callable[[Tensor, Tensor], Tensor], f: Tensor, y: Tensor) -> tuple[Finding, ...]:
    if f.ndim != 2 or not 2 <= f.shape[1] <= MAX_OUTPUTS or bool((y == y[:1]).all()):
        return ()
    given, other = _value(loss, f, y), y.roll(1, 0)
    if given is None or given <= 0:
        return ()
    for j in range(f.shape[1]):
        for c in LARGE_OUTPUTS:
            moved = f.clone()
            moved[:, j] = c
            values = [_value(loss, moved, t) for t in (y, other)]
            if all(value is not None and 0 <= value <= VANISHED_LOSS * given for value in values):
                return (Finding(kinds.LOSS_WITHOUT_TARGETS, "loss", {"output": j, "value": c, "given": given}),)
    return ()


def _value(loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor) -> float | None:
    """Evaluates a loss; returns None if the loss raises an error or is not finite."""
    try:
        with torch.no_grad():
            value = float(loss(outputs, y))
    except Exception:  # The loss may accept only some outputs, and raise any error for others.
        return None
    return value if abs(value) < torch.inf else None
