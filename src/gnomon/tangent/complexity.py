"""Measures how complex a target is for a kernel, and how many effective parameters a network has.

    |f|_K^2 = y^T K^-1 y         the squared norm of the smoothest function of the kernel through y              (1)
    df = tr K (K + ridge)^-1 = sum_i lambda_i / (lambda_i + ridge)                                              (2)

(1) bounds the test error of kernel regression by sqrt(|f|^2 / n); (2) is at most the number of examples, whatever the
number of parameters.
Reference: [arora2019fine], Theorem 5.1, for (1); [hastie2009elements], section 7.6, for (2).

>>> import torch
>>> round(kernel_norm(torch.diag(torch.tensor([4.0, 1.0])), torch.tensor([2.0, 2.0])).square, 6)      # 4 / 4 + 4 / 1
5.0
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_targets, check_number
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.results import Result
from gnomon.linalg.square import as_square_matrix, symmetric_part
from gnomon.tangent.empirical import ntk

__all__ = ["EffectiveParameters", "KernelNorm", "effective_parameters", "kernel_norm"]


@dataclass(frozen=True, slots=True)
class KernelNorm(Result):
    """The squared norm of the smoothest function that fits targets y, and the share of y that the kernel cannot
    represent.
    """

    square: float
    examples: int
    outside: float

    @property
    def bound(self) -> float:
        """The order of magnitude of the test error of kernel regression: the root of (squared norm of the target /
        examples).
        """
        return float((self.square / self.examples) ** 0.5)

    @property
    def verdict(self) -> str:
        """A sentence that says whether the target is simple or hard for the kernel."""
        if self.outside > 1e-6:
            return f"{self.outside:.1%} of the target lies outside what the kernel can represent: its norm is infinite."
        word = "simple" if self.bound < 1 else "hard"
        return (
            f"The target is {word} for this kernel: its norm in the kernel's function space (RKHS) is "
            f"{self.square**0.5:.3g}, {self.bound:.3g} per example."
        )


@dataclass(frozen=True, slots=True)
class EffectiveParameters(Result):
    """The effective number of parameters (degrees of freedom) of a fit, with the numbers of examples and parameters."""

    value: float
    examples: int
    parameters: int

    @property
    def verdict(self) -> str:
        """A sentence that states the effective number of parameters of the fit."""
        return (
            f"{self.parameters:,} parameters fit these {self.examples} examples with {self.value:.1f} degrees of "
            "freedom."
        )


@add_call_to_errors
def kernel_norm(kernel: Array, y: Array) -> KernelNorm:
    """Returns the squared norm of the smoothest function of a kernel's space that has the values y at the kernel's
    points.

    See equation (1) of the module docstring.
    Directions of eigenvalues below rounding are not inverted: the part of y along them is reported as ``outside``.
    Hypotheses: a symmetric positive semi-definite kernel. Reference: [arora2019fine].
    Cost: O(n^3), in float64.

    >>> kernel_norm(torch.ones(2, 2), torch.tensor([1.0, -1.0])).outside                # not constant: out of range
    1.0
    """
    matrix = symmetric_part(as_square_matrix(kernel).detach())
    rounding = torch.finfo(matrix.dtype).eps
    values, vectors = torch.linalg.eigh(matrix.double())
    target = targets_as_numbers(as_targets(y, len(matrix))).double().reshape(len(matrix), -1)
    along = (vectors.T @ target).square().sum(1)
    inside = values > rounding * len(values) * float(values[-1].clamp_min(0))
    whole = float(along.sum())
    outside = float(along[~inside].sum()) / whole if whole > 0 else 0.0
    return KernelNorm(float((along[inside] / values[inside]).sum()), len(matrix), outside)  # (1)


@add_call_to_errors
def effective_parameters(module: nn.Module, data: Any, *, ridge: float) -> EffectiveParameters:
    """Returns the effective number of parameters of a network: the degrees of freedom of ridge regression on its
    gradients.

    See equation (2) of the module docstring.

    Args:
        module: a network; its mean tangent kernel over outputs is taken.
        data: inputs.
        ridge: on the sum of squares, sum (f - y)^2 + ridge |w - w0|^2; for early stopping at time t, n / t.

    Hypotheses: the kernel at the present parameters. Reference: [hastie2009elements].
    Cost: one empirical kernel and its eigenvalues.

    >>> round(effective_parameters(nn.Linear(2, 1, bias=False), torch.eye(2), ridge=1.0).value, 6)        # 2 / (1 + 1)
    1.0
    """
    penalty = check_number("ridge", ridge, above=0)
    values = torch.linalg.eigvalsh(ntk(module, data).double()).clamp_min(0)
    count = sum(p.numel() for p in module.parameters() if p.requires_grad)
    return EffectiveParameters(float((values / (values + penalty)).sum()), len(values), count)  # (2)
