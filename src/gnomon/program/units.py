"""Finds the hidden units of a module: which parameter entries belong to a unit, so that units can be permuted.

A unit of a layer is a row of its weight, an entry of its bias, entries of the normalization that follows, and a column
(after flattening: a block of columns) of the weights that read it. Two changes keep the function of the network:

    permutation   units of a group in another order, in all of these places                                       (1)
    scaling       what makes a unit times c > 0, what reads it over c; between them only f(c x) = c f(x)            (2)

Layers that add to each other share one group. What is not understood (attention, concatenation, a parameter used in
``forward`` directly) pins the groups it touches: they are left alone, so what is found is true and may be too little.

Hypotheses: eval mode; forward is a fixed sequence of calls.
Reference: [hecht1990algebraic] for (1), [dinh2017sharp] for (2), [ainsworth2023git] for layers that share an order.

>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
>>> found = hidden_units(net, torch.zeros(1, 2))
>>> [(group.size, [(s.name, s.axis) for s in group.slots]) for group in found.permutations]
[(3, [('0.weight', 0), ('0.bias', 0), ('2.weight', 1)])]
"""

import operator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from gnomon.core.modules.layer_classes import CHANNEL_NORMS, CONVOLUTIONS, SMOOTH_OR_BOUNDED_ACTIVATIONS
from gnomon.core.results.record import Record
from gnomon.program.trace import trace

__all__ = ["HiddenUnits", "UnitEntries", "UnitGroup", "hidden_units", "permute_units", "scale_units"]

POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.AvgPool1d, nn.AvgPool2d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d,
         nn.AdaptiveMaxPool2d)  # fmt: skip
SCALED = (nn.ReLU, nn.LeakyReLU, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, *POOLS)
SCALED_CALLS: set[Any] = {torch.relu, F.relu, "relu", "relu_", torch.relu_, F.leaky_relu, F.max_pool2d, F.avg_pool2d,
                          F.adaptive_avg_pool2d, F.dropout, torch.nn.functional.max_pool1d, "contiguous"}  # fmt: skip
BENT_CALLS: set[Any] = {torch.tanh, "tanh", torch.sigmoid, "sigmoid", F.gelu, F.silu, F.elu, F.softplus, F.mish,
                        F.tanh, F.sigmoid}  # fmt: skip
SUMS: set[Any] = {operator.add, operator.iadd, torch.add, "add", "add_", operator.sub, torch.sub}
RESHAPES: set[Any] = {torch.flatten, "flatten", "view", "reshape", torch.reshape}
MEANS: set[Any] = {"mean", torch.mean, "sum", torch.sum, "amax", torch.amax}


@dataclass(frozen=True, slots=True)
class UnitEntries(Record):
    """The entries of a parameter or buffer that belong to hidden units: an axis with ``repeat`` entries per unit.

    ``power`` is 1 if the entries produce the unit, -1 if they read it, 0 if scaling does not change them.
    """

    name: str
    axis: int
    repeat: int
    power: int


@dataclass(frozen=True, slots=True)
class UnitGroup(Record):
    """Hidden units that must be permuted (or scaled) together, their parameter entries, and the layers that output
    them.
    """

    size: int
    slots: tuple[UnitEntries, ...]
    layers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HiddenUnits(Record):
    """The groups of hidden units that may be permuted, and the groups that may be scaled, without changing the
    function.
    """

    permutations: tuple[UnitGroup, ...]
    scalings: tuple[UnitGroup, ...]


def hidden_units(module: nn.Module, example: Tensor) -> HiddenUnits:
    """Finds the hidden units of a module, by tracing the module once on an example of its inputs.

    Cost: one execution on the meta device, no arithmetic.

    >>> net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).eval()
    >>> [(s.name, s.axis, s.repeat) for s in hidden_units(net, torch.zeros(1, 1, 4, 4)).permutations[0].slots][-1]
    ('4.weight', 1, 4)
    """
    walk = _Walk(module)
    values: dict[fx.Node, _Value | None] = {}
    for node in trace(module, example).nodes:
        values[node] = walk.node(node, values)
    walk.join_shared()
    return HiddenUnits(walk.orders.groups(), walk.scales.groups())


@torch.no_grad()
def permute_units(module: nn.Module, group: UnitGroup, order: Tensor) -> None:
    """Reorders the hidden units of a group by permuting their parameter entries in place.

    See equation (1) of the module docstring.
    Cost: a copy of the parameters it touches.

    >>> net = nn.Sequential(nn.Linear(1, 2), nn.Tanh(), nn.Linear(2, 1))
    >>> before = net(torch.ones(1, 1))
    >>> permute_units(net, hidden_units(net, torch.zeros(1, 1)).permutations[0], torch.tensor([1, 0]))
    >>> torch.allclose(before, net(torch.ones(1, 1)))
    True
    """
    state = _state(module)
    for slot in group.slots:
        index = (order[:, None] * slot.repeat + torch.arange(slot.repeat)).flatten()
        t = state[slot.name]
        t.copy_(t.index_select(slot.axis, index.to(t.device)))  # (1)


