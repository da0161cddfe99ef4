"""Possible fixes of the gradient flow: frozen layers, detached gradients, layers in plain lists, the wrong batch
dimension.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.copies import copy_module
from gnomon.core.results import Finding
from gnomon.examination.fixes.descent import for_all_parameters
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.rewrite import SOFTMAX, Rewritten
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES"]

CUTS: frozenset[Any] = frozenset({Tensor.detach, torch.detach, Tensor.data.__get__})  # type: ignore[attr-defined]
"""Functions that cut the graph."""


class _Connected:
    """Replaces detach, .data and torch.no_grad in a network so that gradients pass through."""

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        if function in CUTS:
            return args[0]
        if not owner.training:
            return function(*args, **options)
        with torch.enable_grad():
            return function(*args, **options)


class _SoftmaxOfClasses:
    """Replaces softmax over the batch dimension by softmax over the last dimension."""

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        given = args[0] if args else options["input"]
        dim = args[1] if len(args) > 1 else options.get("dim")
        return torch.softmax(given, -1) if dim == 0 and given.dim() > 1 else function(*args, **options)


def _with_module(trial: TrialRun, module: nn.Module) -> TrialRun:
    """Returns a copy of the training run with another module, and with an optimizer for all of the module's
    parameters.
    """
    return replace(trial, module=module, optimizer=for_all_parameters(trial.optimizer))


def unfreeze(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: sets requires_grad=True for all parameters."""
    made = copy_module(trial.module)
    for parameter in made.parameters():
        if parameter.is_floating_point():
            parameter.requires_grad_(True)
    lines = diff("", "model.requires_grad_(True)")
    return (TrialChange(_with_module(trial, made), "no frozen parameters", lines),)


def connect(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: ignores .detach(), .data and torch.no_grad() in the forward pass."""
    changed = Rewritten(trial.module, None, _Connected())
    lines = diff("x = x.detach()  # or .data, or with torch.no_grad():", "")
    return (TrialChange(replace(trial, module=changed), "gradients that are not cut off", lines),)


def register_layers(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: uses nn.ModuleList instead of plain lists of layers."""
    made = copy_module(trial.module)
    names = []
    for part in list(made.modules()):
        for name, value in list(vars(part).items()):
            if isinstance(value, list) and value and all(isinstance(layer, nn.Module) for layer in value):
                delattr(part, name)
                setattr(part, name, nn.ModuleList(value))
                names.append(name)
    if not names:
        return ()
    lines = "\n".join(diff(f"self.{name} = [...]", f"self.{name} = nn.ModuleList([...])") for name in names)
    return (TrialChange(_with_module(trial, made), "registered layers", lines),)


def batch_first(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: sets batch_first=True in recurrent and attention layers, or takes softmax over classes instead of
    examples.
    """
    made, changed = copy_module(trial.module), 0
    for part in made.modules():
        if getattr(part, "batch_first", None) is False:
            part.batch_first = True  # type: ignore[assignment]
            changed += 1
    if changed:
        lines = diff("nn.LSTM(...)", "nn.LSTM(..., batch_first=True)")
        return (TrialChange(replace(trial, module=made), "batch_first=True", lines),)
    softmax = Rewritten(trial.module, SOFTMAX, _SoftmaxOfClasses())
    lines = diff("torch.softmax(x, dim=0)", "torch.softmax(x, dim=-1)")
    return (TrialChange(replace(trial, module=softmax), "softmax over the last axis", lines),)


FIXES = (
    Fix("unfreeze", unfreeze),
    Fix("connect", connect),
    Fix("register-layers", register_layers),
    Fix("batch-first", batch_first),
)
