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

from torch import Tensor

from gnomon.core.modules.outputs import output_tensor

__all__ = ["loss_takes_predictions", "call_user_loss"]


def call_user_loss(loss: Callable[[Any, Tensor], Any], returned: Any, y: Tensor) -> Any:
    """Calls the user's loss with the module's whole return value, or with the predictions only if the loss accepts
    nothing else.

    A tensor, or the ``logits`` of a record, is passed alone. Tuples, dicts and other records are passed whole first, as
    the loss of a variational autoencoder needs them.
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
    return isinstance(returned, Tensor) or isinstance(getattr(returned, "logits", None), Tensor)
