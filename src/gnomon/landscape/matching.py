"""Permutes the hidden units of one model to match another model's units, without changing the outputs.

    weights      maximize over orders P  sum over the weights of each group  <A, P B>                              (1)
    activations  maximize over orders P  sum over units i of  correlation(a_i(x), b_P(i)(x))                      (2)

(1) for one group, the others fixed, is an assignment problem, solved exactly; groups are visited in turn until nothing
changes. (2) is one assignment for each group and uses data instead of weights. Neither is guaranteed to find the best
order.

Hypotheses: one architecture; groups come from `gnomon.program.units`; layers that it cannot read keep their order.
Reference: [ainsworth2023git], algorithm 1, for (1); [li2016convergent] for (2).
"""

from dataclasses import dataclass, field
from math import inf, lgamma, log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.landscape.between import check_same_architecture
from gnomon.program.units import UnitEntries, UnitGroup, hidden_units, permute_units

__all__ = ["MatchedUnits", "match_units"]

MAX_EXAMPLES = 256
"""Maximum number of inputs whose activations are compared."""
MAX_ROUNDS = 50
"""Maximum number of passes over all groups of units."""
MAX_CORRELATED_NUMBERS = 20_000
"""Maximum number of activations of a unit (examples times positions) in a correlation."""


@dataclass(frozen=True, slots=True, eq=False)
class MatchedUnits(Result):
    """A copy of the second model with its hidden units in the order of the first model's, and the permutations.

    ``orders`` has for each group the former index of each unit; distances are between all weights.

    >>> MatchedUnits(nn.Linear(1, 1), {"0": torch.tensor([1, 0])}, 5.0, 2.0).verdict
    '2 of 2 units in 1 groups were permuted: the weights were 5 apart, now 2.'
    """

    module: nn.Module = field(repr=False, metadata=HIDDEN_IN_JSON)
    orders: dict[str, Tensor]
    before: float
    after: float

    @property
    def moved_units(self) -> int:
        """The number of hidden units whose position changes."""
        return sum(int((order != torch.arange(len(order))).sum()) for order in self.orders.values())

    @property
    def verdict(self) -> str:
        """A sentence with the number of hidden units that moved, and the distance between the models' weights."""
        if not self.orders:
            return (
                f"No hidden units were found that can be permuted without changing the outputs; the weights are "
                f"{self.before:.4g} apart."
            )
        units = sum(len(order) for order in self.orders.values())
        head = f"{self.moved_units} of {units} units in {len(self.orders)} groups were permuted"
        return f"{head}: the weights were {self.before:.4g} apart, now {self.after:.4g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the distance between the two models' weights before and after matching hidden units."""
        bars = Bars("distance of the weights", ("before", "after matching"), (self.before, self.after))
        return (Plot("Matching of hidden units", (bars,), Axis("distance"), caption=self.verdict),)


@add_call_to_errors
def match_units(a: nn.Module, b: nn.Module, data: Any, *, by: str = "activations") -> MatchedUnits:
    """Returns a copy of model ``b`` with the same outputs and its hidden units in the order of model ``a``.

    See equations (1) or (2) of the module docstring.

    Args:
        a: a model. Both models are read in eval mode and left as they were.
        b: another model of the same architecture: dense, convolutional, with normalization and residual sums.
        data: inputs, or data; the activations of 256 of them are compared.
        by: "activations" (2), or "weights" (1).

    Hypotheses: see the module. Reference: [ainsworth2023git], [li2016convergent].
    Cost: a forward pass of each model and an assignment, cubic in the units, for each group; several rounds of
    assignments for weights.

    >>> net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    >>> other = match_units(net, net, torch.randn(20, 2))
    >>> other.moved_units, other.after
    (0, 0.0)
    """
    check_same_architecture(a, b)
    check_module_is_callable(a)
    if by not in ("activations", "weights"):
        raise out_of_range_error("by", '"activations" or "weights"', by)
    inputs = as_input_source(data, a).first(MAX_EXAMPLES).x
    if not isinstance(inputs, Tensor):
        found = f"x is a {type(inputs).__name__}"
        raise InputError(found, accepted="one tensor of inputs", fix="Wrap the models in ones that take one tensor")
    groups = hidden_units(a, inputs[:1]).permutations
    copy = copy_module(b)
    before = _distance(a, copy)
    orders = _by_activations(a, copy, groups, inputs) if by == "activations" else _by_weights(a, copy, groups)
    return MatchedUnits(copy, orders, before, _distance(a, copy))


