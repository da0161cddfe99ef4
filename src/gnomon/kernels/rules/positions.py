"""The kernel rules of layers that act only on positions: pooling, reshapes, attention with fixed weights.

    Mix     K'[p, q] = sum_{s, t} M[p, s] M[q, t] K[s, t]                                  (1)
    Move    K'[p, q] = K[i(p), i(q)]                                                       (2)
    Attend  K'[p, q] = sum_{s, t} Z(x)[p, s] Z(x')[q, t] K[s, t]                           (3)
            Z(x)[p, s] = softmax over s of w^2 K_in(x, x)[p, s]                            (4)
    Blend   as (3), with Z(x) a matrix that is part of the data

and the same for tangents. (4): with logits (1/d_k) sum_j q_j(p) q_j(s), tied queries and keys, and d_k, heads to
infinity, the logits are deterministic and the query/key weights have no tangent.
Reference: [novak2019bayesian] for pooling; [hron2020infinite] for attention.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext, diagonal
from gnomon.program.steps import FixedPositionMap, Reorder


@dataclass(frozen=True, slots=True)
class MixRule(AbstractRule):
    """The kernel rule of pooling, means, padding and upsampling."""

    op: FixedPositionMap

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns whether the rule needs all pairs of positions, which holds if positions are summed, not only
        copied."""
        return (full or self._sums,)

    @property
    def _sums(self) -> bool:
        return any(m is not None and bool(((m != 0).sum(1) > 1).any()) for m in self.op.matrices)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Applies the linear map of positions to both points, along every grid axis."""
        (x,) = inputs
        return KernelPair(self._mix(x.nngp, context), None if x.ntk is None else self._mix(x.ntk, context))

    def _mix(self, array: Tensor, context: RuleContext) -> Tensor:
        rank = len(self.op.matrices)
        full = self.wants(context.full)[0]
        for axis, matrix in enumerate(self.op.matrices):
            if matrix is None:
                continue
            m = matrix.to(array)
            if not full:
                dim = context.batch + axis
                # only variances are needed, so each entry of the matrix is squared
                array = torch.tensordot(array, m * m, dims=([dim], [1])).movedim(-1, dim)
                continue
            for dim in (context.batch + rank + axis, context.batch + axis):
                array = torch.tensordot(array, m, dims=([dim], [1])).movedim(-1, dim)  # (1)
        return diagonal(array, context.batch, rank) if full and not context.full else array


@dataclass(frozen=True, slots=True)
class MoveRule(AbstractRule):
    """The kernel rule of reshapes, permutes and slices of positions."""

    op: Reorder
    rank: int

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Moves the covariances to their new positions."""
        (x,) = inputs
        return KernelPair(self._move(x.nngp, context), None if x.ntk is None else self._move(x.ntk, context))

    def _move(self, array: Tensor, context: RuleContext) -> Tensor:
        head, index = array.shape[: context.batch], self.op.index.to(array.device)
        size = array.shape[context.batch : context.batch + self.rank].numel()
        identity = len(index) == size and bool((index == torch.arange(size, device=index.device)).all())
        if not context.full:
            flat = array.reshape(*head, size)
            return (flat if identity else flat[..., index]).reshape(*head, *self.op.shape)  # (2)
        square = array.reshape(*head, size, size)
        moved = square if identity else square[..., index, :][..., index]
        return moved.reshape(*head, *self.op.shape, *self.op.shape)


@dataclass(frozen=True, slots=True)
class AttendRule(AbstractRule):
    """The kernel rule of attention with deterministic logits."""

    weight: float

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns which inputs need all pairs of positions: the values, but not the logits, which enter as
        statistics."""
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns that the covariance of the logits' input with itself is needed for all pairs of positions."""
        return None, True

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the attention weights of each point.

        See equation (4) of the module docstring.
        """
        logits = selves[1]
        assert logits is not None  # requested by watches
        return torch.softmax(self.weight * logits, dim=-1)  # (4)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies the covariances of the values by both points' attention weights."""
        x = inputs[0]
        return KernelPair(self._attend(x.nngp, context), None if x.ntk is None else self._attend(x.ntk, context))

    def _attend(self, array: Tensor, context: RuleContext) -> Tensor:
        return _both_sides(array, context)


@dataclass(frozen=True, slots=True)
class BlendRule(AbstractRule):
    """The kernel rule of position maps whose matrices come from the data."""

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns which inputs need all pairs of positions: the values, but not the matrices."""
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns None for both inputs, because no self-covariance is needed."""
        return None, None

    def features(self, data: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the matrix of each point, which is its second input."""
        matrices = data[1]
        assert matrices is not None  # the second input is the matrices
        return matrices[:, 0]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies the covariances of the values by both points' matrices."""
        x = inputs[0]
        return KernelPair(_both_sides(x.nngp, context), None if x.ntk is None else _both_sides(x.ntk, context))


def _both_sides(array: Tensor, context: RuleContext) -> Tensor:
    """Returns Z(x) K Z(x')^T, where Z(x) and Z(x') are the weight matrices of both points."""
    assert context.left is not None and context.right is not None
    left, right = context.left, context.right.transpose(-1, -2)
    if context.batch == 2:
        left, right = left.unsqueeze(1), right.unsqueeze(0)
    mixed = left @ array @ right  # (3)
    return mixed if context.full else diagonal(mixed, context.batch, 1)
