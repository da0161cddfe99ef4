"""Measures how lazy training was: how little the tangent kernel changed between two checkpoints.

    parameters   |w1 - w0| / |w0|                                                       (1)
    kernel       |K1 - K0|_F / |K0|_F                                                   (2)
    rotation     1 - <K0, K1> / (|K0| |K1|)                                             (3)
    activations  |h1 - h0| / |h0| for the output h of each layer                        (4)

In lazy training the function changes while (2), (3) and (4) stay near zero: the network is its linearization.
Reference: [chizat2019lazy]; (3) is the kernel distance of [fort2020deep].

>>> import torch
>>> Laziness(parameters=0.01, kernel=0.02, rotation=0.001, outputs=1.0, activations={}).verdict[:22]
'Training was lazy: the'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.metrics import relative_change
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Reference, Result
from gnomon.linalg.alignment import kernel_rotation
from gnomon.tangent.empirical import ntk

__all__ = ["MAX_LAZY_CHANGE", "Laziness", "laziness"]

MAX_LAZY_CHANGE = 0.1
"""Relative change of the kernel below which training is called lazy, everywhere in the package."""


@dataclass(frozen=True, slots=True)
class Laziness(Result):
    """Relative changes of parameters, tangent kernel, outputs and activations between two checkpoints of a network."""

    parameters: float
    kernel: float
    rotation: float
    outputs: float
    activations: dict[str, float]

    @property
    def verdict(self) -> str:
        """A sentence that says whether training was lazy (the tangent kernel hardly changed), and what changed."""
        regime = "lazy" if self.kernel < MAX_LAZY_CHANGE else "not lazy"
        return (
            f"Training was {regime}: the kernel changed by {self.kernel:.1%} (its direction by {self.rotation:.1%}) "
            "while the "
            f"parameters moved by {self.parameters:.1%} and the outputs by {self.outputs:.1%}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the change of each layer's activations, and of the whole network."""
        parts = {"parameters": self.parameters, "kernel": self.kernel, "outputs": self.outputs}
        limit = Reference("a kernel is lazy below", MAX_LAZY_CHANGE, vertical=True)
        axis = Axis("relative change")
        layers = Bars("layer", tuple(self.activations), tuple(self.activations.values()))
        each = (Plot("Change of each layer's activations", (layers,), axis),) if self.activations else ()
        return (
            *each,
            Plot("Change between the checkpoints", (Bars("part", tuple(parts), tuple(parts.values())), limit), axis),
        )


@add_call_to_errors
def laziness(
    before: nn.Module | Mapping[str, Tensor],
    after: nn.Module | Mapping[str, Tensor],
    data: Any,
    *,
    module: nn.Module | None = None,
    outputs: str = "trace",
) -> Laziness:
    """Measures how much a network and its tangent kernel changed between two checkpoints, on given inputs.

    Checkpoints are modules, or state dicts together with a ``module`` of their kind; both are left unchanged. Inputs
    are as in `gnomon.tangent.ntk`, data sets and loaders included.

    Hypotheses: both checkpoints are of the same architecture; the network is deterministic (call eval() first).
    Reference: [chizat2019lazy].
    Cost: two empirical kernels and two forward passes.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> laziness(net, net, torch.randn(4, 2)).kernel
    0.0
    """
    first, second = _checkpoint(before, module), _checkpoint(after, module)
    w0, w1 = _parameters(first), _parameters(second)
    if w0.shape != w1.shape:
        what = f"checkpoints of {len(w0)} and {len(w1)} parameters"
        raise InputError(what, accepted="one architecture", fix="Compare checkpoints of one network")
    inputs = all_inputs(data, first)
    k0, k1 = (ntk(m, inputs, outputs=outputs) for m in (first, second))
    h0, h1 = _activations(first, inputs), _activations(second, inputs)
    shared = [name for name in h0 if name in h1 and h0[name].shape == h1[name].shape]
    changes = {name: relative_change(h0[name], h1[name]) for name in shared}  # (4)
    output = changes.pop("")
    turned = kernel_rotation(k0.flatten(1), k1.flatten(1))  # (3)
    return Laziness(relative_change(w0, w1), relative_change(k0, k1), turned, output, changes)  # (1), (2)


def _checkpoint(checkpoint: nn.Module | Mapping[str, Tensor], module: nn.Module | None) -> nn.Module:
    if not isinstance(checkpoint, Mapping):
        check_module_is_callable(checkpoint)
        return copy_module(checkpoint)
    if module is None:
        fix = "Pass module=, a network of that architecture"
        raise InputError("a state dict was passed without a module", accepted="a module to load it into", fix=fix)
    check_module_is_callable(module)
    loaded = copy_module(module)
    try:
        loaded.load_state_dict(checkpoint)
    except RuntimeError as error:
        what = f"the state dict does not fit the module ({str(error).splitlines()[0]})"
        raise InputError(what, accepted="one architecture", fix="Pass module= of the same sizes") from error
    return loaded


def _parameters(module: nn.Module) -> Tensor:
    parts = [p.detach().flatten() for p in module.parameters()]
    return torch.cat(parts) if parts else torch.zeros(0)


@torch.no_grad()
def _activations(module: nn.Module, x: Inputs) -> dict[str, Tensor]:
    """Returns the outputs of all layers without sublayers, and of the whole module under the name ''."""
    activations: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        return lambda _module, _args, out: activations.__setitem__(name, out) if isinstance(out, Tensor) else None

    for name, part in module.named_modules():
        if not any(True for _ in part.children()):
            part.register_forward_hook(keep(name))  # This hook is never removed, because the module is a private copy.
    activations[""] = output_tensor(run_module(module, x))
    return activations
