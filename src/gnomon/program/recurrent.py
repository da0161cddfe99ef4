"""Converts nn.RNN to program steps: in each layer an affine map of the input, a recurrent map, and an activation.

    u_t = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh,    h_t = phi(u_t),    h_{-1} = 0                      (1)

PyTorch draws all four from U(-1/sqrt(n), 1/sqrt(n)) with n the number of hidden units, also the map of the input.
"""

from math import sqrt
from typing import Any

import torch
from torch import nn

from gnomon.program import layout as lay
from gnomon.program.affine import dense
from gnomon.program.builder import Builder, constant_value, varies
from gnomon.program.expression import Apply, Variable
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import Activation, Concat, Dropout, Recurrence, Reorder, Weights
from gnomon.program.values import Call, Fixed, Random


def recurrent(b: Builder, call: Call) -> tuple[Any, Any]:
    """Converts nn.RNN to program steps for its two outputs: states of the last layer, and last state of every layer."""
    module = call.module
    assert isinstance(module, nn.RNN)
    value = _sequence(b, call)
    directions = ("", "_reverse") if module.bidirectional else ("",)
    last: list[Random] = []
    for layer in range(module.num_layers):
        if layer and module.dropout and module.training:
            keep = Dropout(1.0 - module.dropout)
            value = b.emit(keep, (value.source,), call.where, value.layout, gaussian=False)
        made = [_direction(b, call, value, f"l{layer}{d}") for d in directions]
        last += [_last(b, call, states, backwards=bool(d)) for states, d in zip(made, directions, strict=True)]
        value = made[0] if len(made) == 1 else _beside(b, call, made)
    if len(last) > 1:
        return value, last
    single: lay.Layout = ((), *last[0].layout)
    return value, Random(last[0].source, single)


def _sequence(b: Builder, call: Call) -> Random:
    """Returns the input of an RNN as (batch, times, channels); raises an error for an initial state other than zero."""
    value, module, start = call.args[0], call.module, call.get(1, "hx")
    if start is not None and not _is_zero(b, start):
        raise b.unread(call, "is given an initial state that is not x.new_zeros(...); the rule starts from zero")
    if not module.batch_first:
        raise b.unread(call, "takes the time first; the rule is for RNN(..., batch_first=True)")
    if isinstance(value, Fixed):
        value = b.enter(value, len(value.shape) - 1, call.where)
    value = b.flush(value, call)
    shape = lay.shape_of(value.layout)
    roles = [{a.role for a in d} for d in value.layout]
    if len(shape) != 3 or roles[0] != {Role.BATCH} or roles[1] - {Role.POSITION} or roles[2] != {Role.CHANNEL}:
        raise b.unread(call, f"receives shape {shape}; it takes (batch, times, channels)")
    times: lay.Layout = (value.layout[0], (LayoutAxis(shape[1], Role.POSITION),), value.layout[2])
    return b.settle(value, times, call.where)


def _is_zero(b: Builder, start: Any) -> bool:
    """Whether the initial state of an RNN is zero for every input."""
    if not isinstance(start, Fixed):
        return False
    if start.node.target in ("new_zeros", torch.zeros_like):
        return True
    return not varies(start) and not bool(constant_value(b, start).any())


def _direction(b: Builder, call: Call, value: Random, name: str) -> Random:
    """Adds the program steps for one layer of an RNN in one direction; the backward direction reverses the sequence."""
    module, backwards = call.module, name.endswith("_reverse")
    times = lay.shape_of(value.layout)[1]
    flip = torch.arange(times - 1, -1, -1)
    if backwards:
        value = b.emit(Reorder(flip, (times,)), (value.source,), call.where, value.layout, gaussian=False)
    inner = dense(b, call, value, _weights(b, call, "ih", name), module.hidden_size)
    phi = module.nonlinearity
    tree = Apply(phi, getattr(torch, phi), (Variable(),))
    recur = Recurrence(_weights(b, call, "hh", name), tree)
    sums = b.emit(recur, (inner.source,), call.where, inner.layout, gaussian=True)  # (1)
    states = b.emit(Activation(tree), (sums.source,), call.where, sums.layout, gaussian=False)
    if backwards:
        states = b.emit(Reorder(flip, (times,)), (states.source,), call.where, states.layout, gaussian=False)
    return states


def _last(b: Builder, call: Call, states: Random, *, backwards: bool) -> Random:
    """Returns the final state of an RNN: the last position, or the first position for the backward direction."""
    times = lay.shape_of(states.layout)[1]
    place = torch.tensor([0 if backwards else times - 1])
    layout = (states.layout[0], states.layout[2])
    return b.emit(Reorder(place, ()), (states.source,), call.where, layout, gaussian=False)


def _beside(b: Builder, call: Call, made: list[Random]) -> Random:
    layout = lay.with_channels(made[0].layout, 2 * call.module.hidden_size)
    return b.emit(Concat((0.5, 0.5)), tuple(m.source for m in made), call.where, layout, gaussian=False)


def _weights(b: Builder, call: Call, kind: str, name: str) -> Weights:
    """Returns the weights of the input map ("ih") or state map ("hh") of one layer, with PyTorch's initialization."""
    module, prefix = call.module, f"{call.where}." if call.where else ""
    weight, bias = f"{prefix}weight_{kind}_{name}", f"{prefix}bias_{kind}_{name}" if module.bias else None
    b.account(weight, call.where)
    matrix = getattr(module, f"weight_{kind}_{name}")
    trained = (matrix.requires_grad, False)
    if bias:
        b.account(bias, call.where)
        trained = (matrix.requires_grad, getattr(module, f"bias_{kind}_{name}").requires_grad)
    std = 1 / sqrt(3 * module.hidden_size)
    return Weights(weight, "RNN", weight, bias, matrix.shape[1], trained, (std, std))
