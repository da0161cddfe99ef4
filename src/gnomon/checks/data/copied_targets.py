"""Finds targets that are copies of the inputs, such as tokens that were not shifted by one position.

    share = positions with y_t = x_t / all positions                                                            (1)

A model that sees x_t and predicts x_t learns to copy: the loss falls to zero and the model knows nothing of the next
token. Natural text repeats a token at most now and then, so that (1) is small for shifted targets.

Hypotheses: integer inputs and targets of the same shape.
Reference: [radford2019language], equation (1), on predicting the next token.
"""

from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["copied_target_findings"]

MIN_SHARE = 0.98
"""Share (1) from which targets are copies."""
MIN_VALUES = 3
"""Minimum number of different tokens: two values agree too often by chance."""


def copied_target_findings(x: Inputs, y: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if integer targets equal the integer inputs at nearly every position.

    See equation (1) of the module docstring.
    This is a count, so chance raises no false alarm.
    Cost: one comparison.

    >>> import torch
    >>> x = torch.randint(0, 9, (50, 12), generator=torch.Generator().manual_seed(0))
    >>> copied_target_findings(x, x)[0].kind, copied_target_findings(x[:, :-1], x[:, 1:])
    ('targets-copied', ())
    """
    for t in input_tensors(x):
        if t.is_floating_point() or y.is_floating_point() or t.dim() < 2 or t.shape != y.shape:
            continue
        share = float((t.to(y.device) == y).double().mean())
        if share > MIN_SHARE and len(y.unique()) >= MIN_VALUES:
            evidence = (Value("targets that equal the input at their position", share),)
            return (Finding(kinds.TARGETS_COPIED, "labels", {"share": share}, evidence),)
    return ()