@torch.no_grad()
def scale_units(module: nn.Module, group: UnitGroup, factors: Tensor) -> None:
    """Multiplies the incoming weights of each hidden unit by a positive factor and divides the outgoing ones, in place.

    See equation (2) of the module docstring.
    Cost: one pass over the parameters it touches.

    >>> net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> before = net(torch.ones(1, 1))
    >>> scale_units(net, hidden_units(net, torch.zeros(1, 1)).scalings[0], torch.tensor([4.0, 0.5]))
    >>> torch.allclose(before, net(torch.ones(1, 1)))
    True
    """
    state = _state(module)
    for slot in group.slots:
        t = state[slot.name]
        shape = [-1 if i == slot.axis else 1 for i in range(t.dim())]
        t.mul_(factors.double().repeat_interleave(slot.repeat).pow(slot.power).reshape(shape).to(t))  # (2)


def _state(module: nn.Module) -> dict[str, Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


@dataclass(frozen=True, slots=True)
class _Value:
    """A tensor with an axis of hidden units: the indices of their groups, the axis, and the number of entries per
    unit."""

    order: int
    scale: int
    axis: int
    repeat: int


@dataclass(slots=True)
class _Groups:
    """Groups of hidden units, which can be merged, or marked as not permutable."""

    sizes: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)
    slots: list[tuple[int, UnitEntries]] = field(default_factory=list)
    layers: list[tuple[int, str]] = field(default_factory=list)

    def fresh(self, size: int) -> int:
        self.sizes.append(size)
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def root(self, i: int) -> int:
        while self.parent[i] != i:
            i = self.parent[i]
        return i

    def join(self, i: int, j: int) -> None:
        i, j = self.root(i), self.root(j)
        if self.sizes[i] != self.sizes[j]:
            self.pinned |= {i, j}
        else:
            self.parent[max(i, j)] = min(i, j)

    def groups(self) -> tuple[UnitGroup, ...]:
        pinned = {self.root(i) for i in self.pinned}
        found = []
        for i in range(len(self.parent)):
            slots = tuple(dict.fromkeys(s for j, s in self.slots if self.root(j) == i))
            if self.parent[i] == i and i not in pinned and slots:
                names = tuple(dict.fromkeys(n for j, n in self.layers if self.root(j) == i))
                found.append(UnitGroup(self.sizes[i], slots, names))
        return tuple(found)


