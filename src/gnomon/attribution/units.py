"""Finds what units and directions of a layer respond to: optimized inputs, and the most activating examples.

    x* = argmax_x <v, h(x)> - l2 |x|^2 - tv mean |grad x|^2                                                      (1)
    purity(v) = share of the commonest class among the k examples with the largest <v, h(x)>                     (2)

Hypotheses: a layer with differentiable outputs; maps are averaged over positions.
Reference: [erhan2009visualizing], (1); [szegedy2014intriguing], (2).
Cost: (1) ``iterations`` forward and backward passes of one example; (2) one forward pass over the data.

>>> net = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
>>> seen = visualize_unit(net, "1", 0, shape=(1, 2, 2), iterations=60)
>>> bool(torch.cosine_similarity(seen.image.flatten(), net[1].weight[0], dim=0) > 0.99)
True
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.probes import pool_positions
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.capture import capture_layer_outputs, outputs_of_layers
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = [
    "UnitPurity",
    "TopActivating",
    "UnitVisualization",
    "compare_unit_purity",
    "top_activating",
    "visualize_unit",
]


@dataclass(frozen=True, slots=True, eq=False)
class UnitVisualization(Result):
    """Result: the input that activates a unit most, and the activation that this input reaches."""

    image: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    activation: float
    start: float

    @property
    def verdict(self) -> str:
        """States in one sentence how far the optimized input raises the unit's activation."""
        return f"The image raises the activation of the unit from {self.start:.3g} to {self.activation:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the optimized input as an image, averaged over channels."""
        image = self.image.mean(0) if self.image.dim() == 3 else self.image.reshape(1, -1)
        return (
            Plot(
                "What excites the unit",
                (Image("input", image),),
                Axis("pixels across"),
                Axis("pixels down"),
                self.verdict,
            ),
        )


@add_call_to_errors
def visualize_unit(
    module: nn.Module, layer: str, unit: int | Tensor, *, shape: tuple[int, ...], iterations: int = 200,
    l2_weight: float = 0.05,
    total_variation_weight: float = 0.0, lr: float = 0.1, seed: int = 0,
) -> UnitVisualization:  # fmt: skip
    """Optimizes an input to activate a unit (a number) or a direction (a vector) of a layer most.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [erhan2009visualizing].
    Cost: ``iterations`` forward and backward passes of one example.

    >>> net = nn.Sequential(nn.Linear(3, 1))
    >>> visualize_unit(net, "0", 0, shape=(3,), iterations=20).activation > 0
    True
    """
    check_module_is_callable(module)
    penalty, smooth = (
        check_number("l2_weight", l2_weight, above=-1e-300),
        check_number("total_variation_weight", total_variation_weight, above=-1e-300),
    )
    like = next(module.parameters(), torch.zeros(()))
    draw = torch.Generator().manual_seed(check_seed(seed))
    x = (0.01 * torch.randn(1, *shape, generator=draw)).to(like.device, like.dtype).requires_grad_()
    optimizer = torch.optim.Adam([x], check_number("lr", lr, above=0))
    values = []
    with preserve(module), capture_layer_outputs(module, (layer,)) as kept:
        for _ in range(check_integer("iterations", iterations)):
            run_module(module, x)
            h = kept[layer].flatten(2).mean(2) if kept[layer].dim() == 4 else kept[layer].flatten(1)
            value = (h @ _vector(unit, h.shape[1]).to(h))[0]
            values.append(float(value.detach()))
            rough = sum(x.diff(dim=axis).square().mean() for axis in range(2, x.dim())) if x.dim() == 4 else 0.0
            (x.grad,) = torch.autograd.grad(penalty * x.square().sum() + smooth * rough - value, x)  # (1)
            optimizer.step()
    return UnitVisualization(x.detach()[0], values[-1], values[0])


