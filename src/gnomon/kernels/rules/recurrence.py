"""Computes kernels of recurrent layers, which apply the same weights at every time step, so that time steps correlate.

With pre_t the covariances of the input map, K[t, s] the covariances of the preactivations u_t, v_s of two inputs,
and h = phi(u):

    K[t, s] = pre[t, s] + w^2 E[phi(u_{t-1}) phi(v_{s-1})] + b^2                                        (1)
    T[t, s] = pre_T[t, s] + A E[phi(u_{t-1}) phi(v_{s-1})] + B + w^2 E[phi'(u_{t-1}) phi'(v_{s-1})] T[t-1, s-1]   (2)

where h before the first step is zero; A and B as in `rules.affine`. One recurrent matrix for all times makes states of
different times and inputs jointly Gaussian with the covariance (1), and gradients that went back through different
numbers of steps uncorrelated, so that (2) goes along diagonals of equal lag.
Hypotheses: the recurrent matrix and its bias are independent of the input map; the initial state is zero.
Reference: [yang2019tensor]; the tangent kernel (2) [alemohammad2021recurrent].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.rules.affine import AffineConstants
from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext


@dataclass(frozen=True, slots=True)
class RecurRule(AbstractRule):
    """Computes covariances and the tangent kernel after a recurrent layer, one time step after the other."""

    dual: AbstractDual
    terms: AffineConstants

    def watches(self) -> tuple[bool | None, ...]:
        """Returns False: a recurrent layer needs only each point's variance at each time step."""
        return (False,)

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the variance of the preactivation at each time."""
        pre = selves[0]
        assert pre is not None  # requested by watches
        rows = [pre[:, 0] + self.terms.bias]
        for t in range(1, pre.shape[1]):
            rows.append(pre[:, t] + self.terms.bias + self.terms.weight * self.dual.variance(rows[-1]))  # (1)
        return torch.stack(rows, 1)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns kernels after a recurrent layer; covariances at time t follow from the covariances at time t - 1."""
        (x,) = inputs
        nngp: list[Tensor] = []
        ntk: list[Tensor] = []
        for t in range(x.nngp.shape[context.batch]):
            row = x.nngp.select(context.batch, t) + self.terms.bias
            tangent = None
            if context.tangent:
                tangent = torch.zeros_like(row) if x.ntk is None else x.ntk.select(context.batch, t)
                tangent = tangent + self.terms.bias_tangent
            if t:
                moment = self._shift(self._moment(nngp[-1], t - 1, context), context)
                row = row + self.terms.weight * moment  # (1)
                if tangent is not None:
                    back = self._slope(nngp[-1], t - 1, context) * ntk[-1]
                    tangent = (
                        tangent + self.terms.weight_tangent * moment + self.terms.weight * self._shift(back, context)
                    )  # (2)
            nngp.append(row)
            if tangent is not None:
                ntk.append(tangent)
        return KernelPair(torch.stack(nngp, context.batch), torch.stack(ntk, context.batch) if ntk else None)

    def _moment(self, row: Tensor, t: int, context: RuleContext) -> Tensor:
        if context.batch == 1 and not context.full:
            return self.dual.variance(row)
        return self.dual.dual(*self._variances(t, context), row)

    def _slope(self, row: Tensor, t: int, context: RuleContext) -> Tensor:
        return self.dual.dual_derivative(*self._variances(t, context), row)

    def _variances(self, t: int, context: RuleContext) -> tuple[Tensor, Tensor]:
        """Returns the preactivation variances of the left point at time t, and of the right point at all times or at
        time t.
        """
        assert context.left is not None and context.right is not None  # requested by watches
        left, right = context.left[:, t], context.right if context.full else context.right[:, t]
        if context.batch == 2:
            left, right = left.unsqueeze(1), right.unsqueeze(0)
        return (left.unsqueeze(-1) if context.full else left), right

    def _shift(self, row: Tensor, context: RuleContext) -> Tensor:
        """Shifts covariances between one time and all times s by one step, from s - 1 to s; the first entry becomes
        zero.
        """
        if not context.full:
            return row
        return torch.cat([torch.zeros_like(row[..., :1]), row[..., :-1]], -1)
