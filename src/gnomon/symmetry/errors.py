"""Measures for each layer how far it is from respecting a symmetry, and names the layer that breaks the symmetry.

    invariance     |h(g x) - h(x)| / |h(x)|                                                                       (1)
    equivariance   |h(g x) - g h(x)| / |h(x)|,    for layers whose features the group moves                        (2)

averaged over examples and moves. Intervals are confidence intervals of a mean over examples; if the moves are drawn
from a group (`sampled`), also of a mean over moves. A layer breaks the symmetry if its
input still follows the group, in the sense of (1) or (2), and its output does not.

Hypotheses: moves that keep the shape of inputs; a module whose output for an example does not depend on the others.
Reference: [cohen2016group].

>>> import torch
>>> from torch import nn
>>> from gnomon.symmetry.action import translations
>>> torch.manual_seed(0)
<torch._C.Generator object at ...>
>>> net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.Flatten(), nn.Linear(32, 2))
>>> found = equivariance(net, torch.randn(4, 1, 4, 4), translations())
>>> found.layers[0].follows, found.breaks
(True, '1')
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Interval, Plot, Result
from gnomon.core.results.record import Record
from gnomon.symmetry.action import GroupAction

__all__ = ["EquivarianceErrors", "LayerError", "equivariance", "layer_features", "mean_error_interval"]

EQUIVARIANCE_TOLERANCE = 1e-3
"""Relative error up to which a layer counts as equivariant: the rounding of float32."""
CONFIDENCE_LEVEL = 0.95
"""Confidence level of the intervals."""


@dataclass(frozen=True, slots=True)
class LayerError(Record):
    """How much a layer's features change under a transformation (invariance) or differ from transformed ones
    (equivariance).

    See equations (1) and (2) of the module docstring.

    >>> LayerError("conv", 0.9, Interval(0.8, 1.0), 1e-7, Interval(0.0, 1e-6)).follows
    True
    """

    name: str
    invariance: float
    invariance_interval: Interval
    equivariance: float | None
    equivariance_interval: Interval | None

    @property
    def follows(self) -> bool:
        """Returns whether the layer respects the symmetry: its features are invariant or equivariant up to rounding."""
        return self.invariance < EQUIVARIANCE_TOLERANCE or (
            self.equivariance is not None and self.equivariance < EQUIVARIANCE_TOLERANCE
        )


@dataclass(frozen=True, slots=True)
class EquivarianceErrors(Result):
    """Result: how far each layer is from invariant and equivariant, in call order; the last entry is the output."""

    layers: tuple[LayerError, ...]
    action: str
    moves: tuple[str, ...]
    by_move: tuple[float, ...]
    examples: int

    @property
    def output(self) -> LayerError:
        """Returns the invariance and equivariance errors of the whole network."""
        return self.layers[-1]

    @property
    def breaks(self) -> str | None:
        """The first layer that breaks the symmetry although its inputs respect it; None if no layer does."""
        return next((layer.name for layer in self.layers if not layer.follows), None)

    @property
    def verdict(self) -> str:
        """States in one sentence whether the network respects the transformations, and which layer breaks the
        symmetry.
        """
        whole = self.output
        if whole.invariance < EQUIVARIANCE_TOLERANCE:
            return f"The network is invariant under {self.action}: its output changes by {whole.invariance:.1e}."
        if whole.equivariance is not None and whole.equivariance < EQUIVARIANCE_TOLERANCE:
            moves = f"its output transforms with the input, up to {whole.equivariance:.1e}"
            return f"The network is equivariant under {self.action}: {moves}."
        where = f"; '{self.breaks}' is the first layer that breaks the symmetry" if self.breaks else ""
        return f"Under {self.action} the output changes by {whole.invariance:.1%} of its size{where}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the invariance and equivariance error of each layer."""
        kept = Bars("invariance", [a.name for a in self.layers], [a.invariance for a in self.layers])
        words = f"Short bars mean that features do not change under {self.action}."
        first = Plot("Invariance", (kept,), Axis("relative error"), caption=words)
        known = [layer for layer in self.layers if layer.equivariance is not None]
        moved = Bars("equivariance", [a.name for a in known], [a.equivariance or 0.0 for a in known])
        words = f"Short bars mean that features transform like the input under {self.action}."
        return (first, Plot("Equivariance", (moved,), Axis("relative error"), caption=words)) if known else (first,)


