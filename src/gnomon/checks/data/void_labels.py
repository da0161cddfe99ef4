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
>>> placeholder_label_findings(lambda f, t: F.cross_entropy(f, t, ignore_index=255), torch.zeros(1, 3, 4), y)
()
>>> loss = lambda f, t: F.cross_entropy(f, t.remainder(3))
>>> placeholder_label_findings(loss, torch.zeros(1, 3, 4), y)[0].values["label"]
255
"""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["padding_label", "placeholder_label", "placeholder_label_findings"]

USUAL_VOID_LABELS = (255, -1, -100)
"""Labels that data sets and losses use for unknown positions."""
MIN_SEQUENCES = 10
"""Fewest sequences in which padding is recognized."""
MIN_PADDED_SEQUENCES = 0.8
"""Share of the sequences that end with padding, at least."""
MIN_PADDING = 0.5
"""Share of the positions that padding fills, at least: with less the other positions still count most."""
MAX_INSIDE = 0.1
"""Share of the other positions with the same label, at most; more often it is a usual token."""
MIN_COUNTED_SHARE = 0.5
"""Share (1) above which the loss counts unknown positions."""


def placeholder_label(y: Int[Tensor, "n *shape"]) -> int | None:
    """Returns the label that marks unknown positions, such as 255; None if there is none.

    >>> examples = torch.tensor([0, 1, 255]), torch.tensor([0, 1, 2]), torch.arange(256)
    >>> tuple(placeholder_label(y) for y in examples)
    (255, None, None)
    """
    values = y.unique().tolist()
    for label in USUAL_VOID_LABELS:
        others = [value for value in values if value != label]
        if label in values and others and min(others) >= 0 and (label < 0 or max(others) + 1 < label):
            return label
    return None


def padding_label(y: Int[Tensor, "n *shape"]) -> int | None:
    """Returns the label that fills the ends of most sequences of labels, half of all positions or more; None if none
    does.

    >>> y = torch.arange(40).reshape(10, 4) % 7 + 1
    >>> padding_label(torch.cat((y, torch.zeros(10, 8, dtype=torch.long)), 1)), padding_label(y)
    (0, None)
    """
    if y.dim() != 2 or y.is_floating_point() or len(y) < MIN_SEQUENCES:
        return None
    for last in (y[:, -1], y[:, 0]):
        label = int(last.mode().values)
        same = y == label
        side = same.flip(1) if last is not y[:, 0] and bool((last == y[:, -1]).all()) else same
        run = side.long().cumprod(1).sum()
        share = float(run) / y.numel()
        inside = float(same.sum() - run) / max(float(y.numel() - run), 1.0)
        if (
            float((last == label).double().mean()) > MIN_PADDED_SEQUENCES
            and share >= MIN_PADDING
            and inside < MAX_INSIDE
        ):
            return label
    return None


def placeholder_label_findings(
    loss: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, y: Int[Tensor, "n *shape"]
) -> tuple[Finding, ...]:
    """Reports a problem if the loss treats the label for unknown positions as a class, or rejects it.

    See equation (1) of the module docstring.
    This is read from gradients, so chance raises no false alarm.
    Cost: one gradient of the loss.

    >>> placeholder_label_findings(torch.nn.functional.cross_entropy, torch.zeros(4, 3), torch.tensor([0, 1, 2, 1]))
    ()
    """
    label = placeholder_label(y)
    padding = padding_label(y) if label is None else None
    label = label if padding is None else padding
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
    row = kinds.VOID_LABEL_COUNTED if padding is None else kinds.PADDING_COUNTED
    return (Finding(row, "labels", {"label": label, "share": share}, evidence),)
