"""Units that do no work: dead or saturated ones.

    dead        phi'(h) = 0 at every example (relu: never active)                                                (1)
    saturated   |phi'(h)| below 1 % of its maximum, as a share of all units and examples                         (2)

Hypotheses: activations are modules of torch.nn that act on each number alone; functions in ``forward`` are not seen.
Reference: [glorot2010understanding]; [goodfellow2013maxout] on units that die.

>>> import torch
>>> net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU())
>>> net[0].weight.data = torch.tensor([[1.0], [-1.0]])
>>> unit_activity(net, torch.ones(4, 1)).dead                                               # one of two
{'1': 0.5}
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import check_weights
from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import invoke
from gnomon.core.pure import twin
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.source import source_of_inputs
from gnomon.core.untouched import untouched

__all__ = ["UnitActivity", "unit_activity"]

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


def unit_activity(module: nn.Module, x: Any) -> UnitActivity:
    """The share of dead units and of saturated outputs of every activation layer, over the inputs; (1), (2).

    Hypotheses: see the module. Units are on the axis after the examples'.
    Reference: [glorot2010understanding].
    Cost: a forward pass, and one more through each activation.

    >>> unit_activity(nn.Sequential(nn.Tanh()), torch.tensor([[0.0], [9.0]])).saturated
    {'0': 0.5}
    """
    call = "unit_activity(module, x)"
    check_weights(module, call=call)
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


def _copy(part: nn.Module) -> nn.Module:
    """A copy of an activation that does not work in place."""
    own = twin(part, call="unit_activity(module, x)")
    if hasattr(own, "inplace"):
        setattr(own, "inplace", False)  # noqa: B010  # a plain attribute, not a parameter
    return own


def _slope(own: nn.Module, h: Tensor) -> Tensor:
    """|phi'| at each number."""
    like = next((p for p in own.parameters()), h)
    leaf = h.detach().to(like).requires_grad_()
    with torch.enable_grad():
        (g,) = torch.autograd.grad(own(leaf).sum(), leaf)
    return g.abs()
