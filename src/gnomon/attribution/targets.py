"""Selects the output that an attribution explains, and computes gradients with respect to inputs only."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import as_numbers
from gnomon.core.modules.outputs import run_to_rows

__all__ = ["target_of_each_example", "freeze_parameters", "target_scores"]


def target_scores(module: nn.Module, x: Tensor, target: Tensor) -> Tensor:
    """Returns each example's output at its target index, with gradients.

    Cost: one forward pass.

    >>> target_scores(nn.Identity(), torch.eye(2), torch.tensor([0, 0])).tolist()
    [1.0, 0.0]
    """
    made = run_to_rows(module, x)
    if int(target.max()) >= made.shape[1]:
        raise _unknown(f"from 0 to {made.shape[1] - 1}")
    return made.gather(1, target[:, None])[:, 0]


@contextmanager
def freeze_parameters(module: nn.Module) -> Iterator[None]:
    """Context manager: turns off gradients of parameters to save memory, and restores them afterwards.

    Cost: a walk over the parameters.

    >>> net = nn.Linear(1, 1)
    >>> with freeze_parameters(net):
    ...     net(torch.ones(1, 1)).requires_grad
    False
    >>> net.weight.requires_grad
    True
    """
    free = [p for p in module.parameters() if p.requires_grad and p.is_leaf]
    for p in free:
        p.requires_grad_(False)
    try:
        with torch.enable_grad():
            yield
    finally:
        for p in free:
            p.requires_grad_(True)


def target_of_each_example(module: nn.Module, x: Tensor, target: Any) -> Tensor:
    """Returns the output index to explain for each example: the given one, or the index of its largest output.

    `target_scores` raises an error for a target that is not an output.

    Cost: one forward pass if no target is given.

    >>> target_of_each_example(nn.Identity(), torch.eye(2), None).tolist()
    [0, 1]
    """
    if target is None:
        with torch.no_grad():
            parts = [run_to_rows(module, part).argmax(1) for part in x.split(256)]
        return torch.cat(parts)
    given = as_numbers([target] * len(x) if isinstance(target, int) else target, "target").to(x.device).long()
    if given.shape != (len(x),) or int(given.min()) < 0:
        raise _unknown("that is at least 0")
    return given


def _unknown(which: str) -> InputError:
    fix = f"Pass one integer {which}, or one for each example"
    return InputError("target names an output that does not exist", accepted="one output per example", fix=fix)
