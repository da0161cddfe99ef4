"""Counts calls of dropout functions that forget the mode of the model: ``F.dropout(x)`` drops in eval mode too.

>>> import torch
>>> calls = DropoutCalls()
>>> dropout = calls.wrap_dropout(torch.nn.functional.dropout)
>>> _ = dropout(torch.ones(2), 0.5), dropout(torch.ones(2), 0.5, training=False)
>>> calls.since_model
1
"""

from dataclasses import dataclass
from typing import Any

__all__ = ["DROPOUT_FUNCTIONS", "DropoutCalls"]

DROPOUT_FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
"""Functions of torch.nn.functional with the arguments (input, p, training, inplace)."""
POSITION_OF_TRAINING = 2
"""Place of ``training`` among the arguments."""


@dataclass(slots=True, eq=False)
class DropoutCalls:
    """Counts calls of dropout without ``training``, and of attention with ``dropout_p`` above 0, in each model call."""

    since_model: int = 0

    def wrap_dropout(self, original: Any) -> Any:
        """Returns a dropout function that counts calls without the argument ``training``."""

        def dropout(*arguments: Any, **options: Any) -> Any:
            if len(arguments) <= POSITION_OF_TRAINING and "training" not in options:
                rate = arguments[1] if len(arguments) > 1 else options.get("p", 0.5)
                self.since_model += rate > 0
            return original(*arguments, **options)

        return dropout

    def wrap_attention(self, original: Any) -> Any:
        """Returns `scaled_dot_product_attention` with a count of the calls that drop."""

        def scaled_dot_product_attention(*arguments: Any, **options: Any) -> Any:
            rate = arguments[4] if len(arguments) > 4 else options.get("dropout_p", 0.0)
            self.since_model += rate > 0
            return original(*arguments, **options)

        return scaled_dot_product_attention

    def take(self) -> int:
        """Returns the number of calls since the last model call, and starts again at 0."""
        calls, self.since_model = self.since_model, 0
        return calls