@add_call_to_errors
def equivariance(module: nn.Module, data: Any, action: GroupAction) -> EquivarianceErrors:
    """Measures how far all layers are from invariant and equivariant under a group of transformations.

    See equations (1) and (2) of the module docstring.
    Hypotheses: as stated for the module; a move that changes the shape of inputs is refused.
    Reference: [cohen2016group].
    Cost: a forward pass for each move, and one more; the features of all layers are kept meanwhile.

    >>> from gnomon.symmetry.action import flips
    >>> mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    >>> equivariance(mean, torch.rand(3, 2, 4, 4), flips()).output.invariance < 1e-6
    True
    """
    check_module_is_callable(module)
    given = all_inputs(data, module)
    if not isinstance(given, Tensor):
        raise InputError("x is not one tensor", accepted="one tensor of inputs", fix="Pass a module with one input")
    before = layer_features(module, given)
    rows: dict[str, list[tuple[Tensor, Tensor | None]]] = {name: [] for name in before}
    by_move = []
    for i, label in enumerate(action.labels):
        after = layer_features(module, _move(given, action, i, label))
        for name, h in before.items():
            moved = None if action.features is None else action.features(h, i, given)
            same = moved is not None and moved.shape == after[name].shape
            rows[name].append((_error(after[name], h, h), _error(after[name], moved, h) if same else None))
        last = rows[next(reversed(rows))][-1]
        by_move.append(float((last[0] if last[1] is None else torch.minimum(last[0], last[1])).mean()))
    layers = tuple(_layer(name, parts, action.drawn) for name, parts in rows.items())
    return EquivarianceErrors(layers, action.name, action.labels, tuple(by_move), len(given))


def _move(x: Tensor, action: GroupAction, i: int, label: str) -> Tensor:
    moved = action.moves[i](x)
    if not isinstance(moved, Tensor) or moved.shape != x.shape:
        shape = tuple(moved.shape) if isinstance(moved, Tensor) else type(moved).__name__
        found = f"'{label}' returns shape {shape} for {tuple(x.shape)}"
        raise InputError(
            found,
            accepted="transformations that keep the shape",
            fix=("Pass square images, or transformations that keep the shape"),
        )
    return moved.contiguous()


def layer_features(module: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """Returns the outputs of each layer in the order of calls, and the output of the network at the end.

    Cost: a forward pass; all features are kept.

    >>> list(layer_features(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), torch.zeros(1, 2)))
    ['0', '1', 'output']
    """
    kept: dict[str, Tensor] = {}

    def hook(name: str) -> object:
        def keep(_part: nn.Module, _args: object, out: object) -> None:
            h = next(iter(input_tensors(out)), None)
            if h is not None and h.is_floating_point() and len(h) == len(x) and name not in kept:
                kept[name] = h.detach().clone()

        return keep

    with preserve(module, grad=False):
        leaves = [(n, p) for n, p in module.named_modules() if n and not any(True for _ in p.children())]
        handles = [part.register_forward_hook(hook(name)) for name, part in leaves]
        try:
            out = run_module(module, x)
        finally:
            for handle in handles:
                handle.remove()
    kept["output"] = next(iter(input_tensors(out))).detach()
    return kept


def _error(after: Tensor, wanted: Tensor | None, size: Tensor) -> Tensor:
    """Returns the relative difference between actual and expected features of each example."""
    below = size.double().flatten(1).norm(dim=1)
    gap = (after.double() - (0 if wanted is None else wanted.double())).flatten(1).norm(dim=1)
    return torch.where(below > 0, gap / below.clamp_min(1e-300), torch.where(gap > 0, torch.inf, 0.0))


def _layer(name: str, parts: list[tuple[Tensor, Tensor | None]], drawn: bool) -> LayerError:
    still = torch.stack([a for a, _ in parts])
    moving = [b for _, b in parts if b is not None]
    with_group = torch.stack(moving) if len(moving) == len(parts) else None
    return LayerError(
        name,
        float(still.mean()),
        mean_error_interval(still, drawn=drawn),
        None if with_group is None else float(with_group.mean()),
        None if with_group is None else mean_error_interval(with_group, drawn=drawn),
    )


def mean_error_interval(values: Tensor, *, drawn: bool = False) -> Interval:
    """Returns a 95 % interval of the mean of errors (moves, examples), over examples and sampled transformations.

    Hypotheses: independent examples, and independent moves.

    >>> mean_error_interval(torch.tensor([[1.0, 1.0]])).width
    0.0
    """
    mean, (moves, n) = float(values.mean()), values.shape
    square = float(values.mean(0).var()) / n if n > 1 else float("inf")
    square += float(values.mean(1).var()) / moves if drawn and moves > 1 else 0.0
    half = 1.96 * square**0.5
    return Interval(max(0.0, mean - half), mean + half, CONFIDENCE_LEVEL)
