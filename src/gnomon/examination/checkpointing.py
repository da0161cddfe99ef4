"""Rejects networks that use reentrant gradient checkpointing, because their gradients cannot be measured.

``torch.utils.checkpoint(..., use_reentrant=True)`` computes gradients only for ``loss.backward()``. If no input
requires a gradient, the layers inside get none at all, and torch only warns.

>>> import torch
>>> check_checkpointing(nn.Linear(2, 1), torch.zeros(1, 2))
"""

import warnings
from typing import Any

from torch import nn

from gnomon.core.errors import InputError
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["check_checkpointing"]

NODE = "CheckpointFunctionBackward"
"""Name of the step in the autograd graph that computes gradients again."""
WARNING = "None of the inputs have requires_grad=True"
"""What torch says if a checkpoint passes on no gradient."""


def check_checkpointing(module: nn.Module, x: Any) -> None:
    """Raises an error if a forward pass goes through reentrant gradient checkpointing.

    Cost: one forward pass, and a walk over its autograd graph.

    >>> import torch
    >>> check_checkpointing(nn.Linear(2, 1), torch.zeros(1, 2))
    """
    with preserve(module, mode="train", seed=0), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        last = output_tensor(run_module(module, x)).grad_fn
    cut = any(WARNING in str(warning.message) for warning in seen)
    if cut or _contains(last, NODE):
        found = "the network uses torch.utils.checkpoint with use_reentrant=True"
        effect = (
            ", and the layers inside get no gradient, because no input of the checkpoint requires one" if cut else ""
        )
        fix = "Pass use_reentrant=False; in transformers gradient_checkpointing_enable({'use_reentrant': False})"
        raise InputError(found + effect, accepted="checkpoints that are not reentrant, or none", fix=fix)


def _contains(node: Any, name: str) -> bool:
    """Checks whether an autograd graph contains an operation with this name."""
    todo, known = [node], {node}
    while todo:
        step = todo.pop()
        if step is None:
            continue
        if type(step).__name__ == name:
            return True
        new = {parent for parent, _ in step.next_functions} - known
        known |= new
        todo.extend(new)
    return False
