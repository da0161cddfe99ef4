"""Units that do no work: dead, saturated, or twins of others; and how the moments of layers move in training.

    dead        phi'(h) = 0 at every example (relu: never active)                                                (1)
    saturated   |phi'(h)| below 1 % of its maximum, as a share of all units and examples                         (2)
    duplicates  units of a layer with the same incoming weights and bias: they get the same gradient forever      (3)
    shift       |mean_1 - mean_0| / std_0  and  std_1 / std_0  of a layer's outputs between checkpoints           (4)

Hypotheses: activations are modules of torch.nn that act on each number alone; functions in ``forward`` are not seen.
Reference: [glorot2010understanding]; [goodfellow2013maxout] on units that die; [ioffe2015batch] for (4).

>>> import torch
>>> net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())
>>> net[0].weight.data = torch.tensor([[1.0], [-1.0]])
>>> unit_activity(net, torch.ones(4, 1)).dead                                               # one of two
{'1': 0.5}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import check_readable
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import invoke
from gnomon.core.layers import activations, layer_names
from gnomon.core.pure import twin
from gnomon.core.results import Axis, Bars, Line, Plot, Result
from gnomon.core.source import source_of_inputs, whole_inputs
from gnomon.core.untouched import untouched

__all__ = ["MomentShift", "UnitActivity", "UnitDuplicates", "moment_shift", "unit_activity", "unit_duplicates"]

SATURATED = 0.01
"""Of the largest slope, below which a unit passes on next to no gradient."""
ELEMENTWISE = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish, nn.Tanh, nn.Sigmoid,
               nn.Softplus, nn.Softsign, nn.Hardtanh, nn.ReLU6, nn.Hardsigmoid, nn.Hardswish, nn.PReLU)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnitActivity(Result):
    """By activation layer: the share of dead units (1), and of saturated numbers (2)."""

    dead: dict[str, float]
    saturated: dict[str, float]
    examples: int

    @property
    def verdict(self) -> str:
        """The worst layers."""
        one = max(self.dead, key=self.dead.__getitem__)
        two = max(self.saturated, key=self.saturated.__getitem__)
        return (
            f"At most {self.dead[one]:.0%} of the units of a layer are dead on {self.examples} examples ('{one}'), at "
            f"most {self.saturated[two]:.0%} saturated ('{two}')."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Both for each layer."""
        names = tuple(self.dead)
        return (
            Plot("Dead units", (Bars("share", names, tuple(self.dead.values())),), Axis("share of units")),
            Plot("Saturated", (Bars("share", names, tuple(self.saturated.values())),), Axis("share of outputs")),
        )


@dataclass(frozen=True, slots=True)
class UnitDuplicates(Result):
    """By layer: its units, how many of them repeat another one (3), and how many have no incoming weight at all."""

    units: dict[str, int]
    duplicates: dict[str, int]
    empty: dict[str, int]

    @property
    def verdict(self) -> str:
        """How many units are wasted."""
        lost = sum(self.duplicates.values()) + sum(self.empty.values())
        if not lost:
            return f"All {sum(self.units.values())} units differ."
        return f"{lost} of {sum(self.units.values())} units repeat another one or have no weights: draw them at random."

    def plots(self) -> tuple[Plot, ...]:
        """Wasted units of each layer."""
        names = tuple(self.units)
        wasted = [self.duplicates[name] + self.empty[name] for name in names]
        return (Plot("Units that repeat others", (Bars("units", names, wasted),), Axis("units"), caption=self.verdict),)


