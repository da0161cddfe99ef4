"""Possible fixes of a network's design: missing activations, missing biases, hooks on parameters, a final
normalization.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES"]


class _WithReLU(nn.Module):
    """A module that runs a layer and then ReLU."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.training = layer, layer.training

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        return torch.relu(self.layer(*args, **kwargs))


def add_activations(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: adds ReLU after each layer with weights except the last."""
    made = copy_module(trial.module)
    names = [name for name, part in made.named_modules() if isinstance(part, AFFINE_LAYERS)]
    for name in names[:-1]:
        owner, _, attribute = name.rpartition(".")
        setattr(made.get_submodule(owner), attribute, _WithReLU(made.get_submodule(name)))
    count = len(names) - 1
    words = f"ReLU after {count} layer{'s' if count > 1 else ''}"
    return (
        TrialChange(replace(trial, module=made), words, diff("x = self.layer(x)", "x = F.relu(self.layer(x))")),
    ) * (count > 0)


def add_biases(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: adds a bias to each layer with weights, with torch's default initialization."""
    made = copy_module(trial.module)
    generator = torch.Generator().manual_seed(0)
    for part in made.modules():
        if isinstance(part, AFFINE_LAYERS) and part.bias is None:
            weight = part.weight
            outputs = getattr(part, "out_features", None) or part.out_channels
            bound = weight[0].numel() ** -0.5
            drawn = (2 * torch.rand(int(outputs), generator=generator) - 1) * bound
            part.bias = nn.Parameter(drawn.to(weight))
    return (TrialChange(replace(trial, module=made), "a bias in each layer", diff("bias=False", "bias=True")),)


def remove_hooks(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: removes all gradient hooks of parameters."""
    made = copy_module(trial.module)
    for p in made.parameters():
        p._backward_hooks = None
    return (TrialChange(replace(trial, module=made), "no hooks on parameters", diff("p.register_hook(...)", "")),)


def remove_normalization(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: removes the network's last normalization layer."""
    made = copy_module(trial.module)
    kinds = (nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm)
    names = [name for name, part in made.named_modules() if name and isinstance(part, kinds)]
    if not names:
        return ()
    owner, _, attribute = names[-1].rpartition(".")
    kind = type(made.get_submodule(names[-1])).__name__
    setattr(made.get_submodule(owner), attribute, nn.Identity())
    words = f"the last {kind} removed"
    return (TrialChange(replace(trial, module=made), words, diff(f"x = self.{names[-1]}(x)", "")),)


FIXES = (
    Fix("add-activations", add_activations),
    Fix("add-biases", add_biases),
    Fix("remove-hooks", remove_hooks),
    Fix("remove-normalization", remove_normalization),
)
