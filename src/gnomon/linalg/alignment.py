"""Measures the similarity of two kernel matrices, or of a kernel matrix and labels.

With <A, B> = sum_ij A_ij B_ij, H = I - 1 1^T / n, and lambda the eigenvalues of a positive kernel:

    rotation(A, B)        = 1 - <A, B> / (|A| |B|)                        0 when B is a multiple of A          (1)
    alignment(K, y)       = <HKH, H y y^T H> / (|HKH| |H y y^T H|)        1 when K is a multiple of y y^T       (2)
    effective_rank(K)     = exp(- sum_i p_i log p_i), p = lambda / sum lambda                                  (3)
    participation(K)      = (sum lambda)^2 / sum lambda^2                                                      (4)
"""

import torch
from torch import Tensor

from gnomon.core import metrics
from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_numbers, as_targets
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.linalg.square import as_square_matrix

__all__ = ["alignment", "effective_rank", "participation_ratio", "kernel_rotation"]


@add_call_to_errors
def kernel_rotation(first: Array, second: Array) -> float:
    """Returns how much a kernel matrix has changed direction relative to another, ignoring their scales.

    See equation (1) of the module docstring.
    Hypotheses: neither kernel is zero.
    Reference: [fort2020deep], the kernel distance.
    Cost: O(n m).

    >>> round(kernel_rotation(torch.eye(2), 5 * torch.eye(2)), 4), round(kernel_rotation(torch.eye(2), torch.ones(2,
    ...     2)), 4)
    (0.0, 0.2929)
    """
    a, b = (_finite(as_numbers(k, "the kernel")) for k in (first, second))
    if a.shape != b.shape:
        what = f"kernels of shape {tuple(a.shape)} and {tuple(b.shape)}"
        fix = "Pass the kernels of the same points"
        raise InputError(what, accepted="one shape", fix=fix)
    return max(0.0, 1 - float((a * b).sum() / (a.norm() * b.norm())))  # (1)


@add_call_to_errors
def alignment(kernel: Array, y: Array) -> float:
    """Returns the centered alignment (similarity) of a kernel matrix with targets y, between -1 and 1.

    See equation (2) of the module docstring.
    Integer labels (n,) are classes, taken as one-hot rows; floating-point ones, (n,) or (n, k), are numbers.

    Hypotheses: labels that are not all equal.
    Reference: [cortes2012algorithms].
    Cost: O(n^2 k).

    >>> y = torch.tensor([1.0, -1.0, 1.0, -1.0])
    >>> round(alignment(torch.outer(y, y), y), 4), round(alignment(torch.eye(4), y), 4)   # 1 and 1 / sqrt(3)
    (1.0, 0.5774)
    >>> classes = torch.tensor([0, 1, 2])
    >>> round(alignment(torch.eye(3), classes), 4)                               # the kernel of one-hot rows is eye(3)
    1.0
    """
    k = _kernel(kernel)
    labels = targets_as_numbers(as_targets(y, len(k))).to(k)
    labels = labels.reshape(len(k), -1)
    centered = labels - labels.mean(0)
    target = centered @ centered.T
    k = k - k.mean(0) - k.mean(1, keepdim=True) + k.mean()
    if not (target.norm() > 0 and k.norm() > 0):
        what = "labels or kernel are constant"
        raise InputError(what, accepted="labels and kernel that vary", fix="Pass labels that differ")
    return float((k * target).sum() / (k.norm() * target.norm()))  # (2)


@add_call_to_errors
def effective_rank(kernel: Array) -> float:
    """Returns the effective number of nonzero eigenvalues of a kernel matrix (exponential of the spectrum's entropy).

    See equation (3) of the module docstring.
    Hypotheses: positive semidefinite; eigenvalues below zero by rounding count as zero.
    Reference: [roy2007effective].
    Cost: O(n^3).

    >>> round(effective_rank(torch.eye(5)), 4), round(effective_rank(torch.ones(5, 5)), 4)
    (5.0, 1.0)
    """
    eigenvalues = torch.linalg.eigvalsh(_kernel(kernel))
    return metrics.effective_rank(eigenvalues.clamp(min=0))  # (3)


@add_call_to_errors
def participation_ratio(kernel: Array) -> float:
    """Returns an effective number of eigenvalues of a kernel matrix: trace squared over the sum of squared entries.

    Hypotheses: positive semidefinite.
    Cost: O(n^2): traces suffice.

    >>> participation_ratio(torch.diag(torch.tensor([1.0, 1.0, 0.0])))
    2.0
    """
    k = _kernel(kernel)
    return float(k.trace() ** 2 / (k * k).sum())  # (4)


def _kernel(kernel: Array) -> Tensor:
    return _finite(as_square_matrix(kernel))


def _finite(kernel: Tensor) -> Tensor:
    k = kernel.detach().double()
    if not torch.isfinite(k).all():
        raise NotFiniteError("the kernel holds NaN", accepted="a finite kernel", fix="Check the model's outputs")
    if not k.any():
        raise InputError(
            "the kernel is zero",
            accepted="a kernel that is not zero",
            fix="Pass another kernel; a tangent kernel is zero if no parameter affects the outputs",
        )
    return k
