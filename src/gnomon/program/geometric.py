"""Converts GCNConv of PyTorch Geometric to program steps, if all inputs have the same graph.

    y = M x W + b,    M[i, j] = a_ij / sqrt(d_i d_j),   a with a loop at every node, d_i = sum_j a_ij        (1)

Its weights are drawn by Glorot's rule, of variance 2 / (inputs + outputs), and its biases are zero.
"""

from math import sqrt
from typing import Any

import torch
from torch import Tensor

from gnomon.program import layout as lay
from gnomon.program.affine import dense, join
from gnomon.program.builder import Builder, constant_value, varies
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import FixedPositionMap, Weights
from gnomon.program.values import Call, Fixed, Random


def messages(b: Builder, call: Call) -> Random:
    """Converts GCNConv(x, edge_index) to program steps, if the edge list is the same for all inputs."""
    m, value, edges = call.module, call.args[0], call.get(1, "edge_index")
    if type(m).__name__ != "GCNConv":
        raise b.unread(call, "is an unsupported message-passing layer; only GCNConv is supported")
    if not isinstance(edges, Fixed) or varies(edges) or call.get(2, "edge_weight") is not None:
        raise b.unread(
            call, "needs edges without weights that are the same for all inputs: gnomon.models.ModuleOnGraph holds them"
        )
    if isinstance(value, Fixed):
        value = b.enter(value, len(value.shape) - 1, call.where)
    value = b.flush(value, call)
    roles = [{a.role for a in d} for d in value.layout]
    if roles != [{Role.BATCH}, {Role.POSITION}, {Role.CHANNEL}]:
        raise b.unread(call, f"receives shape {lay.shape_of(value.layout)}; the rule is for (batch, nodes, channels)")
    nodes = lay.shape_of(value.layout)[1]
    layout = (value.layout[0], (LayoutAxis(nodes, Role.POSITION),), value.layout[2])
    value = b.settle(value, layout, call.where)
    matrix = _coupling(constant_value(b, edges).long(), nodes, m)
    gaussian = b.steps[value.source].gaussian
    mixed = b.emit(FixedPositionMap((matrix,)), (value.source,), call.where, layout, gaussian=gaussian)
    # Nodes are mixed first and channels second; the order does not matter, because both maps commute.
    return dense(b, call, mixed, _weights(b, call, m), m.out_channels)


def _coupling(edges: Tensor, nodes: int, m: Any) -> Tensor:
    """Returns the normalized adjacency matrix for edges given as rows (sources, targets)."""
    a = torch.zeros(nodes, nodes, dtype=torch.float64)
    a.index_put_((edges[1], edges[0]), torch.ones(edges.shape[1], dtype=torch.float64), accumulate=True)
    if not m.normalize:
        return a
    if m.add_self_loops:
        own = a.diagonal()
        own.copy_(torch.where(own > 0, torch.ones_like(own), torch.full_like(own, 2.0 if m.improved else 1.0)))
    scale = a.sum(1).clamp(min=1e-300).rsqrt() * (a.sum(1) > 0)
    return scale[:, None] * a * scale


def _weights(b: Builder, call: Call, m: Any) -> Weights:
    weight, bias = join(call.where, "lin.weight"), join(call.where, "bias") if m.bias is not None else None
    for path in (weight, bias):
        if path:
            b.account(path, call.where)
    trained = (m.lin.weight.requires_grad, bias is not None and m.bias.requires_grad)
    outputs, inputs = m.lin.weight.shape
    return Weights(call.where or "lin", "GCNConv", weight, bias, inputs, trained, (sqrt(2 / (inputs + outputs)), 0.0))
