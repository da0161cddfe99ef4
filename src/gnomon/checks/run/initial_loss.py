"""Compares the loss before training with the loss of guessing all classes equally.

A network that knows nothing gives all K classes about the same score, so that its cross-entropy is near

    l_0 = ln K                                                                                                (1)

A much higher loss means that the first outputs are large and wrong. A loss of the user's own is compared with the
cross-entropy of the same outputs: it may be smaller (focal loss, squared errors), but it is neither negative nor many
times larger, unless it expects other outputs or is summed instead of averaged.

Hypotheses: integer classes, one output for each class.
Reference: [karpathy2019recipe].

>>> initial_loss_findings(torch.zeros(20, 4), torch.arange(20) % 4, loss=None)
()
>>> initial_loss_findings(60 * torch.eye(4)[torch.arange(20) % 4], (torch.arange(20) + 1) % 4, loss=None)[0].kind
'initial-loss'
"""

import warnings
from collections.abc import Callable
from math import isfinite, log

import torch
from torch import Tensor
from torch.nn import functional as F

from gnomon.core.results import Finding, Value
from gnomon.findings import training as kinds

__all__ = ["initial_loss_findings"]

MAX_RATIO = 4.0
"""Multiple of ln K from which the first outputs are called too large; usual initializations stay below 1.5."""
MAX_RATIO_TO_CROSS_ENTROPY = 5.0
"""Multiple of the cross-entropy from which a loss of the user's own is called too large."""
MIN_EXAMPLES = 16
"""Fewest examples."""


def initial_loss_findings(
    outputs: Tensor, y: Tensor, *, loss: Callable[[Tensor, Tensor], Tensor] | None
) -> tuple[Finding, ...]:
    """Reports a problem if the loss before training is far from the loss of guessing all classes equally.

    To be used for networks that end with poor results.
    False alarms: 0 of 240 healthy networks of six kinds.
    Cost: one value of the loss.

    >>> initial_loss_findings(torch.zeros(20, 4), torch.arange(20) % 4, loss=lambda f, y: -f.exp().mean())[0].kind
    'initial-loss'
    """
    if outputs.dim() != 2 or outputs.shape[1] < 2 or y.is_floating_point() or y.dim() != 1 or len(y) < MIN_EXAMPLES:
        return ()
    f, classes = outputs.detach().double(), outputs.shape[1]
    cross_entropy, guess = float(F.cross_entropy(f, y.to(f.device))), log(classes)  # (1)
    if loss is None:
        if not isfinite(cross_entropy) or cross_entropy <= MAX_RATIO * guess:
            return ()
        values = {"start": cross_entropy, "guess": guess, "classes": classes}
        return (Finding(kinds.INITIAL_LOSS_HIGH, "loss", values, (Value("loss before training", cross_entropy),)),)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            start = float(loss(outputs.detach(), y))
    except Exception:  # The loss raises an error for these outputs, which the training section reports.
        return ()
    if not isfinite(start) or 0 <= start <= MAX_RATIO_TO_CROSS_ENTROPY * max(cross_entropy, guess):
        return ()
    values = {"start": start, "cross_entropy": cross_entropy, "guess": guess, "classes": classes}
    row = kinds.INITIAL_LOSS_NEGATIVE if start < 0 else kinds.INITIAL_LOSS_OTHER
    return (Finding(row, "loss", values, (Value("loss before training", start),)),)
