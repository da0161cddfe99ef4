"""Detects whether a user's loss applies softmax, sigmoid or nothing to the network's outputs.

A function says nothing of itself, so it is tried. With outputs f, rows shifted by constants c, and s = 2 y - 1:

    softmax    l(f + c) = l(f) for every c, and not for other changes of f                                       (1)
    sigmoid    |dl/df at 40 s| < `ZERO_GRADIENT_SHARE` |dl/df at y|, for targets y rounded to zeros and ones         (2)
    nothing    dl/df = 0 at f = y: the loss asks the outputs to be the targets                                   (3)

Softmax cancels c. A sigmoid, or a hinge, is flat far on the right side; a squared loss is steep there, and a ratio of
sums of probabilities still falls like 1/f^2.

Hypotheses: a loss (outputs, targets) -> number that is differentiable in the outputs; chance plays no part.
Reference: [bishop2006pattern], section 4.3, on the loss that belongs to each output function.

>>> from torch.nn import functional as F
>>> implicit_activation_of_loss(lambda f, y: F.cross_entropy(f.flatten(0, 1), y.flatten()), torch.randn(4, 6, 5),
...                             torch.zeros(4, 6).long())
'softmax'
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["implicit_activation_of_loss", "is_minimal_at_targets", "predictions_of_loss"]

ZERO_GRADIENT_SHARE = 1e-6
"""Share of the gradient that counts as zero: the rounding of float32."""
EQUAL_LOSS_TOLERANCE = 1e-4
"""Relative difference of two loss values that counts as zero."""

Function = Callable[[Tensor, Tensor], Tensor]


def implicit_activation_of_loss(loss: Function, outputs: Tensor, y: Tensor) -> str:
    """Detects the activation that a loss applies to the outputs: returns "softmax", "sigmoid", or "" for none.

    Hypotheses: as above.
    Reference: [bishop2006pattern].
    Cost: six values of the loss and two gradients.

    >>> implicit_activation_of_loss(torch.nn.functional.mse_loss, torch.rand(8, 1), torch.rand(8, 1).round())
    ''
    >>> implicit_activation_of_loss(torch.nn.functional.binary_cross_entropy_with_logits, torch.rand(8, 1),
    ...                             torch.rand(8, 1).round())
    'sigmoid'
    """
    outputs, y = outputs.detach(), y.detach()
    try:
        if any(
            _cancels(loss, outputs, y, axis)
            for axis in {1, outputs.dim() - 1}
            if outputs.dim() > 1 and outputs.shape[axis] > 1
        ):
            return "softmax"
        return "sigmoid" if _flattens(loss, outputs, y) else ""
    except Exception:  # A loss such as BCELoss, which rejects outputs outside [0, 1], applies no activation of its own.
        return ""


def is_minimal_at_targets(loss: Function, y: Tensor) -> bool:
    """Checks whether a loss is smallest if the outputs equal the targets, as regression losses are.

    See equation (3) of the module docstring.
    Hypotheses: as above.
    Cost: two gradients of the loss.

    >>> y = torch.randn(6, 2)
    >>> is_minimal_at_targets(torch.nn.HuberLoss(), y), is_minimal_at_targets(torch.nn.PoissonNLLLoss(), y.abs())
    (True, False)
    """
    y = y.detach().float()
    try:
        return bool(_slope(loss, y, y) <= ZERO_GRADIENT_SHARE * _slope(loss, y + 1.0, y))
    except Exception:
        return False


def predictions_of_loss(loss: Function, outputs: Tensor, y: Tensor) -> Callable[[Tensor], Tensor] | None:
    """Returns the function (sigmoid or identity) that turns outputs into the probabilities that a binary loss uses;
    None if unknown.

    None if the targets are other numbers or the loss is another one.
    Cost: eight values of the loss and two gradients.

    >>> import torch
    >>> y = torch.tensor([[0.0], [1.0], [1.0]])
    >>> predictions_of_loss(torch.nn.functional.binary_cross_entropy_with_logits, y - 0.3, y) is torch.sigmoid
    True
    >>> predictions_of_loss(torch.nn.functional.mse_loss, y, 3 * y) is None
    True
    """
    if not y.is_floating_point() or outputs.shape != y.shape or not bool(((y == 0) | (y == 1)).all()):
        return None
    if implicit_activation_of_loss(loss, outputs, y) == "sigmoid":
        return torch.sigmoid
    try:
        if not bool(((outputs >= 0) & (outputs <= 1)).all()):
            return None
        near, middle, far = (_value(loss, 0.5 + c * (y - 0.5), y) for c in (0.9, 0.0, -0.9))
    except Exception:  # The loss raises an error for these trial outputs, so nothing is known.
        return None
    return torch.clone if near < middle < far else None


def _cancels(loss: Function, f: Tensor, y: Tensor, axis: int) -> bool:
    """Checks whether a loss applies softmax along a dimension: adding a constant to the outputs must not change the
    loss.

    See equation (1) of the module docstring.
    """
    shape = list(f.shape)
    shape[axis] = 1
    g = torch.Generator().manual_seed(0)
    size = float(f.double().std()) + 0.1
    first = _value(loss, f, y)
    shifted = _value(loss, f + size * torch.randn(shape, generator=g).to(f), y)
    other = _value(loss, f + size * torch.randn(f.shape, generator=g).to(f), y)
    return abs(first - shifted) <= EQUAL_LOSS_TOLERANCE * abs(first) < abs(first - other)


def _flattens(loss: Function, f: Tensor, y: Tensor) -> bool:
    """Checks whether a loss applies a sigmoid: its gradient must vanish for large outputs of the correct sign.

    See equation (2) of the module docstring.
    """
    if f.shape != y.shape or not y.is_floating_point() or not bool(((y >= 0) & (y <= 1)).all()):
        return False
    y = y.round()
    near = _slope(loss, y.to(f), y)
    return near > 0 and _slope(loss, 40.0 * (2 * y.to(f) - 1), y) < ZERO_GRADIENT_SHARE * near


def _value(loss: Function, f: Tensor, y: Tensor) -> float:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Hides torch's warning about broadcasting, which another finding reports.
        return float(loss(f, y))


def _slope(loss: Function, f: Tensor, y: Tensor) -> float:
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at = f.detach().clone().requires_grad_()
        return float(torch.autograd.grad(loss(at, y), at)[0].double().norm())
