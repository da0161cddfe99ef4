"""Checks whether the user's regression loss determines the mean and the scale of the outputs.

    l(f, y) = l(2 f + c, y)    for outputs f and a constant c                                                 (1)

A loss such as one minus the correlation is blind to level and scale: training leaves both to chance, and predictions
may be far from the targets.

Hypotheses: outputs with the shape of the targets.

>>> loss_scale_findings(torch.nn.functional.mse_loss, torch.randn(20, 1), torch.randn(20, 1))
()
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["loss_scale_findings"]

SAME_LOSS = 1e-4
"""Relative difference of two losses that counts as rounding."""
MIN_EXAMPLES = 8
"""Fewest examples."""


def loss_scale_findings(loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if shifting and scaling the outputs leaves the user's loss unchanged, as with a correlation
    loss.

    These are values of the loss, so chance raises no false alarm.
    Cost: three values of the loss.

    >>> blind = lambda f, y: 1 - torch.nn.functional.cosine_similarity(f - f.mean(), y - y.mean(), 0).mean()
    >>> loss_scale_findings(blind, torch.randn(20, 1), torch.randn(20, 1))[0].kind
    'scale-free-loss'
    """
    f, y = outputs.detach(), y.detach()
    if (
        len(f) < MIN_EXAMPLES
        or not y.is_floating_point()
        or f.shape != y.shape
        or not bool((f.std() > 0) & (y.std() > 0))
    ):
        return ()
    far = 3 * float(y.abs().max()) + 1
    f = f / f.std() * y.std()  # The trial outputs get the spread of the targets, so that rounding does not matter.
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            given, moved, other = (float(loss(t, y)) for t in (f, 2 * f + far, f.roll(1, 0)))
    except Exception:  # The loss raises an error for these outputs, which the training section reports.
        return ()
    close = SAME_LOSS * max(abs(given), 1e-6)
    if abs(moved - given) > close or abs(other - given) <= close:  # (1); a loss that never changes is another problem
        return ()
    return (Finding(kinds.LOSS_BLIND_TO_SCALE, "loss", {"loss": given}, (), 0.0),)
