"""Measures how the tangent kernel and the hidden units of a network changed between checkpoints.

    drift_t = |K_t - K_0| / |K_0|,    velocity_t = |K_t - K_(t-1)| / |K_(t-1)|                                  (1)
    flips   = share of (example, unit) whose preactivation changed its sign                                     (2)
    shift   = rms(h_1 - h_0) / rms(h_0) of the preactivations h of a layer                                       (3)

Near zero: the network learned with the features it started with (lazy); large: it learned new features (rich).
Hypotheses: checkpoints of one architecture.
Reference: [chizat2019lazy]; [fort2020deep] for (1).

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
>>> kernel_drift([net, net], torch.randn(4, 2)).drift
(0.0, 0.0)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.metrics import relative_change
from gnomon.core.modules.capture import outputs_of_layers
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Axis, Bars, Line, Plot, Result
from gnomon.tangent.empirical import ntk
from gnomon.tangent.laziness import MAX_LAZY_CHANGE

__all__ = ["KernelDrift", "UnitChanges", "hidden_layers", "kernel_drift", "unit_changes"]


@dataclass(frozen=True, slots=True)
class KernelDrift(Result):
    """Relative changes of the tangent kernel at each checkpoint: since the first checkpoint, and since the previous
    one.
    """

    drift: tuple[float, ...]
    velocity: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """A sentence that says whether training was lazy (the tangent kernel hardly changed), and when the kernel
        changed most.
        """
        regime = "lazy" if self.drift[-1] < MAX_LAZY_CHANGE else "rich"
        fastest = max(range(len(self.velocity)), key=self.velocity.__getitem__)
        return f"Training was {regime}: the kernel changed by {self.drift[-1]:.1%}, most before checkpoint {fastest}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the change of the tangent kernel since the start and since the previous checkpoint."""
        places = range(len(self.drift))
        marks = (Line("from the start", places, self.drift), Line("from the one before", places, self.velocity))
        return (Plot("Change of the kernel", marks, Axis("checkpoint"), Axis("relative change"), self.verdict),)


@dataclass(frozen=True, slots=True)
class UnitChanges(Result):
    """For each layer, the share of hidden preactivations whose sign changed in training, and their relative shift."""

    flips: dict[str, float]
    shifts: dict[str, float]

    @property
    def verdict(self) -> str:
        """A sentence that names the layer in which most hidden units changed their sign."""
        name = max(self.flips, key=self.flips.__getitem__)
        return (
            f"At most {self.flips[name]:.1%} of the units of a layer changed their sign ('{name}'); preactivations "
            f"moved by up to {max(self.shifts.values()):.1%}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots sign changes and shifts of preactivations for each layer."""
        names = tuple(self.flips)
        return (
            Plot("Signs that changed", (Bars("share", names, tuple(self.flips.values())),), Axis("share of units")),
            Plot(
                "Shift of preactivations", (Bars("shift", names, tuple(self.shifts.values())),), Axis("relative shift")
            ),
        )


def hidden_layers(module: nn.Module) -> list[str]:
    """Returns the names of all linear and convolutional layers except the last; their outputs are preactivations.

    >>> hidden_layers(nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)))
    ['0']
    """
    return [name for name, part in module.named_modules() if isinstance(part, AFFINE_LAYERS)][:-1]


@add_call_to_errors
def kernel_drift(checkpoints: Sequence[nn.Module], data: Any) -> KernelDrift:
    """Returns the change of the tangent kernel at each checkpoint of a run, relative to the first checkpoint.

    See equation (1) of the module docstring.
    Hypotheses: one architecture, in eval mode. Reference: [fort2020deep].
    Cost: an empirical kernel for each checkpoint; three of them are held.

    >>> import torch
    >>> net, other = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> kernel_drift([net, other], torch.ones(2, 1)).drift[-1]                # linear: its kernel is x x'
    0.0
    """
    if len(checkpoints) < 2:
        found = f"there are {len(checkpoints)} checkpoints"
        raise InputError(found, accepted="a start and at least one later state", fix="Pass at least two modules")
    check_module_is_callable(checkpoints[0])
    inputs = all_inputs(data, checkpoints[0])
    first = before = ntk(checkpoints[0], inputs)
    drift, velocity = [0.0], [0.0]
    for module in checkpoints[1:]:
        now = ntk(module, inputs)
        drift.append(relative_change(first, now))  # (1)
        velocity.append(relative_change(before, now))
        before = now
    return KernelDrift(tuple(drift), tuple(velocity))


@add_call_to_errors
def unit_changes(before: nn.Module, after: nn.Module, data: Any) -> UnitChanges:
    """Measures how many hidden units of each layer changed their sign, and how far preactivations moved.

    See equations (2), (3) of the module docstring.
    Layers are the linear and convolutional ones except the last, whose outputs are preactivations of units.
    Hypotheses: one architecture. Reference: [chizat2019lazy], section 3.
    Cost: a forward pass of both, and the outputs of the layers in memory.

    >>> import torch
    >>> one, two = (nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU(), nn.Linear(2, 1)) for _ in range(2))
    >>> one[0].weight.data, two[0].weight.data = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [-1.0]])
    >>> unit_changes(one, two, torch.ones(3, 1)).flips                        # one unit of two
    {'0': 0.5}
    """
    check_module_is_callable(before)
    check_module_is_callable(after)
    inputs = all_inputs(data, before)
    names = hidden_layers(before)
    if not names:
        fix = "Pass a network with at least two linear or convolutional layers"
        raise InputError("the network has no hidden layer", accepted="a network with hidden units", fix=fix)
    h0, h1 = (outputs_of_layers(module, inputs, names) for module in (before, after))
    flips = {name: float(((h0[name] > 0) != (h1[name] > 0)).double().mean()) for name in names}  # (2)
    return UnitChanges(flips, {name: relative_change(h0[name], h1[name]) for name in names})  # (3)
