"""Reading products with matrices that are no parameters: linear maps of positions, as in graph networks.

    y[p] = sum_s M[p, s] h[s]                                                                             (1)

M may be the same for all samples (a buffer, the adjacency of one graph) or data (each sample has its own graph).
"""

from typing import Any

from torch import Tensor, nn

from gnomon.program import layout as lay
from gnomon.program.affine import linear
from gnomon.program.builder import Builder, constant_value, extract, varies
from gnomon.program.layout import Axis, Role
from gnomon.program.steps import Blend, Input, Mix
from gnomon.program.values import Call, Fixed, Random


class Matrices(nn.Module):
    """A matrix for each sample as data with one channel: (n, 1, out, in)."""

    def __init__(self, function: nn.Module, turned: bool) -> None:
        super().__init__()
        self.function, self.turned = function, turned

    def forward(self, x: Tensor) -> Tensor:
        """Turned where the product was from the right."""
        found: Tensor = self.function(x)
        return (found.transpose(-1, -2) if self.turned else found).unsqueeze(1)


def product(b: Builder, call: Call) -> Any:
    """x @ y: with a parameter an affine layer, with a fixed matrix or with data a linear map of positions."""
    left, right = call.args[0], call.get(1, "other", call.get(1, "mat2"))
    if isinstance(left, Fixed) and isinstance(right, Random):
        return _mixed(b, call, left, right, dimension=len(right.layout) - 2)
    if isinstance(left, Random) and isinstance(right, Fixed):
        return _mixed(b, call, right, left, dimension=len(left.layout) - 1)
    if isinstance(left, Random) and isinstance(right, Random):
        raise b.refuse(
            call,
            "multiplies two outputs of layers",
            "branches are added or concatenated; products of them are not Gaussian",
            "Write the network without that product",
        )
    return linear(b, call)


def _mixed(b: Builder, call: Call, matrix: Fixed, value: Random, *, dimension: int) -> Random:
    """Equation (1) along one dimension of the value, which must hold positions alone."""
    value = b.flush(value, call)
    turned = dimension == len(value.layout) - 1  # h @ M is M^T along the last dimension
    if dimension < 0 or {a.role for a in value.layout[dimension]} - {Role.POSITION}:
        raise b.refuse(
            call,
            "multiplies channels by a matrix that is not a parameter",
            "channels are exchangeable: only affine layers mix them",
            "Multiply positions: (matrix) @ (batch, positions, channels)",
        )
    size, out = lay.shape_of(value.layout)[dimension], call.shape[dimension]
    layout = list(value.layout)
    layout[dimension] = (Axis(size, Role.POSITION),)
    value = b.settle(value, tuple(layout), call.where)
    layout[dimension] = (Axis(out, Role.POSITION),) if out > 1 else ()
    kept = [*layout[:dimension], (Axis(out, Role.POSITION),), *layout[dimension + 1 :]]
    gaussian = b.steps[value.source].gaussian
    if varies(matrix):
        return _blended(b, call, matrix, value, tuple(kept), turned)
    m = constant_value(b, matrix)
    if m.dim() != 2:
        raise b.unread(call, f"multiplies by a fixed tensor of shape {tuple(m.shape)}; matrices have a rule")
    axis = lay.position_axes(value.layout, dimension)[0]
    matrices: list[Tensor | None] = [None] * len(lay.grid(value.layout))
    matrices[axis] = m.T.contiguous() if turned else m
    made = b.emit(Mix(tuple(matrices)), (value.source,), call.where, tuple(kept), gaussian=gaussian)  # (1)
    return b.settle(made, tuple(layout), call.where)


def _blended(b: Builder, call: Call, matrix: Fixed, value: Random, layout: lay.Layout, turned: bool) -> Random:
    """A matrix of its own for each sample."""
    if len(lay.grid(value.layout)) != 1:
        raise b.unread(call, "multiplies a grid of several axes by data; (batch, positions, channels) has a rule")
    function = Matrices(extract(b.root, b.graph, matrix.node), turned)
    sizes = (lay.grid(layout)[0], lay.grid(value.layout)[0])
    shape: lay.Layout = (
        (Axis(b.batch, Role.BATCH),),
        (Axis(1, Role.CHANNEL),),
        *((Axis(s, Role.POSITION),) for s in sizes),
    )
    entered = b.emit(Input(function, 1), (), call.where, shape, gaussian=False)
    gaussian = b.steps[value.source].gaussian
    made = b.emit(Blend(), (value.source, entered.source), call.where, layout, gaussian=gaussian)  # (1)
    kept = tuple(() if d and d[0].role is Role.POSITION and d[0].size == 1 else d for d in layout)
    return b.settle(made, kept, call.where)
