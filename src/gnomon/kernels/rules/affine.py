"""Computes how affine layers (Linear, convolution) change kernels; only these layers have weight matrices.

With pre the mean over the fan_in inputs of their second moments, and T the same mean of their tangents:

    K' = w^2 pre + b^2                                        (1)
    T' = A pre + B + w^2 T                                    (2)

    NTK parametrization       A = w^2       B = b^2           (3)
    standard parametrization  A = fan_in    B = 1             (4)

Hypotheses: weights N(0, w^2/fan_in) and biases N(0, b^2), independent of all other layers.
Reference: [jacot2018neural] Theorem 1; (4) [sohl2020infinite]; convolutions [novak2019bayesian], [arora2019exact].
"""

from dataclasses import dataclass
from math import prod

from torch import Tensor

from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext, pad
from gnomon.program.laws import InitializationLaw
from gnomon.program.steps import Conv, Dense, Weights


@dataclass(frozen=True, slots=True)
class AffineConstants:
    """The four constants by which an affine layer scales and shifts covariances and tangent kernels."""

    weight: float
    bias: float
    weight_tangent: float
    bias_tangent: float

    @classmethod
    def of(cls, weights: Weights, law: InitializationLaw, *, standard: bool) -> "AffineConstants":
        """Returns the kernel constants of an affine layer from its distribution of initial weights; frozen weights add
        no tangent.
        """
        w2, b2 = law.weight_std**2, law.bias_std**2 if weights.bias else 0.0
        a, b = (float(weights.fan_in), 1.0) if standard else (w2, b2)  # (4), (3)
        return cls(w2, b2, a * weights.trained[0], b * (weights.bias is not None and weights.trained[1]))

    def join(self, pre: Tensor, tangent: Tensor | None, context: RuleContext) -> KernelPair:
        """Returns covariances and the tangent kernel after an affine layer, from averages over the inputs of the layer.

        See equations (1) and (2) of the module docstring.
        """
        nngp = (self.weight * pre).add_(self.bias)  # (1)
        if not context.tangent:
            return KernelPair(nngp)
        ntk = (self.weight_tangent * pre).add_(self.bias_tangent)
        return KernelPair(nngp, ntk if tangent is None else ntk.add_(tangent, alpha=self.weight))  # (2)


@dataclass(frozen=True, slots=True)
class DenseRule(AbstractRule):
    """Computes covariances and the tangent kernel after a Linear layer; flattened positions are averaged."""

    op: Dense
    terms: AffineConstants
    rank: int

    def wants(self, full: bool) -> tuple[bool, ...]:
        """Returns whether a Linear layer needs covariances between all positions, which it does if some positions
        remain.
        """
        return (full and len(self.op.contracted) < self.rank,)

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns covariances and the tangent kernel after a Linear layer, averaged over the positions that it
        flattens.
        """
        (x,) = inputs
        full = self.wants(context.full)[0]
        pre = self._mean(x.nngp, context.batch, full)
        return self.terms.join(pre, None if x.ntk is None else self._mean(x.ntk, context.batch, full), context)

    def _mean(self, array: Tensor, batch: int, full: bool) -> Tensor:
        for axis in sorted(self.op.contracted, reverse=True):
            if full:
                rank = (array.dim() - batch) // 2
                array = array.diagonal(dim1=batch + axis, dim2=batch + rank + axis).mean(-1)
            else:
                array = array.mean(batch + axis)
        return array


@dataclass(frozen=True, slots=True)
class ConvRule(AbstractRule):
    """Computes kernels after a convolution: averages of covariances over the positions of the convolution window."""

    op: Conv
    terms: AffineConstants

    def apply(self, inputs: tuple[KernelPair, ...], context: RuleContext) -> KernelPair:
        """Returns covariances and the tangent kernel after a convolution, averaged over the positions of its window."""
        (x,) = inputs
        pre = self._mean(x.nngp, context)
        return self.terms.join(pre, None if x.ntk is None else self._mean(x.ntk, context), context)

    def _mean(self, array: Tensor, context: RuleContext) -> Tensor:
        rank = len(self.op.window.kernel)
        for axis in range(rank):
            dims = (context.batch + axis, context.batch + rank + axis) if context.full else (context.batch + axis,)
            array = self._taps(array, axis, dims)
        return array.mul_(1 / prod(self.op.window.kernel)) if prod(self.op.window.kernel) > 1 else array

    def _taps(self, array: Tensor, axis: int, dims: tuple[int, ...]) -> Tensor:
        window = self.op.window
        kernel, stride, dilation = window.kernel[axis], window.stride[axis], window.dilation[axis]
        for dim in dims:
            array = pad(array, dim, *window.padding[axis], circular=window.mode == "circular")
        last = array.shape[dims[0]] - dilation * (kernel - 1)
        total = None
        for tap in range(kernel):
            place = [slice(None)] * array.dim()
            for dim in dims:
                place[dim] = slice(tap * dilation, tap * dilation + last, stride)
            part = array[tuple(place)]
            total = part if total is None else total + part if tap == 1 else total.add_(part)
        assert total is not None  # A kernel has at least one entry, so the sum exists.
        return total
