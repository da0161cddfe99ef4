"""Computes how layers that act only on positions (pixels, tokens) change kernels: pooling, reshapes, fixed attention.

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
    """Computes kernels after pooling, means, padding and upsampling, which are linear maps of positions."""

    op: FixedPositionMap

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns whether covariances between all pairs of positions are needed; true if positions are summed, not only
        copied.
        """
        return (full or self._sums,)

    @property
    def _sums(self) -> bool:
        return any(m is not None and bool(((m != 0).sum(1) > 1).any()) for m in self.op.matrices)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Applies a linear map of positions, such as pooling, to the kernels between positions of two inputs."""
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
                # Only variances are needed, so each entry of the position matrix is squared.
                array = torch.tensordot(array, m * m, dims=([dim], [1])).movedim(-1, dim)
                continue
            for dim in (context.batch + rank + axis, context.batch + axis):
                array = torch.tensordot(array, m, dims=([dim], [1])).movedim(-1, dim)  # (1)
        return diagonal(array, context.batch, rank) if full and not context.full else array


@dataclass(frozen=True, slots=True)
class MoveRule(AbstractRule):
    """Computes kernels after reshapes, permutes and slices, which only move positions."""

    op: Reorder
    rank: int

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Moves covariances and tangent kernels to the new positions of the grid."""
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
    """Computes kernels after attention whose logits are not random in the infinite-width limit."""

    weight: float

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns which attention inputs need covariances between all tokens: the values, but not the logits."""
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns that attention needs covariances between all tokens of the input that determines the logits."""
        return None, True

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the attention weights of each point: the softmax of its logits.

        See equation (4) of the module docstring.
        """
        logits = selves[1]
        assert logits is not None  # requested by watches
        return torch.softmax(self.weight * logits, dim=-1)  # (4)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies the covariances of the attention values by the attention weights of both inputs."""
        x = inputs[0]
        return KernelPair(self._attend(x.nngp, context), None if x.ntk is None else self._attend(x.ntk, context))

    def _attend(self, array: Tensor, context: RuleContext) -> Tensor:
        return _both_sides(array, context)


@dataclass(frozen=True, slots=True)
class BlendRule(AbstractRule):
    """Computes kernels after a linear map of positions whose matrix is part of the data."""

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns which of the two inputs, features and mixing matrices, need covariances between all positions: only
        the features.
        """
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns None for both inputs, because matrices from the data need no covariance of a point with itself."""
        return None, None

    def features(self, data: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the matrix that acts on the positions of each point, which is the layer's second input."""
        matrices = data[1]
        assert matrices is not None  # The second input holds the matrices, so it is never None.
        return matrices[:, 0]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies the covariances of the values by the matrices that the two inputs apply to their positions."""
        x = inputs[0]
        return KernelPair(_both_sides(x.nngp, context), None if x.ntk is None else _both_sides(x.ntk, context))


def _both_sides(array: Tensor, context: RuleContext) -> Tensor:
    """Returns Z(x) K Z(x')^T for covariances K between positions, with the weight matrices Z(x), Z(x') of both
    points.
    """
    assert context.left is not None and context.right is not None
    left, right = context.left, context.right.transpose(-1, -2)
    if context.batch == 2:
        left, right = left.unsqueeze(1), right.unsqueeze(0)
    mixed = left @ array @ right  # (3)
    return mixed if context.full else diagonal(mixed, context.batch, 1)
