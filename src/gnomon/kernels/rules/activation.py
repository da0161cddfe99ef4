"""Computes how activations change kernels, including the contributions of their trainable parameters to the NTK.

    K' = E[phi(u) phi(v)]                                                                 (1)
    T' = T E[phi'(u) phi'(v)] + [gain] E[u phi'(u) v phi'(v)] / g^2 + [bias] E[phi'(u) phi'(v)] / g^2
         + [slope] E[min(u, 0) min(v, 0)]                                                 (2)

for (u, v) centered Gaussian with the covariances of the input, and phi(u) = psi(g u + b).
Hypotheses: the input is the output of affine layers (jointly Gaussian in the limit).
Reference: [lee2018deep], [jacot2018neural].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.kernels.duals import ReLU
from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext
from gnomon.program.linear import SlopeAndIntercept
from gnomon.program.steps import TrainableActivationParameter


@dataclass(frozen=True, slots=True)
class ActivationRule(AbstractRule):
    """Computes covariances and the tangent kernel after a nonlinear activation on Gaussian preactivations."""

    dual: AbstractDual
    trainable: tuple[TrainableActivationParameter, ...]
    rank: int

    def watches(self) -> tuple[bool | None, ...]:
        """Returns False: activations need only variances at each position (pixel, token), not covariances between
        positions.
        """
        return (False,)

    def measure(self, selves: tuple[Tensor | None, ...]) -> Tensor | None:
        """Returns the variance of the preactivation at each position of each point."""
        return selves[0]

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns the covariances and the tangent kernel after the activation, from the kernels before it."""
        (x,) = inputs
        if context.batch == 1 and not (context.full and self.rank):
            return KernelPair(self.dual.variance(x.nngp))
        a, b = context.sides(self.rank)
        if not context.tangent or (x.ntk is None and not self.trainable):
            return KernelPair(self.dual.dual(a, b, x.nngp))  # (1)
        nngp, slope = self.dual.dual_and_derivative(a, b, x.nngp)
        ntk = None if x.ntk is None else x.ntk * slope
        for t in self.trainable:  # (2)
            match t.kind:
                case "gain":
                    term = self.dual.dual_gain(a, b, x.nngp) / t.scale**2
                case "bias":
                    term = slope / t.scale**2
                case "slope":
                    term = ReLU().dual(a, b, x.nngp)
            ntk = _plus(ntk, term, t, self.rank, context)
        return KernelPair(nngp, ntk)


@dataclass(frozen=True, slots=True)
class LineRule(AbstractRule):
    """Computes covariances and the tangent kernel after a linear activation phi(u) = s u + i, without Gaussian
    integrals.
    """

    line: SlopeAndIntercept
    trainable: tuple[TrainableActivationParameter, ...]
    rank: int

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns the covariances and the tangent kernel after the linear activation phi(u) = s u + i.

        See equations (1) and (2) of the module docstring.
        """
        (x,) = inputs
        slope, shift = self.line
        nngp = slope**2 * x.nngp + shift**2
        ntk = None if x.ntk is None else slope**2 * x.ntk
        if context.tangent:
            for t in self.trainable:
                # A zero gain is always read as a step of its own, phi(u) = g u + b. Its derivative with respect to g is
                # u, so the ratio is 1.
                ratio = slope / t.scale if t.scale else 1.0
                term = ratio**2 * (x.nngp if t.kind == "gain" else torch.ones_like(x.nngp))
                ntk = _plus(ntk, term, t, self.rank, context)
        return KernelPair(nngp, ntk)


def _plus(ntk: Tensor | None, term: Tensor, t: TrainableActivationParameter, rank: int, context: RuleContext) -> Tensor:
    """Adds the contribution of an activation's trainable parameter to the tangent kernel."""
    if not t.shared and context.full and rank:
        grid = term.shape[context.batch : context.batch + rank]
        eye = torch.eye(grid.numel(), dtype=term.dtype, device=term.device).reshape(*grid, *grid)
        term = term * eye
    return term if ntk is None else ntk + term
