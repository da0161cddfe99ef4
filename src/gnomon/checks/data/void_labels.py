"""Finds a label that marks unknown positions, such as 255 or -100, but that the loss treats as a class.

Labels of classes are 0, 1, ..., k - 1. A label far above them, or a negative one, means "do not count this position".
The loss ignores it only with the option ``ignore_index``. Whether it does is seen from the gradient:

    share of unknown positions i with dl / df_i != 0                                                            (1)

is 0 for a loss that ignores them, and 1 for a loss that counts them. A loss that refuses the label fails at once.

Hypotheses: integer labels, one for each position; outputs with one axis more than the labels.
Reference: [everingham2015pascal], on borders that are not scored.

>>> import torch
>>> from torch.nn import functional as F
>>> y = torch.tensor([[0, 1, 255, 2]])
>>> void_label_findings(lambda f, t: F.cross_entropy(f, t, ignore_index=255), torch.zeros(1, 3, 4), y)
()
>>> void_label_findings(lambda f, t: F.cross_entropy(f, t.remainder(3)), torch.zeros(1, 3, 4), y)[0].values["label"]
255
"""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["void_label", "void_label_findings"]

USUAL_VOID_LABELS = (255, -1, -100)
"""Labels that data sets and losses use for unknown positions."""
MIN_COUNTED_SHARE = 0.5
"""Share (1) above which the loss counts unknown positions."""


def void_label(y: Int[Tensor, "n *shape"]) -> int | None:
    """Returns the label that marks unknown positions, such as 255; None if there is none.

    >>> void_label(torch.tensor([0, 1, 255])), void_label(torch.tensor([0, 1, 2])), void_label(torch.arange(256))
    (255, None, None)
    """
    values = y.unique().tolist()
    for label in USUAL_VOID_LABELS:
        others = [value for value in values if value != label]
        if label in values and others and min(others) >= 0 and (label < 0 or max(others) + 1 < label):
            return label
    return None


def void_label_findings(
    loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Int[Tensor, "n *shape"]
) -> tuple[Finding, ...]:
    """Reports a problem if the loss treats the label for unknown positions as a class, or rejects it.

    See equation (1) of the module docstring.
    This is read from gradients, so chance raises no false alarm.
    Cost: one gradient of the loss.

    >>> void_label_findings(torch.nn.functional.cross_entropy, torch.zeros(4, 3), torch.tensor([0, 1, 2, 1]))
    ()
    """
    label = void_label(y)
    if label is None:
        return ()
    share = float((y == label).double().mean())
    evidence = (Value("share of positions with this label", share),)
    f = outputs.detach().clone().requires_grad_()
    try:
        with torch.enable_grad():
            gradient = torch.autograd.grad(loss(f, y).mean(), f)[0]
    except Exception:  # Losses such as cross-entropy raise an error for labels that are not classes.
        return (Finding(kinds.VOID_LABEL_REFUSED, "labels", {"label": label, "share": share}, evidence),)
    axis = next((a for a in range(1, f.dim()) if f.shape[:a] + f.shape[a + 1 :] == y.shape), None)
    if axis is None:
        return ()
    counted = float((gradient.abs().sum(axis)[y == label] > 0).double().mean())  # (1)
    if counted < MIN_COUNTED_SHARE:
        return ()
    return (Finding(kinds.VOID_LABEL_COUNTED, "labels", {"label": label, "share": share}, evidence),)
