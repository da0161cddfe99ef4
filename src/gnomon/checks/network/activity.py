"""Measures how many units of each activation layer are dead (no gradient for any example) or saturated (tiny gradient).

    dead        phi'(h) = 0 at every example (relu: never active)                                                (1)
    saturated   |phi'(h)| below 1 % of its maximum, as a share of all units and examples                         (2)

Hypotheses: activations are layers or functions of torch.nn, or of tensors, that act on each number alone.
Reference: [glorot2010understanding]; [goodfellow2013maxout] on units that die.

>>> import torch
>>> net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())
>>> net[0].weight.data = torch.tensor([[1.0], [-1.0]])
>>> unit_activity(net, torch.ones(4, 1)).dead                                               # one of two
{'1': 0.5}
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.checks.network.functions import ActivationWatcher, watch_activation_calls
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import ACTIVATIONS
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["UnitActivity", "unit_activity"]

MIN_SLOPE_SHARE = 0.01
"""Share of the largest slope below which a unit passes almost no gradient."""


@dataclass(frozen=True, slots=True)
class UnitActivity(Result):
    """Result: for each activation layer, the fractions of dead units and of saturated outputs."""

    dead: dict[str, float]
    saturated: dict[str, float]
    examples: int

    @property
    def verdict(self) -> str:
        """Names the layers with the most dead units and the most saturated outputs, in one sentence."""
        one = max(self.dead, key=self.dead.__getitem__)
        two = max(self.saturated, key=self.saturated.__getitem__)
        return (
            f"At most {self.dead[one]:.0%} of the units of a layer are dead on {self.examples} examples ('{one}'), at "
            f"most {self.saturated[two]:.0%} saturated ('{two}')."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fractions of dead units and of saturated outputs for each activation layer."""
        names = tuple(self.dead)
        return (
            Plot("Dead units", (Bars("share", names, tuple(self.dead.values())),), Axis("share of units")),
            Plot("Saturated", (Bars("share", names, tuple(self.saturated.values())),), Axis("share of outputs")),
        )


@add_call_to_errors
def unit_activity(module: nn.Module, data: Any) -> UnitActivity:
    """Measures the fractions of dead units and of saturated outputs of every activation layer.

    See equations (1), (2) of the module docstring.
    Hypotheses: see the module. Units are on the axis after the examples'.
    Reference: [glorot2010understanding].
    Cost: a forward pass, and one more through each activation.

    >>> unit_activity(nn.Sequential(nn.Tanh()), torch.tensor([[0.0], [9.0]])).saturated
    {'0': 0.5}
    """
    check_weights(module)
    parts = {name: part for name, part in module.named_modules() if isinstance(part, ACTIVATIONS)}
    alive: dict[str, Tensor] = {}
    counts: dict[str, list[float]] = {}
    tops: dict[str, float] = {}

    def watch(name: str, function: Callable[[Tensor], Tensor], h: Tensor) -> None:
        if name not in tops:
            tops[name] = float(_slope(function, torch.linspace(-6, 6, 2401)[:, None].to(h)).max())
        slope = _slope(function, h)
        units = slope.flatten(2).amax(2) if slope.dim() > 2 else slope
        used = (units > 0).any(0)
        alive[name] = used if name not in alive else alive[name] | used
        seen = counts.setdefault(name, [0.0, 0.0])
        seen[0], seen[1] = seen[0] + float((slope < MIN_SLOPE_SHARE * tops[name]).sum()), seen[1] + slope.numel()

    n = 0
    copies = {name: _copy(part) for name, part in parts.items()}
    with preserve(module, all_derivatives=True), watch_activation_calls(module, watch):
        handles = [part.register_forward_pre_hook(_report(watch, name, copies[name])) for name, part in parts.items()]
        try:
            for batch in as_input_source(data, module).batches():
                run_module(module, batch.x)
                n += len(batch)
        finally:
            for handle in handles:
                handle.remove()
    if not counts:
        fix = "Pass a network with activations such as nn.ReLU or torch.relu"
        raise InputError("no activation function of torch was called", accepted="activation layers", fix=fix)
    dead = {name: 1 - float(used.double().mean()) for name, used in alive.items()}  # (1)
    return UnitActivity(dead, {name: few / whole for name, (few, whole) in counts.items()}, n)  # (2)


def _report(watch: ActivationWatcher, name: str, own: nn.Module) -> Any:
    """Returns a forward hook that passes a layer's input to a callback before the layer can change the input in
    place.
    """

    def hook(_: nn.Module, args: Any) -> None:
        watch(name, own, args[0])

    return hook


def _copy(part: nn.Module) -> nn.Module:
    """Copies an activation layer, with ``inplace=False`` in the copy."""
    own = copy_module(part)
    if hasattr(own, "inplace"):
        setattr(own, "inplace", False)  # noqa: B010  # a plain attribute, not a parameter
    return own


def _slope(function: Callable[[Tensor], Tensor], h: Tensor) -> Tensor:
    """Returns the absolute derivative of an activation function at each number of a tensor."""
    leaf = h.detach().clone().requires_grad_()
    with torch.enable_grad(), torch._C.DisableTorchFunction():
        (g,) = torch.autograd.grad(function(leaf).sum(), leaf)
    return g.abs()
