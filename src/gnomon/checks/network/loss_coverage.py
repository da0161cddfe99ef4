"""Checks which examples and classes affect the user's loss, and how much each class counts.

The loss has a gradient with respect to the output of each example. If all outputs are wrong, none should be zero:

    g_i = dl / df_i,    example i is ignored if g_i = 0 at outputs that are wrong for every example           (1)

At equal outputs for all examples, classes count by their frequency and their weight in the loss:

    share_c  proportional to  n_c mean over class c of |g_i|                                                  (2)

Weights that balance classes make all shares equal. Weights that make one class count far more than another, and far
more than without weights, make the network predict this class alone.

Hypotheses: outputs with one column for each class, or one output for two classes.

>>> from torch.nn import functional as F
>>> f, y = torch.zeros(20, 3), torch.arange(20) % 3
>>> loss_coverage_findings(F.cross_entropy, f, y)
()
>>> loss_coverage_findings(torch.nn.CrossEntropyLoss(ignore_index=0), f, y)[0].values["classes"]
'0'
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import design as kinds

__all__ = ["loss_coverage_findings"]

WRONG_BY = 4.0
"""Amount by which the output of the right class is below the others in (1); hinge losses have a gradient there."""
MIN_EXAMPLES = 12
"""Fewest examples, so that an ignored class has several of them."""
MIN_SHARE_RATIO = 10.0
"""Ratio of the shares (2) of two classes from which the smaller one hardly counts."""
MIN_RATIO_BY_WEIGHTS = 4.0
"""The weights must make this ratio at least this many times larger than the numbers of examples do."""
MAX_NAMED_CLASSES = 5
"""Classes named in a message, at most."""

_Loss = Callable[[Tensor, Tensor], Tensor]


def loss_coverage_findings(
    loss: _Loss, outputs: Tensor, y: Tensor, labels: Tensor | None = None
) -> tuple[Finding, ...]:
    """Reports a problem if the user's loss ignores some examples, or if class weights make one class dominate the
    others.

    ``y`` are classes (n,), or 0/1 numbers with the shape of one output. ``labels`` are the labels of all examples, for
    the frequencies. These are gradients of the loss, so chance raises no false alarm.
    Cost: two gradients of the loss.

    >>> loss_coverage_findings(lambda f, y: f[:1].square().sum(), torch.zeros(20, 2), torch.arange(20) % 2)[0].kind
    'loss-ignores-examples'
    """
    classes = _as_classes(y, outputs)
    if classes is None or len(outputs) < MIN_EXAMPLES:
        return ()
    try:
        with warnings.catch_warnings(), torch.enable_grad():
            warnings.simplefilter("ignore")
            wrong = _slopes(loss, _wrong_outputs(outputs, classes), y)
            equal = _slopes(loss, torch.zeros_like(outputs), y)
    except Exception:  # The loss raises an error for these outputs, for example if it expects probabilities.
        return ()
    if wrong is None or not bool(wrong.any()):
        return ()
    if found := _ignored_examples(wrong, classes):
        return found
    frequent = classes if labels is None else _as_classes(labels, outputs[:1].expand(len(labels), -1))
    return () if equal is None or frequent is None else _drowned_classes(equal, classes, frequent)


def _as_classes(y: Tensor, outputs: Tensor) -> Tensor | None:
    """Returns the class of each example; None if the targets are not classes."""
    if outputs.dim() != 2:
        return None
    if not y.is_floating_point():
        fits = y.dim() == 1 and 0 <= int(y.min()) and int(y.max()) < max(2, outputs.shape[1])
        return y.long() if fits else None
    whole = y.numel() == len(y) and outputs.shape[1] == 1 and bool(((y == 0) | (y == 1)).all())
    return y.reshape(-1).long() if whole else None


def _wrong_outputs(outputs: Tensor, classes: Tensor) -> Tensor:
    """Makes outputs that predict a wrong class for every example, with a little noise."""
    noise = 0.1 * torch.randn(outputs.shape, generator=torch.Generator().manual_seed(0)).to(outputs)
    if outputs.shape[1] == 1:
        return noise + WRONG_BY * (1 - 2 * classes[:, None]).to(outputs)
    return noise - WRONG_BY * torch.nn.functional.one_hot(classes, outputs.shape[1]).to(outputs)


def _slopes(loss: _Loss, f: Tensor, y: Tensor) -> Tensor | None:
    """Returns the size of the loss gradient with respect to each example's outputs; None if it is not finite."""
    at = f.detach().clone().requires_grad_()
    value = loss(at, y)
    if not value.requires_grad or value.numel() != 1:
        return None
    slope = torch.autograd.grad(value, at, allow_unused=True)[0]
    return None if slope is None or not bool(slope.isfinite().all()) else slope.abs().sum(1).double()


def _ignored_examples(slopes: Tensor, classes: Tensor) -> tuple[Finding, ...]:
    ignored = slopes == 0  # (1)
    if not bool(ignored.any()):
        return ()
    whole = [c for c in classes.unique().tolist() if bool(ignored[classes == c].all())]
    if whole and int(ignored.sum()) == sum(int((classes == c).sum()) for c in whole):
        names = ", ".join(map(str, whole[:MAX_NAMED_CLASSES]))
        values = {"classes": names, "plural": "es" if len(whole) > 1 else "", "ignored": int(ignored.sum())}
        return (Finding(kinds.LOSS_IGNORES_CLASS, "loss", values | {"examples": len(classes)}, (), 0.0),)
    values = {"ignored": int(ignored.sum()), "examples": len(classes)}
    return (Finding(kinds.LOSS_IGNORES_EXAMPLES, "loss", values, (), 0.0),)


def _drowned_classes(slopes: Tensor, classes: Tensor, labels: Tensor) -> tuple[Finding, ...]:
    seen = [c for c in classes.unique().tolist() if bool((labels == c).any())]
    if len(seen) < 2:
        return ()
    counts = {c: float((labels == c).sum()) for c in seen}
    weights = {c: float(slopes[classes == c].mean()) for c in seen}
    if min(weights.values()) <= 0:
        return ()
    shares = {c: counts[c] * weights[c] for c in seen}  # (2)
    most, least = max(seen, key=shares.__getitem__), min(seen, key=shares.__getitem__)
    ratio, by_number = shares[most] / shares[least], counts[most] / counts[least]
    if ratio < MIN_SHARE_RATIO or ratio < MIN_RATIO_BY_WEIGHTS * by_number:
        return ()
    values = {"most": most, "least": least, "ratio": ratio, "by_number": by_number}
    values["weight"] = weights[most] / weights[least]
    return (Finding(kinds.CLASS_DROWNED, "loss", values, (Value("ratio of the shares", ratio),), 0.0),)