@dataclass(frozen=True, slots=True)
class MomentShift(Result):
    """By layer, at each checkpoint: the root mean square shift of unit means, and the mean ratio of deviations (4)."""

    means: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]

    @property
    def verdict(self) -> str:
        """The layer whose outputs moved most."""
        name = max(self.means, key=lambda n: self.means[n][-1])
        return (
            f"The outputs of '{name}' moved most: their means by {self.means[name][-1]:.2g} standard deviations, which "
            f"themselves changed by the factor {self.deviations[name][-1]:.2g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """The shift of the means along the checkpoints."""
        lines = tuple(Line(name, range(len(row)), row) for name, row in self.means.items())
        return (Plot("Shift of layers", lines, Axis("checkpoint"), Axis("shift in deviations"), self.verdict),)


def unit_activity(module: nn.Module, x: Any) -> UnitActivity:
    """The share of dead units and of saturated outputs of every activation layer, over the inputs; (1), (2).

    Hypotheses: see the module. Units are on the axis after the examples'.
    Reference: [glorot2010understanding].
    Cost: a forward pass, and one more through each activation.

    >>> unit_activity(nn.Sequential(nn.Tanh()), torch.tensor([[0.0], [9.0]])).saturated
    {'0': 0.5}
    """
    call = "unit_activity(module, x)"
    check_readable(module, call=call)
    parts = {name: part for name, part in module.named_modules() if isinstance(part, ELEMENTWISE)}
    if not parts:
        cure = "Pass a network whose activations are modules such as nn.ReLU"
        raise InputError(lesson(call, "no activation is a module of torch.nn", "activation layers", cure))
    alive: dict[str, Tensor] = {}
    counts: dict[str, list[float]] = {}

    def keep(name: str, own: nn.Module, top: float) -> Any:
        def hook(_: nn.Module, args: Any, __: Any) -> None:
            slope = _slope(own, args[0])
            units = slope.flatten(2).amax(2) if slope.dim() > 2 else slope
            used = (units > 0).any(0)
            alive[name] = used if name not in alive else alive[name] | used
            seen = counts.setdefault(name, [0.0, 0.0])
            seen[0], seen[1] = seen[0] + float((slope < SATURATED * top).sum()), seen[1] + slope.numel()

        return hook

    n = 0
    copies = {name: _copy(part) for name, part in parts.items()}
    tops = {name: float(_slope(own, torch.linspace(-6, 6, 2401)[:, None]).max()) for name, own in copies.items()}
    with untouched(module):
        handles = [part.register_forward_hook(keep(name, copies[name], tops[name])) for name, part in parts.items()]
        try:
            for batch in source_of_inputs(x, module, call=call).batches():
                invoke(module, batch.x, call=call)
                n += len(batch)
        finally:
            for handle in handles:
                handle.remove()
    dead = {name: 1 - float(used.double().mean()) for name, used in alive.items()}  # (1)
    return UnitActivity(dead, {name: few / whole for name, (few, whole) in counts.items()}, n)  # (2)


def unit_duplicates(module: nn.Module) -> UnitDuplicates:
    """How many units of each linear or convolutional layer repeat another or have no incoming weights; equation (3).

    Hypotheses: equal to rounding of the parameters' type. Reference: [rumelhart1986learning].
    Cost: a sort of the rows of each weight.

    >>> net = nn.Linear(3, 4)
    >>> _ = nn.init.constant_(net.weight, 0.5), nn.init.zeros_(net.bias)
    >>> unit_duplicates(net).duplicates                                                      # three repeat the first
    {'': 3}
    """
    call = "unit_duplicates(module)"
    check_readable(module, call=call)
    units, duplicates, empty = {}, {}, {}
    for name, part in module.named_modules():
        if isinstance(part, nn.Linear | nn.modules.conv._ConvNd):
            rows = part.weight.detach().flatten(1)
            none = ~rows.any(1)
            if part.bias is not None:
                rows = torch.cat([rows, part.bias.detach()[:, None]], 1)
            kept = rows[~none]
            units[name], empty[name] = len(rows), int(none.sum())
            duplicates[name] = len(kept) - len(torch.unique(kept, dim=0)) if len(kept) else 0  # (3)
    if not units:
        raise InputError(lesson(call, "there is no linear or convolutional layer", "layers with units", "Pass one"))
    return UnitDuplicates(units, duplicates, empty)


def moment_shift(checkpoints: Sequence[nn.Module], x: Any) -> MomentShift:
    """How the mean and deviation of every layer's units move along checkpoints of a run; equation (4).

    Hypotheses: one architecture; the first checkpoint is the start. Reference: [santurkar2018how].
    Cost: a forward pass of each checkpoint, and the outputs of all layers in memory.

    >>> net = nn.Sequential(nn.Linear(1, 1))
    >>> moment_shift([net, net], torch.randn(8, 1)).means
    {'0': (0.0, 0.0)}
    """
    call = "moment_shift(checkpoints, x)"
    if len(checkpoints) < 2:
        raise InputError(lesson(call, f"there are {len(checkpoints)} checkpoints", "at least two", "Pass more"))
    check_readable(checkpoints[0], call=call)
    inputs = whole_inputs(x, checkpoints[0], call=call)
    first = checkpoints[0]
    names = [name for name in layer_names(first) if any(True for _ in first.get_submodule(name).parameters())]
    rows = [{name: _moments(h) for name, h in activations(m, inputs, names, call=call).items()} for m in checkpoints]
    means, deviations = {}, {}
    for name in names:
        mean, std = rows[0][name]
        means[name] = tuple(float(((r[name][0] - mean) / std.clamp_min(1e-30)).square().mean().sqrt()) for r in rows)
        deviations[name] = tuple(float((r[name][1] / std.clamp_min(1e-30)).mean()) for r in rows)  # (4)
    return MomentShift(means, deviations)


def _moments(h: Tensor) -> tuple[Tensor, Tensor]:
    units = h.double().movedim(1, 0).flatten(1) if h.dim() > 1 else h.double()[None]
    return units.mean(1), units.std(1)


def _copy(part: nn.Module) -> nn.Module:
    """A copy of an activation that does not work in place."""
    own = twin(part, call="unit_activity(module, x)")
    if hasattr(own, "inplace"):
        own.inplace = False
    return own


def _slope(own: nn.Module, h: Tensor) -> Tensor:
    """|phi'| at each number."""
    like = next((p for p in own.parameters()), h)
    leaf = h.detach().to(like).requires_grad_()
    with torch.enable_grad():
        (g,) = torch.autograd.grad(own(leaf).sum(), leaf)
    return g.abs()
