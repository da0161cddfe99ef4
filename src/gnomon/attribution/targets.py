"""Which output an attribution explains."""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import as_numbers
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import invoke, table

__all__ = ["chosen", "scores"]


def scores(module: nn.Module, x: Tensor, target: Tensor, *, call: str) -> Tensor:
    """The output of each example at its target, with gradients.

    Cost: one forward pass.

    >>> scores(nn.Identity(), torch.eye(2), torch.tensor([0, 0]), call="f").tolist()
    [1.0, 0.0]
    """
    made = table(invoke(module, x, call=call), len(x), call)
    return made.gather(1, target[:, None])[:, 0]


def chosen(module: nn.Module, x: Tensor, target: Any, *, call: str) -> Tensor:
    """The target of each example: the given one, or the output that is largest (the only one, where there is one).

    Cost: one forward pass where no target is given.

    >>> chosen(nn.Identity(), torch.eye(2), None, call="f").tolist()
    [0, 1]
    """
    with torch.no_grad():
        first = table(invoke(module, x[:1], call=call), 1, call)
        if target is None:
            parts = [table(invoke(module, part, call=call), len(part), call).argmax(1) for part in x.split(256)]
            return torch.cat(parts)
    given = (
        as_numbers([target] * len(x) if isinstance(target, int) else target, "target", call=call).to(x.device).long()
    )
    if given.shape != (len(x),) or int(given.min()) < 0 or int(given.max()) >= first.shape[1]:
        cure = f"Pass one whole number from 0 to {first.shape[1] - 1}, or one for each example"
        raise InputError(lesson(call, "target names an output that does not exist", "one output per example", cure))
    return given
