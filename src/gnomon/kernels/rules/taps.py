"""Computes kernels of affine layers with weights shared over positions, such as convolutions over a group.

With y[s] = b + sum_t w_t x[i(t, s)], positions s being places and elements of the group together,

    pre[s, s'] = (1 / taps) sum_t K[i(t, s), i(t, s')]                                                       (1)

and the same mean of tangents; a convolution is the case where i(t, s) = s + t. A lifting layer has taps t = v and
i(v, (u, g)) = u + g v, a regular one t = (v, h) and i((v, h), (u, g)) = (u + g v, g h).

Reference: [novak2019bayesian] for convolutions, [cohen2016group] for the layers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.rules.affine import AffineConstants
from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext
from gnomon.program.steps import SharedWeightMap


@dataclass(frozen=True, slots=True)
class TapsRule(AbstractRule):
    """Computes covariances and the tangent kernel after an affine layer with weights shared over positions."""

    op: SharedWeightMap
    terms: AffineConstants
    grid: tuple[int, ...]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns covariances and the tangent kernel after the layer, averaged over the positions that
        share weights.
        """
        (x,) = inputs
        pre = self._mean(x.nngp, context)
        return self.terms.join(pre, None if x.ntk is None else self._mean(x.ntk, context), context)

    def _mean(self, array: Tensor, context: RuleContext) -> Tensor:
        head = array.shape[: context.batch]
        places = array.shape[context.batch :].numel()
        if context.full:
            places = round(places**0.5)
        flat = array.reshape(*head, *(places,) * (2 if context.full else 1))
        total = torch.zeros(*head, *(self.op.index.shape[1],) * (2 if context.full else 1)).to(array)
        for index in self.op.index.to(array.device):
            inside = (index >= 0).to(array)
            at = index.clamp(min=0)
            if context.full:
                total += flat[..., at, :][..., at] * (inside[:, None] * inside)  # (1)
            else:
                total += flat[..., at] * inside
        shape = self.grid * 2 if context.full else self.grid
        return (total / len(self.op.index)).reshape(*head, *shape)
