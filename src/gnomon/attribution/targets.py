"""Which output an attribution explains, and gradients over inputs alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import as_numbers
from gnomon.core.modules.outputs import run_to_rows

__all__ = ["target_of_each_example", "freeze_parameters", "scores"]


def scores(module: nn.Module, x: Tensor, target: Tensor) -> Tensor:
    """The output of each example at its target, with gradients.

    Cost: one forward pass.

    >>> scores(nn.Identity(), torch.eye(2), torch.tensor([0, 0])).tolist()
    [1.0, 0.0]
    """
    made = run_to_rows(module, x)
    if int(target.max()) >= made.shape[1]:
        raise _unknown(f"from 0 to {made.shape[1] - 1}")
    return made.gather(1, target[:, None])[:, 0]


@contextmanager
def freeze_parameters(module: nn.Module) -> Iterator[None]:
    """Gradients on, but not over parameters, so that nothing is kept for these; afterwards each is as it was.

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
    """The target of each example: the given one, or the output that is largest (the only one, where there is one).

    A given one that no output has is refused by `scores`.

    Cost: one forward pass where no target is given.

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
    cure = f"Pass one whole number {which}, or one for each example"
    return InputError("target names an output that does not exist", accepted="one output per example", fix=cure)
