"""Computes a Cholesky factorization and reports the jitter (small number) that it adds to the diagonal.

    L L^T = S + j I,    S = (K + K^T) / 2                                          (1)
    j in { 0, 10^p s : p = p_0, p_0 + 1, ... },    p_0 = floor(log10(eps))         (2)
    s = tr(S) / n, or max |S| if max |S| > tr(S), or 1 if S = 0              (3)

j is the first amount of (2) with which the factorization succeeds. A positive semidefinite S has max |S| <= tr(S),
so the mean diagonal is the scale of every matrix that could be a kernel, and (3) uses another scale only for matrices
that cannot. Every eigenvalue is at least -n max |S| (Gershgorin), so (2) ends at 10 n max |S|.

Hypotheses: K finite, and symmetric within the square root of its precision.
Reference: [higham2002accuracy], chapter 10: the factorization runs to its end when the smallest eigenvalue of S,
scaled to a unit diagonal, is above about n (n + 1) eps.

>>> import torch
>>> K = torch.ones(2, 2, dtype=torch.float64)                # one point twice: rank 1
>>> factor = cholesky(K)
>>> print(factor)
Cholesky of a 2 x 2 matrix after adding 1e-15 to the diagonal, 1e-15 of its scale; factorizations tried: 3.
>>> torch.allclose(factor.lower @ factor.lower.T, K + factor.jitter * torch.eye(2))
True
"""

from dataclasses import dataclass, field
from math import floor, isfinite, log10

import torch
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_number
from gnomon.core.results import Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.square import as_square_matrix, asymmetry, lapack_dtype, symmetric_part

__all__ = ["CholeskyFactor", "cholesky"]


@dataclass(frozen=True, slots=True, eq=False)
class CholeskyFactor(Result):
    """A lower triangular Cholesky factor of K + jitter I, and the jitter that was added to the matrix K.

    ``jitter`` is the amount added to the diagonal, in the units of K, and ``multiple`` the same amount as a multiple
    of the scale (3), a power of ten if it was chosen by (2); ``tried`` counts the factorizations, the last of
    which succeeded.

    >>> cholesky(torch.eye(2)).jitter
    0.0
    """

    lower: Tensor = field(metadata=HIDDEN_IN_JSON)
    jitter: float
    multiple: float
    tried: int

    @property
    def verdict(self) -> str:
        """A sentence that says how much jitter the Cholesky factorization needed."""
        size = f"Cholesky of a {len(self.lower)} x {len(self.lower)} matrix"
        if self.jitter == 0:
            return f"{size} without jitter."
        added = f"after adding {self.jitter:.3g} to the diagonal, {self.multiple:.3g} of its scale"
        return f"{size} {added}; factorizations tried: {self.tried}."


@add_call_to_errors
def cholesky(K: Array, *, jitter: float | None = None) -> CholeskyFactor:
    """Returns the Cholesky factor of K + jitter I for a matrix K, and reports the jitter.

    See equation (1) of the module docstring.
    Without ``jitter`` the amounts (2) are tried from 0 on, and the first that succeeds is reported. With ``jitter``
    (an amount in the units of K) exactly that is added, once, and a failure is an error. The factor has the dtype and
    device of K (float32 for shorter floats) and carries its gradient, the jitter held constant.

    Cost: n^3 / 3 operations for each amount tried, two matrices of memory.

    >>> import torch
    >>> cholesky(torch.tensor([[4.0, 2.0], [2.0, 2.0]])).lower           # [[2, 0], [1, 1]] by hand
    tensor([[2., 0.],
            [1., 1.]])
    """
    matrix = as_square_matrix(K)
    skew, allowed = asymmetry(matrix), torch.finfo(matrix.dtype).eps ** 0.5
    if skew > allowed:
        what = f"K and its transpose differ by {skew:.1e} of the largest entry, over {allowed:.0e}"
        fix = "Find where K[i, j] and K[j, i] differ, or pass (K + K.T) / 2 if you mean its symmetric part"
        raise InputError(what, accepted="a symmetric matrix", fix=fix)
    S = symmetric_part(matrix.to(lapack_dtype(matrix.dtype)))
    if jitter is not None:
        return _factor_with(S, jitter)
    return factor_with_least_jitter(S)


def factor_with_least_jitter(S: Tensor) -> CholeskyFactor:
    """Returns the Cholesky factor of a symmetric matrix, after adding the smallest number to the diagonal that is
    needed.
    """
    unit = scale(S)
    top = 10 * len(S) * float(S.detach().abs().max())
    power = floor(log10(torch.finfo(S.dtype).eps))
    jitter, multiple, tried = 0.0, 0.0, 1
    while (lower := _factor(S, jitter)) is None:
        if jitter > top or not isfinite(jitter * 10):
            what = f"the factorization fails even after adding {jitter:.1e} to a diagonal of scale {unit:.1e}"
            range_ = f"a matrix with sums of entries in the range of {S.dtype}"
            raise NotFiniteError(what, accepted=range_, fix="Divide K by its largest entry, or use float64")
        multiple = float(f"1e{power}")  # the float nearest to the power of ten; 10.0**power may be off by one bit
        jitter = multiple * unit  # (2)
        power, tried = power + 1, tried + 1
    return CholeskyFactor(lower, jitter, multiple, tried)


def scale(S: Tensor) -> float:
    """Returns the scale of a matrix S, in units of which jitter is measured.

    See equation (3) of the module docstring.
    """
    detached = S.detach()
    largest = float(detached.abs().max())
    if largest == 0:
        return 1.0
    mean = float((detached.diagonal().double() / len(S)).sum())
    return mean if largest <= mean * len(S) else largest  # (3)


def _factor_with(S: Tensor, jitter: float) -> CholeskyFactor:
    if not check_number("jitter", jitter) >= 0:
        raise out_of_range_error("jitter", "None or a finite number of at least 0", jitter)
    lower = _factor(S, jitter)
    if lower is None:
        what = f"K + {jitter:.3g} I is not positive definite in {S.dtype}"
        fix = "Leave jitter out to find the smallest that works, or read linalg.diagnose_matrix(K) for the reason"
        raise InputError(what, accepted="a positive definite matrix", fix=fix)
    return CholeskyFactor(lower, float(jitter), jitter / scale(S), 1)


def _factor(S: Tensor, jitter: float) -> Tensor | None:
    """Returns the Cholesky factor of S + jitter I for a matrix S, or None if the factorization fails."""
    shifted = S
    if jitter > 0:
        shifted = S.clone()
        shifted.diagonal().add_(jitter)  # (1)
    lower, info = torch.linalg.cholesky_ex(shifted)
    return lower if int(info) == 0 and bool(lower.detach().isfinite().all()) else None