@dataclass(frozen=True, slots=True, eq=False)
class TopActivating(Result):
    """Result: the examples that activate a unit or direction of a layer most, their activations and classes."""

    index: Tensor
    activation: Tensor
    classes: Tensor | None

    @property
    def purity(self) -> float:
        """Returns the fraction of the most activating examples that belong to their most common class; NaN without
        classes.
        """
        return float(self.classes.bincount().max() / len(self.classes)) if self.classes is not None else float("nan")

    @property
    def verdict(self) -> str:
        """States in one sentence which examples or classes activate the unit or direction most."""
        if self.classes is None:
            first = ", ".join(str(int(i)) for i in self.index[:3])
            return f"Examples {first} activate the direction most; pass their classes to measure purity."
        return (
            f"Of the {len(self.index)} examples that activate the direction most, {self.purity:.0%} are of one class."
        )


@add_call_to_errors
def top_activating(module: nn.Module, layer: str, direction: int | Tensor, data: Any, *, k: int = 10) -> TopActivating:
    """Returns the k examples that activate a unit or a direction of a layer most.

    Cost: one forward pass over the data.

    >>> net = nn.Sequential(nn.Linear(2, 2, bias=False))
    >>> len(top_activating(net, "0", 0, (torch.randn(20, 2), torch.arange(20) % 2), k=5).index)
    5
    """
    check_module_is_callable(module)
    batch = data_source(data, module=module).whole()
    h = outputs_of_layers(module, batch.x, (layer,), keep=pool_positions)[layer]
    return _top(h, _vector(direction, h.shape[1]).to(h), batch.y, check_integer("k", k))


@dataclass(frozen=True, slots=True)
class UnitPurity(Result):
    """Result: how often the most activating examples share a class, for single units, random directions, and by
    chance.
    """

    units: float
    random: float
    chance: float

    @property
    def verdict(self) -> str:
        """States in one sentence whether single units are purer than random directions."""
        return (
            f"Of the examples that activate a unit most, {self.units:.0%} are of one class; for a random direction "
            f"instead of a unit, {self.random:.0%} are "
            f"(chance {self.chance:.0%}): units are {'no' if self.units < self.random + 0.1 else 'a'} privileged basis."
        )


@add_call_to_errors
def compare_unit_purity(
    module: nn.Module, layer: str, data: Any, *, k: int = 10, directions: int = 32, seed: int = 0
) -> UnitPurity:
    """Tests whether the most activating examples of single units share a class more often than for random directions.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [szegedy2014intriguing].
    Cost: one forward pass over the data.

    >>> x = torch.randn(60, 4)
    >>> found = compare_unit_purity(nn.Sequential(nn.Linear(4, 8)), "0", (x, (x[:, 0] > 0).long()))
    >>> 0.5 <= found.random <= 1
    True
    """
    check_module_is_callable(module)
    batch = data_source(data, module=module).whole()
    if batch.y is None or batch.y.is_floating_point():
        raise InputError("the data have no classes", accepted="examples with classes", fix="Pass (inputs, classes)")
    h = outputs_of_layers(module, batch.x, (layer,), keep=pool_positions)[layer]
    draw = torch.Generator().manual_seed(check_seed(seed))
    spread = h.std(0) > 1e-9 * h.abs().max()
    basis = torch.eye(h.shape[1], dtype=h.dtype)[spread][:directions]
    free = torch.randn(directions, h.shape[1], generator=draw, dtype=h.dtype)
    size = check_integer("k", k)
    purity = [sum(_top(h, v, batch.y, size).purity for v in vs) / max(len(vs), 1) for vs in (basis, free)]
    drawn = [batch.y[torch.randperm(len(batch.y), generator=draw)[:size]] for _ in range(200)]
    return UnitPurity(purity[0], purity[1], sum(float(y.bincount().max()) / len(y) for y in drawn) / 200)


def _top(h: Tensor, v: Tensor, y: Tensor | None, k: int) -> TopActivating:
    best = (h @ v).topk(min(k, len(h)))
    return TopActivating(best.indices, best.values, None if y is None or y.is_floating_point() else y[best.indices])


def _vector(unit: int | Tensor, size: int) -> Tensor:
    if isinstance(unit, Tensor) and unit.shape == (size,):
        return unit / unit.norm().clamp(min=1e-30)
    if not isinstance(unit, Tensor) and 0 <= int(unit) < size:
        return torch.eye(size)[int(unit)]
    found = f"the layer has {size} units"
    raise InputError(found, accepted="a unit or direction of the layer", fix=f"Pass a number below {size}, or a vector")