def _assign(gain: Tensor) -> Tensor:
    """Returns the order of columns that maximizes the sum of ``gain[i, order[i]]`` over rows i."""
    from scipy.optimize import linear_sum_assignment  # Imported here, because scipy is slow to import.

    return torch.from_numpy(linear_sum_assignment(gain.double().cpu().numpy(), maximize=True)[1])


def _by_weights(a: nn.Module, b: nn.Module, groups: tuple[UnitGroup, ...]) -> dict[str, Tensor]:
    orders = {_name(group): torch.arange(group.size) for group in groups}
    one, two = dict(a.named_parameters()), dict(b.named_parameters())
    for _ in range(MAX_ROUNDS):
        changed = False
        for group in groups:
            pairs = [(_rows(one[s.name], s), _rows(two[s.name], s)) for s in group.slots if s.name in one]
            gain = torch.stack([p @ q.T for p, q in pairs]).sum(0)  # (1)
            order = _assign(gain)
            better = gain[torch.arange(len(order)), order].sum() > gain.diagonal().sum() * (1 + 1e-9) + 1e-12
            if bool(better):
                permute_units(b, group, order)
                orders[_name(group)] = orders[_name(group)][order]
                changed = True
        if not changed:
            break
    return orders


def _rows(t: Tensor, slot: UnitEntries) -> Tensor:
    """Returns the entries of a weight tensor that belong to each hidden unit, as one row per unit."""
    return t.detach().double().movedim(slot.axis, 0).reshape(t.shape[slot.axis] // slot.repeat, -1)


def _by_activations(a: nn.Module, b: nn.Module, groups: tuple[UnitGroup, ...], x: Tensor) -> dict[str, Tensor]:
    one, two = (_activations(model, groups, x) for model in (a, b))
    orders = {}
    for i, group in enumerate(groups):
        order = _assign(torch.stack([p @ q.T for p, q in zip(one[i], two[i], strict=True)]).sum(0))  # (2)
        permute_units(b, group, order)
        orders[_name(group)] = order
    return orders


def _activations(model: nn.Module, groups: tuple[UnitGroup, ...], x: Tensor) -> list[list[Tensor]]:
    """Returns, for each group of hidden units, the centered and normalized outputs of its layers, one row per unit."""
    kept: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, __: Any, out: Tensor) -> None:
            kept[name] = _standard(out.detach(), names[name])

        return hook

    names = {name: group.size for group in groups for name in group.layers}
    parts = dict(model.named_modules())
    with preserve(model, grad=False):
        handles = [parts[name].register_forward_hook(keep(name)) for name in names]
        try:
            run_module(model, x)
        finally:
            for handle in handles:
                handle.remove()
    return [[kept[name] for name in group.layers if name in kept] for group in groups]


def _standard(h: Tensor, size: int) -> Tensor:
    axis = 1 if h.shape[1] == size and h.dim() != 3 else h.dim() - 1
    rows = h.movedim(axis, 0).flatten(1)
    rows = rows[:, :: max(1, rows.shape[1] // MAX_CORRELATED_NUMBERS)].double()
    rows = rows - rows.mean(1, keepdim=True)
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-30)


def _name(group: UnitGroup) -> str:
    return group.layers[0]


def _distance(a: nn.Module, b: nn.Module) -> float:
    pairs = zip(a.parameters(), b.parameters(), strict=True)
    return float(sum(float((p.detach().double() - q.detach().double()).square().sum()) for p, q in pairs) ** 0.5)


def log_orders(groups: tuple[UnitGroup, ...]) -> float:
    """Returns log10 of the number of models with the same outputs that differ by the order of hidden units.

    >>> round(10 ** log_orders((UnitGroup(3, (), ("0",)), UnitGroup(2, (), ("1",)))))             # 3! 2!
    12
    """
    return sum(lgamma(group.size + 1) for group in groups) / log(10) if groups else -inf
