"""Fixes of a network's shape: a wider bottleneck, residual connections, weights with more digits."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import random_state
from gnomon.core.results import Finding
from gnomon.examination.fixes.descent import for_all_parameters
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES"]

MAX_UNITS_OF_NARROW_LAYER = 8
"""Units up to which a hidden layer is called narrow."""
UNITS_OF_WIDER_LAYER = 64
"""Units of the wider layer."""
MIN_BLOCKS = 3
"""Parts of one shape in a row from which residual connections are tried."""


class _Residual(nn.Module):
    """Adds the input of a module to its output if both have the same shape."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module, self.training = module, module.training

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        made: Tensor = self.module(x, *args, **kwargs)
        return x + made if made.shape == x.shape else made


def widen_narrowest_layer(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: gives the narrowest hidden linear layer more units."""
    made = copy_module(trial.module)
    layers = {name: part for name, part in made.named_modules() if isinstance(part, nn.Linear)}
    hidden = [part.out_features for part in list(layers.values())[:-1]]
    narrow = min(hidden, default=UNITS_OF_WIDER_LAYER)
    if narrow > MAX_UNITS_OF_NARROW_LAYER:
        return ()
    first = ""
    with random_state(0):
        for name, part in layers.items():
            wider_out = part.out_features == narrow and name != list(layers)[-1]
            if not wider_out and part.in_features != narrow:
                continue
            first = first or name
            inputs = UNITS_OF_WIDER_LAYER if part.in_features == narrow and first != name else part.in_features
            new = nn.Linear(inputs, UNITS_OF_WIDER_LAYER if wider_out else part.out_features, part.bias is not None)
            owner, _, attribute = name.rpartition(".")
            setattr(made.get_submodule(owner), attribute, new.to(part.weight))
    words = f"{UNITS_OF_WIDER_LAYER} instead of {narrow} units in '{first}'"
    lines = diff(f"nn.Linear(..., {narrow})", f"nn.Linear(..., {UNITS_OF_WIDER_LAYER})")
    changed = replace(trial, module=made, optimizer=for_all_parameters(trial.optimizer))
    return (TrialChange(changed, words, lines),)


def add_residuals(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: adds the input of each block to its output, in lists of three or more blocks of one class."""
    made = copy_module(trial.module)
    count = 0
    for part in list(made.modules()):
        if not isinstance(part, nn.ModuleList | nn.Sequential) or len(part) < MIN_BLOCKS:
            continue
        blocks = [i for i, one in enumerate(part) if list(one.parameters())]
        shapes = {tuple(tuple(p.shape) for p in part[i].parameters()) for i in blocks}
        if len(blocks) < MIN_BLOCKS or len(shapes) != 1:
            continue
        for i in blocks:
            part[i] = _Residual(part[i])
        count += len(blocks)
    if not count:
        return ()
    lines = diff("x = block(x)", "x = x + block(x)")
    return (TrialChange(replace(trial, module=made), f"residual connections around {count} blocks", lines),)


def float32_weights(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: stores the weights in single precision instead of half."""
    if not any(p.dtype in (torch.bfloat16, torch.float16) for p in trial.module.parameters()):
        return ()
    made = copy_module(trial.module).float()
    return (TrialChange(replace(trial, module=made), "weights in float32", diff("model.bfloat16()", "model.float()")),)


FIXES = (
    Fix("widen", widen_narrowest_layer),
    Fix("add-residuals", add_residuals),
    Fix("float32-weights", float32_weights),
)
