"""Computes how normalization layers and dropout change kernels.

    Normalize  K'[p, q](x, x') = K[p, q](x, x') / sqrt((v(x)[p] + eps) (v(x')[q] + eps))   (1)
    Dropout    K' = K / keep if both sides are one sample and one position, else K         (2)

v is the variance, averaged over the normalized positions. The same factors multiply the tangents: the derivative of
the normalizer itself is of order 1/channels.
Hypotheses: centered channels (for LayerNorm and GroupNorm), independent masks on every entry.
Reference: [yang2019tensor] for (1), [novak2020neural] for (2).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext
from gnomon.program.steps import Normalize


@dataclass(frozen=True, slots=True)
class NormalizeRule(AbstractRule):
    """Computes covariances and the tangent kernel after a normalization layer."""

    op: Normalize
    rank: int

    def watches(self) -> tuple[bool | None, ...]:
        """Returns False: normalization needs only variances at each position (pixel, token), not covariances between
        positions.
        """
        return (False,)

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the factor 1 / sqrt(v + eps) of a normalization layer, from the variance v at each position."""
        v = selves[0]
        assert v is not None  # requested by watches
        if self.op.pooled:
            v = v.mean([1 + a for a in self.op.pooled], keepdim=True).expand_as(v)
        return (v + self.op.eps).rsqrt()

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies the covariances and the tangent kernel of two points by the normalization factors of both."""
        (x,) = inputs
        left, right = context.sides(self.rank)
        scale = left * right
        return KernelPair(x.nngp * scale, None if x.ntk is None else x.ntk * scale)  # (1)


@dataclass(frozen=True, slots=True)
class DropoutRule(AbstractRule):
    """Computes covariances and the tangent kernel after dropout."""

    keep: float
    rank: int

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Multiplies kernel entries of two positions with one dropout mask by 1 / keep, the inverse of the fraction of
        units that dropout keeps.
        """
        (x,) = inputs
        factor = self._factor(x.nngp, context)
        return KernelPair(x.nngp * factor, None if x.ntk is None else x.ntk * factor)  # (2)

    def _factor(self, array: Tensor, context: RuleContext) -> Tensor:
        grid = array.shape[context.batch : context.batch + self.rank]
        shared = torch.ones(grid, dtype=array.dtype, device=array.device)
        if context.full and self.rank:
            shared = torch.eye(grid.numel(), dtype=array.dtype, device=array.device).reshape(*grid, *grid)
        if context.same is not None:
            shared = shared * context.same.to(array).reshape(*context.same.shape, *(1,) * shared.dim())
        return 1 + (1 / self.keep - 1) * shared
