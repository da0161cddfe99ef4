"""Rules that act only on positions: fixed linear maps, moves, attention.

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
    """The rule of pooling, means, padding and upsampling, equation (1)."""

    op: FixedPositionMap

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns whether all pairs are needed: only if positions are summed, not if they are only copied."""
        return (full or self._sums,)

    @property
    def _sums(self) -> bool:
        return any(m is not None and bool(((m != 0).sum(1) > 1).any()) for m in self.op.matrices)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Applies the map to both sides of every grid axis."""
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
                array = torch.tensordot(array, m * m, dims=([dim], [1])).movedim(-1, dim)  # (1) with one s for each p
                continue
            for dim in (context.batch + rank + axis, context.batch + axis):
                array = torch.tensordot(array, m, dims=([dim], [1])).movedim(-1, dim)  # (1)
        return diagonal(array, context.batch, rank) if full and not context.full else array


@dataclass(frozen=True, slots=True)
class MoveRule(AbstractRule):
    """The rule of reshapes, permutes and slices of positions, equation (2)."""

    op: Reorder
    rank: int

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Gathers entries by the index."""
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
    """The rule of attention with deterministic logits, equation (3)."""

    weight: float

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns the needed forms: all pairs of the values; the logits enter only through statistics."""
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns the full self-covariance that determines the logits as needed."""
        return None, True

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the attention weights, equation (4)."""
        logits = selves[1]
        assert logits is not None  # requested by watches
        return torch.softmax(self.weight * logits, dim=-1)  # (4)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Mixes both sides with their own weights."""
        x = inputs[0]
        return KernelPair(self._attend(x.nngp, context), None if x.ntk is None else self._attend(x.ntk, context))

    def _attend(self, array: Tensor, context: RuleContext) -> Tensor:
        return _both_sides(array, context)


@dataclass(frozen=True, slots=True)
class BlendRule(AbstractRule):
    """The rule of equation (3) with matrices from the data."""

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns the needed forms: all pairs of the values, nothing else of the matrices."""
        return True, False

    def watches(self) -> tuple[bool | None, ...]:
        """Returns None: no self-covariance is needed."""
        return None, None

    def features(self, data: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the matrices of the points."""
        matrices = data[1]
        assert matrices is not None  # its second input is data
        return matrices[:, 0]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Mixes both sides with their own matrices."""
        x = inputs[0]
        return KernelPair(_both_sides(x.nngp, context), None if x.ntk is None else _both_sides(x.ntk, context))


def _both_sides(array: Tensor, context: RuleContext) -> Tensor:
    """Returns Z(x) K Z(x')^T, in the requested form."""
    assert context.left is not None and context.right is not None
    left, right = context.left, context.right.transpose(-1, -2)
    if context.batch == 2:
        left, right = left.unsqueeze(1), right.unsqueeze(0)
    mixed = left @ array @ right  # (3)
    return mixed if context.full else diagonal(mixed, context.batch, 1)
