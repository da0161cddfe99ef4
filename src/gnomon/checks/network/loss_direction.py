"""Checks whether the user's loss depends on the outputs, and is lower for correct outputs.

For classes, the loss should fall as the output of the right class rises:

    dl / df_{i, y_i} < 0    for most examples i                                                                (1)

For numbers, the loss at outputs equal to the targets should not be above the loss far away from them:

    l(y, y) <= l(y + c, y),    c = 10 standard deviations of the targets                                       (2)

Hypotheses: outputs that are real numbers, one for each class or target.

>>> from torch.nn import functional as F
>>> f, y = torch.randn(20, 3), torch.arange(20) % 3
>>> loss_direction_findings(F.cross_entropy, f, y)
()
>>> loss_direction_findings(lambda f, y: -F.cross_entropy(f, y), f, y)[0].kind
'loss-sign'
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["loss_direction_findings"]

MIN_SHARE = 0.9
"""Share of the examples for which (1) must be violated."""
FAR_IN_DEVIATIONS = 10.0
"""Distance of the outputs from the targets in (2), in standard deviations of the targets."""
MIN_EXAMPLES = 4
"""Fewest examples."""


def loss_direction_findings(
    loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor
) -> tuple[Finding, ...]:
    """Reports a problem if the user's loss does not depend on the outputs, or falls as errors grow.

    See equations (1) and (2) of the module docstring.
    These are values and gradients of the loss, so chance raises no false alarm.
    Cost: one gradient, or two values of the loss.

    >>> loss_direction_findings(lambda f, y: f.sum() * 0, torch.randn(20, 3), torch.arange(20) % 3)[0].kind
    'constant-loss'
    """
    f = outputs.detach()
    if len(f) < MIN_EXAMPLES or not f.is_floating_point():
        return ()
    try:
        with warnings.catch_warnings(), torch.enable_grad():
            warnings.simplefilter("ignore")  # Hides torch's warning about broadcasting, which another finding reports.
            slope = _slope(loss, f, y)
            if slope is None or not bool(slope.isfinite().all()):
                return ()
            if not bool(slope.any()) and not _depends_on_outputs(loss, f + torch.randn_like(f), y):
                return (Finding(kinds.CONSTANT_LOSS, "loss", {"examples": len(f)}, (), 0.0),)
            return _classes(slope, y) if not y.is_floating_point() else _numbers(loss, f, y)
    except Exception:  # The loss raises an error for these outputs, which the training section reports.
        return ()


def _depends_on_outputs(loss: Callable[[Tensor, Tensor], Tensor], f: Tensor, y: Tensor) -> bool:
    slope = _slope(loss, f, y)
    return slope is not None and bool(slope.any())


def _slope(loss: Callable[[Tensor, Tensor], Tensor], f: Tensor, y: Tensor) -> Tensor | None:
    at = f.clone().requires_grad_()
    value = loss(at, y)
    if not value.requires_grad:
        return torch.zeros_like(f)
    return torch.autograd.grad(value, at, allow_unused=True)[0]


def _classes(slope: Tensor, y: Tensor) -> tuple[Finding, ...]:
    if slope.dim() != 2 or y.dim() != 1 or slope.shape[1] < 2 or int(y.max()) >= slope.shape[1] or int(y.min()) < 0:
        return ()
    own = slope.gather(1, y[:, None])[:, 0]
    share = float((own > 0).double().mean())
    if share < MIN_SHARE:  # (1)
        return ()
    return (Finding(kinds.WRONG_SIGN, "loss", {"share": share, "examples": len(y)}, (), 0.0),)


def _numbers(loss: Callable[[Tensor, Tensor], Tensor], f: Tensor, y: Tensor) -> tuple[Finding, ...]:
    if f.shape != y.shape or f.numel() != y.numel():
        return ()
    step = FAR_IN_DEVIATIONS * float(y.double().std()) + 1.0
    near, up, down = (float(loss(y.to(f) + c, y)) for c in (0.0, step, -step))
    if not (near > up and near > down):  # (2)
        return ()
    return (Finding(kinds.WRONG_SIGN_NUMBERS, "loss", {"at_targets": near, "away": max(up, down)}, (), 0.0),)
