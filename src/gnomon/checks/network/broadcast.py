"""Detects losses that compare every output with every target, because outputs are (n, 1) and targets (n,).

Elementwise losses broadcast the two shapes to (n, n), and their mean is smallest if every output is the mean of the
targets. The check calls the loss with the shapes as they are and with equal shapes: a loss that gives another number
has broadcast.

Hypotheses: a loss that is a function (outputs, targets) -> number.

>>> import torch
>>> broadcast_findings(torch.randn(8, 1), torch.randn(8), torch.nn.functional.mse_loss)[0].kind
'broadcast-loss'
"""

import warnings
from collections.abc import Callable
from math import isclose

from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import network as kinds

__all__ = ["broadcast_findings"]


def broadcast_findings(outputs: Tensor, y: Tensor, loss: Callable[[Tensor, Tensor], Tensor]) -> tuple[Finding, ...]:
    """Reports a problem if a user's loss broadcasts outputs and targets of different shapes against each other.

    Cost: two values of the loss.

    >>> import torch
    >>> broadcast_findings(torch.randn(8, 1), torch.randn(8, 1), torch.nn.functional.mse_loss)
    ()
    """
    f, y = outputs.detach(), y.detach()
    if f.shape == y.shape or f.numel() != y.numel() or len(f) < 2 or not y.is_floating_point():
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Hides torch's warning about broadcasting, which this finding replaces.
        try:
            given, meant = float(loss(f, y)), float(loss(f.reshape(y.shape), y))
        except Exception:  # The loss raises an error for outputs of another shape, so the user will see the problem.
            return ()
    # The two losses are equal except for rounding, which depends on the order of summation.
    if isclose(given, meant, rel_tol=1e-4, abs_tol=1e-12):
        return ()

    line = "loss_fn(model(x).squeeze(1), y)" if f.dim() > y.dim() else "loss_fn(model(x), y.squeeze(1))"
    evidence = (Value("loss as it is called", given), Value("loss of equal shapes", meant))
    values = {"outputs": tuple(f.shape), "targets": tuple(y.shape), "given": given, "meant": meant, "line": line}
    return (Finding(kinds.BROADCAST_LOSS, "loss", values, evidence, 0.0),)