class _Walk:
    """Follows hidden units through the calls of a traced module, to find their parameter entries."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self.orders, self.scales = module, _Groups(), _Groups()
        known = {id(t): name for name, t in _state(module).items()}
        parts = [(f"{name}." if name else "", part) for name, part in module.named_modules(remove_duplicate=False)]
        self.names = {f"{prefix}{key}": known[id(t)] for prefix, part in parts
                      for key, t in (*part._parameters.items(), *part._buffers.items())
                      if t is not None and id(t) in known}  # fmt: skip

    def node(self, node: fx.Node, values: dict[fx.Node, _Value | None]) -> _Value | None:
        inputs = [values.get(n) for n in node.all_input_nodes]
        known = [v for v in inputs if v is not None]
        result = node.meta.get("result")
        if node.op == "call_module" and len(inputs) == 1:
            name = str(node.target)
            made = self._layer(self.module.get_submodule(name), name, inputs[0], result)
            if made is not NotImplemented:
                return made
        if node.op in ("call_function", "call_method") and isinstance(result, Tensor):
            made = self._call(node, inputs, result)
            if made is not NotImplemented:
                return made
        if node.op == "output" or any(
            isinstance(t, Tensor) for t in (result if isinstance(result, tuple) else [result])
        ):
            self._pin(*known)
        return None

    def _pin(self, *values: _Value | None) -> None:
        for v in values:
            if v is not None:
                self.orders.pinned.add(v.order)
                self.scales.pinned.add(v.scale)

    def _slots(self, v: _Value, layer: str, keys: tuple[str, ...], axis: int, power: int, repeat: int = 1) -> None:
        """Records parameter entries that belong to hidden units; if a parameter is computed, the units cannot be
        permuted.
        """
        for key in keys:
            full = f"{layer}.{key}" if layer else key
            part = self.module.get_submodule(layer)
            if getattr(part, key, None) is None:
                continue
            if full not in self.names:
                self._pin(v)
                continue
            slot = UnitEntries(self.names[full], axis, repeat, power)
            self.orders.slots.append((v.order, slot))
            if power:
                self.scales.slots.append((v.scale, slot))

    def _new_value(self, size: int, axis: int, layer: str, order: int | None = None) -> _Value:
        v = _Value(self.orders.fresh(size) if order is None else order, self.scales.fresh(size), axis, 1)
        self.orders.layers.append((v.order, layer))
        self.scales.layers.append((v.scale, layer))
        return v

    def _layer(self, layer: nn.Module, name: str, v: _Value | None, result: Any) -> Any:
        if isinstance(layer, nn.Linear):
            return self._affine(layer.out_features, name, v, axis=result.dim() - 1)
        if isinstance(layer, CONVOLUTIONS) and layer.groups == 1 and layer.padding_mode == "zeros":
            return self._affine(layer.out_channels, name, v, axis=1)
        if v is None:
            return None if isinstance(layer, (*SCALED, *SMOOTH_OR_BOUNDED_ACTIVATIONS, nn.Flatten)) else NotImplemented
        if isinstance(layer, CONVOLUTIONS) and layer.groups == layer.in_channels == layer.out_channels and v.axis == 1:
            self.scales.slots += [(v.scale, UnitEntries(self.names[f"{name}.weight"], 0, 1, -1))]
            made = self._new_value(layer.out_channels, 1, name, v.order)
            self._slots(made, name, ("weight", "bias"), 0, 1)
            # The weight of a depthwise convolution both produces and reads its units, so their scaling factors would
            # cancel.
            self.scales.pinned |= {v.scale, made.scale}
            return made
        whole = isinstance(layer, nn.LayerNorm) and layer.normalized_shape == (result.shape[-1],)
        if isinstance(layer, CHANNEL_NORMS) and v.axis == 1 or whole and v.axis == result.dim() - 1:
            return self._norm(v, name)
        if isinstance(layer, nn.Flatten) and layer.start_dim == 1 and v.axis == 1:
            return self._flat(v, result)
        if isinstance(layer, POOLS) and v.axis != 1:
            return NotImplemented
        if isinstance(layer, SMOOTH_OR_BOUNDED_ACTIVATIONS):
            self.scales.pinned.add(v.scale)
        return v if isinstance(layer, (*SCALED, *SMOOTH_OR_BOUNDED_ACTIVATIONS)) else NotImplemented

    def _affine(self, size: int, name: str, v: _Value | None, axis: int) -> _Value:
        if v is not None and v.axis == axis:
            self._slots(v, name, ("weight",), 1, -1, v.repeat)
        else:
            self._pin(v)
        made = self._new_value(size, axis, name)
        self._slots(made, name, ("weight", "bias"), 0, 1)
        return made

    def _norm(self, v: _Value, name: str) -> _Value:
        """Follows hidden units through a normalization layer, which keeps their order but not their scale."""
        if v.repeat != 1:
            self._pin(v)
        self.scales.pinned.add(v.scale)
        made = self._new_value(self.orders.sizes[v.order], v.axis, name, v.order)
        self._slots(made, name, ("weight", "bias"), 0, 1)
        self._slots(made, name, ("running_mean", "running_var"), 0, 0)
        if self.module.get_submodule(name).weight is None:
            self.scales.pinned.add(made.scale)
        return made

    def _flat(self, v: _Value, result: Tensor) -> Any:
        if v.axis != 1 or result.dim() != 2:
            return NotImplemented
        return _Value(v.order, v.scale, 1, result.shape[1] // self.orders.sizes[v.order])

    def _call(self, node: fx.Node, inputs: list[_Value | None], result: Tensor) -> Any:
        target, known = node.target, [v for v in inputs if v is not None]
        if not known:
            return None
        v = known[0]
        tensors = [n for n in node.all_input_nodes if isinstance(n.meta.get("result"), Tensor)]
        if target in SUMS and len(tensors) == len(inputs) == len(known) == 2 and (v.axis, v.repeat) == (
            known[1].axis, known[1].repeat) and len({n.meta["result"].shape for n in tensors}) == 1:  # fmt: skip
            self.orders.join(v.order, known[1].order)
            self.scales.join(v.scale, known[1].scale)
            return v
        if len(tensors) != 1:
            return NotImplemented
        before = tensors[0].meta["result"]
        if target in RESHAPES:
            kept = before.dim() > 1 and result.dim() == 2 and result.shape[0] == before.shape[0]
            return self._flat(v, result) if kept else NotImplemented
        if target in MEANS:
            pooled = v.axis == 1 and v.repeat == 1 and result.dim() > 1 and result.shape[1] == before.shape[1]
            return v if pooled and before.dim() == 4 else NotImplemented
        if target in BENT_CALLS or target in SUMS:
            self.scales.pinned.add(v.scale)
        return v if target in SCALED_CALLS | BENT_CALLS | SUMS and result.shape[:2] == before.shape[:2] else (
            NotImplemented)  # fmt: skip

    def join_shared(self) -> None:
        """Merges groups of hidden units that share an axis of one parameter, so that they are permuted together."""
        for groups in (self.orders, self.scales):
            first: dict[tuple[str, int], tuple[int, int]] = {}
            for i, slot in groups.slots:
                j, repeat = first.setdefault((slot.name, slot.axis), (i, slot.repeat))
                if repeat != slot.repeat:
                    groups.pinned |= {i, j}
                groups.join(i, j)
        powers: dict[tuple[int, str, int], set[int]] = {}
        for i, slot in self.scales.slots:  # A weight that produces and reads the same units cannot be rescaled.
            powers.setdefault((self.scales.root(i), slot.name, slot.axis), set()).add(slot.power)
        self.scales.pinned |= {key[0] for key, found in powers.items() if len(found) > 1}
