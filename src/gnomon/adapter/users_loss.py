"""Calls a user's own loss with the module's whole return value, or with the predictions only.

>>> import torch
>>> returned = torch.ones(2, 1), torch.full((2, 1), 3.0)
>>> float(call_user_loss(lambda out, y: (out[1] - y).mean(), returned, torch.zeros(2, 1)))  # uses both tensors
3.0
>>> float(call_user_loss(torch.nn.functional.mse_loss, returned, torch.zeros(2, 1)))  # takes one tensor only
1.0
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.modules.outputs import output_fields, output_tensor

__all__ = ["call_user_loss", "loss_takes_predictions", "rewards_labels"]

MIN_SHARE_OF_REWARDED_LABELS = 0.9
"""Share of examples whose label must have the steepest descent; below 1, because a penalty can outweigh a few."""


def call_user_loss(loss: Callable[[Any, Tensor], Any], returned: Any, y: Tensor) -> Any:
    """Calls the user's loss with the module's whole return value, or with the predictions only if the loss accepts
    nothing else.

    A tensor, or the ``logits`` of a record without other tensors, is passed alone. Tuples, dicts and other records are
    passed whole first, as the losses of variational autoencoders and of auxiliary outputs need them.
    Cost: one call of the loss, or two.

    >>> import torch
    >>> float(call_user_loss(torch.nn.functional.mse_loss, torch.ones(2), torch.zeros(2)))
    1.0
    """
    if loss_takes_predictions(returned):
        return loss(output_tensor(returned), y)
    try:
        return loss(returned, y)
    # The user's loss may accept only one tensor and fail for the model's full output; then it gets only the
    # predictions.
    except Exception as error:
        try:
            return loss(output_tensor(returned), y)
        except Exception:
            raise error from None


def loss_takes_predictions(returned: Any) -> bool:
    """Checks whether to pass only the predictions to a user's loss, instead of the module's whole return value.

    >>> import torch
    >>> loss_takes_predictions(torch.zeros(1)), loss_takes_predictions((torch.zeros(1), torch.zeros(1)))
    (True, False)
    """
    if isinstance(returned, Tensor):
        return True
    logits = getattr(returned, "logits", None)
    return isinstance(logits, Tensor) and not any(t is not logits for t in input_tensors(output_fields(returned)))


def rewards_labels(loss: Callable[[Any, Tensor], Any], outputs: Tensor, y: Tensor) -> bool:
    """Checks whether a user's loss reads outputs as scores of classes: a step downhill raises the label's output most.

    Losses of embeddings, such as a triplet loss, also take integer labels; outputs are not classes then. Examples
    whose gradient is zero are left out.
    Cost: one evaluation of the loss and its gradient.

    >>> scores, y = torch.zeros(2, 3), torch.tensor([2, 0])
    >>> rewards_labels(torch.nn.functional.cross_entropy, scores, y)
    True
    >>> rewards_labels(lambda f, y: (f[0] - f[1] + 1).square().sum(), scores, y)
    False
    """
    if outputs.dim() != 2 or y.dim() != 1 or y.is_floating_point() or int(y.max()) >= outputs.shape[1]:
        return False
    with torch.inference_mode(False), torch.enable_grad():
        f = outputs.detach().clone().requires_grad_()
        try:
            value = loss(f, y.clone())
        except Exception:  # Training calls the loss again and reports the error.
            return True
        if not isinstance(value, Tensor) or not value.requires_grad:
            return True
        (slope,) = torch.autograd.grad(value.sum(), f)
    rows = slope.any(1) & slope.isfinite().all(1)
    right = slope.argmin(1) == y.to(slope.device)
    return not bool(rows.any()) or float(right[rows].double().mean()) >= MIN_SHARE_OF_REWARDED_LABELS
