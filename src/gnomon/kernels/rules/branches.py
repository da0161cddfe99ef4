"""Computes kernels of joined branches: sums of uncorrelated branches, concatenated channels, concatenated positions.

Sum     K' = sum_i a_i^2 K_i         (cross terms vanish; the reader proved it)        (1)
Concat  K' = sum_i (C_i / C) K_i                                                       (2)
Stack   K' = block diagonal in the joined positions                                    (3)
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext


@dataclass(frozen=True, slots=True)
class WeightedRule(AbstractRule):
    """Computes kernels after a sum of branches or a concatenation of channels: a weighted sum of covariances."""

    weights: tuple[float, ...]

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns ``full`` for every branch: covariances between all positions are needed exactly if the output needs
        them.
        """
        return (full,) * len(self.weights)

    def watches(self) -> tuple[bool | None, ...]:
        """Returns None for every branch, because sums of branches need no covariance of a point with itself."""
        return (None,) * len(self.weights)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns the weighted sum of the branches' covariances and tangent kernels."""
        nngp = _sum([w * x.nngp for w, x in zip(self.weights, inputs, strict=True)])
        tangents = [w * x.ntk for w, x in zip(self.weights, inputs, strict=True) if x.ntk is not None]
        return KernelPair(nngp, _sum(tangents) if tangents else None)


@dataclass(frozen=True, slots=True)
class StackRule(AbstractRule):
    """Computes kernels of branches that are concatenated along positions."""

    axis: int
    count: int
    rank: int

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns ``full`` for every branch: covariances between all positions are needed exactly if the output needs
        them.
        """
        return (full,) * self.count

    def watches(self) -> tuple[bool | None, ...]:
        """Returns None for every branch, because concatenation needs no covariances of a point with itself."""
        return (None,) * self.count

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Concatenates the covariances and the tangent kernels of all branches; a missing tangent kernel is zero."""
        nngp = self._stack([x.nngp for x in inputs], context)
        if all(x.ntk is None for x in inputs):
            return KernelPair(nngp)
        tangents = [torch.zeros_like(x.nngp) if x.ntk is None else x.ntk for x in inputs]
        return KernelPair(nngp, self._stack(tangents, context))

    def _stack(self, blocks: list[Tensor], context: RuleContext) -> Tensor:
        dim = context.batch + self.axis
        if not context.full:
            return torch.cat(blocks, dim)
        twin, rows = dim + self.rank, []
        sizes = [b.shape[dim] for b in blocks]
        for i, block in enumerate(blocks):
            before, after = sum(sizes[:i]), sum(sizes[i + 1 :])
            widths = [0, 0] * (block.dim() - twin)
            widths[-2:] = [before, after]
            rows.append(torch.nn.functional.pad(block, widths))  # (3)
        return torch.cat(rows, dim)


def _sum(terms: list[Tensor]) -> Tensor:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
