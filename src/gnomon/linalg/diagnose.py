"""Checks the properties of a Gram matrix and reports findings with fixes.

With S = (K + K^T) / 2, its eigenvalues l_1 <= ... <= l_n, their sizes sigma_i = |l_i| and p_i = sigma_i / sum sigma,

    asymmetry           max |K - K^T| / max |K|                                     (1)
    condition           max sigma / min sigma                                       (2)
    effective rank      exp(-sum p_i log p_i)                                       (3)
    participation ratio (sum l_i)^2 / sum l_i^2 = tr(S)^2 / |S|_F^2                  (4)
    rounding            n eps max sigma                                             (5)
    duplicate rows      max_k |K_ik - K_jk| <= t max_k |K_ik|                       (6)

eps belongs to the dtype of K; t is 100 eps, and eps itself for floats shorter than 32 bits. Rounding K to that dtype
moves each entry by at most eps max |K|, so by Weyl's inequality each eigenvalue by at most n eps max |K|, which is no
more than (5): an eigenvalue within (5) of zero cannot be distinguished from zero.
(3) and (4) lie between 1 and n for a positive semidefinite matrix, and are n for the identity; both are 0 for the zero
matrix.

Hypotheses: K square and finite. All but (1) and (6) are properties of S.
Reference: (3) [roy2007effective]; (5) is derived above.

>>> import numpy as np
>>> print(diagnose_matrix(np.eye(3)))
The matrix is 3 x 3, float64 and symmetric.
The matrix is positive definite: its eigenvalues run from 1 to 1.
The condition number of the matrix is 1: a linear solve loses less than one digit.
The effective rank of the matrix is 3.0 of 3, with participation ratio 3.0: a flat spectrum; all directions learn
equally fast. No two rows are equal.
Cholesky succeeds without jitter.
"""

from dataclasses import dataclass, field
from math import inf, log10

import torch
from torch import Tensor

from gnomon.core.errors import NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.metrics import effective_rank
from gnomon.core.results import Axis, Finding, Line, Plot, Reference, Result, Value
from gnomon.findings import most_serious_first
from gnomon.findings import theory as kinds
from gnomon.linalg.cholesky import factor_with_least_jitter
from gnomon.linalg.duplicates import duplicate_rows
from gnomon.linalg.square import as_square_matrix, asymmetry, lapack_dtype, symmetric_part

__all__ = ["MatrixDiagnosis", "diagnose_matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixDiagnosis(Result):
    """The properties of a Gram matrix: symmetry, condition, rank, equal rows and the jitter that it needs.

    See equations (1) to (6) of the module docstring.
    ``jitter`` is the amount, in the units of K, that must be added to the diagonal before Cholesky succeeds in the
    dtype of K (in float32 for shorter floats), and ``jitter_multiple`` the same as a multiple of the mean diagonal:
    the first power of ten that works. Both are 0.0 if none is needed. If the diagonal cannot belong to a
    kernel the largest entry takes the place of its mean, and 1 for the zero matrix: `cholesky`, equation (3).
    ``eigenvalues`` is ascending, float64. As text it is one sentence on each property, as `sentences`.

    >>> diagnose_matrix(torch.ones(2, 2, dtype=torch.float64)).duplicate_rows
    ((0, 1),)
    """

    dtype: str
    asymmetry: float
    condition: float
    effective_rank: float
    duplicate_rows: tuple[tuple[int, ...], ...]
    jitter: float
    jitter_multiple: float
    eigenvalues: Tensor = field(repr=False)

    @property
    def n(self) -> int:
        """The number of rows of the checked matrix."""
        return len(self.eigenvalues)

    @property
    def smallest_eigenvalue(self) -> float:
        """The smallest eigenvalue of the symmetric part of the matrix."""
        return float(self.eigenvalues[0])

    @property
    def largest_eigenvalue(self) -> float:
        """The largest eigenvalue of the symmetric part of the matrix."""
        return float(self.eigenvalues[-1])

    @property
    def participation_ratio(self) -> float:
        """An effective number of eigenvalues: the squared sum of the eigenvalues over the sum of their squares.

        See equation (4) of the module docstring.
        """
        largest = float(self.eigenvalues.abs().max())
        unit = self.eigenvalues / largest if largest > 0 else self.eigenvalues
        return float(unit.sum() ** 2 / unit.square().sum()) if largest > 0 else 0.0  # (4)

    @property
    def eps(self) -> float:
        """The machine precision of the matrix's dtype."""
        return float(torch.finfo(getattr(torch, self.dtype)).eps)

    @property
    def tolerance(self) -> float:
        """The relative tolerance up to which entries of the matrix count as equal."""
        return _tolerance(getattr(torch, self.dtype))

    @property
    def rounding(self) -> float:
        """The size below which an eigenvalue of the matrix cannot be distinguished from zero.

        See equation (5) of the module docstring.
        """
        return self.n * self.eps * max(abs(self.smallest_eigenvalue), abs(self.largest_eigenvalue))  # (5)

    @property
    def rank(self) -> int:
        """The number of eigenvalues, of either sign, that are larger than rounding.

        See equation (5) of the module docstring.
        """
        return int((self.eigenvalues.abs() > self.rounding).sum())

    @property
    def verdict(self) -> str:
        """A sentence with the most serious problem of the matrix, or that no problem was found."""
        if self.findings:
            return self.findings[0].message
        sizes = f"effective rank {self.effective_rank:.1f}, condition number {self.condition:.3g}"
        return f"No problems found in this {self.n} x {self.n} Gram matrix: symmetric, positive definite, {sizes}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about problems of the matrix as a kernel, the most serious first."""
        found = [part for part in self._parts() if isinstance(part, Finding)]
        return most_serious_first(found)

    def sentences(self) -> tuple[str, ...]:
        """Returns sentences on the matrix's symmetry, definiteness, condition, rank, equal rows and jitter.

        >>> diagnose_matrix(torch.ones(2, 2, dtype=torch.float64)).sentences()[4]
        'Rows (0, 1) agree within 2e-14: the kernel cannot distinguish these inputs. Drop the repeated inputs.'
        """
        return tuple(str(part) for part in self._parts())

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def plots(self) -> tuple[Plot, ...]:
        """Plots the absolute eigenvalues of the matrix in descending order, with the size of rounding errors."""
        sizes = self.eigenvalues.abs().sort(descending=True).values
        marks = (Line("eigenvalue", range(1, self.n + 1), sizes), Reference("rounding", self.rounding))
        return (Plot("Spectrum", marks, Axis("index"), Axis("absolute eigenvalue", log=True), self.verdict),)

    def _parts(self) -> tuple[str | Finding, ...]:
        return tuple(part(self) for part in (_symmetry, _definiteness, _condition, _rank, _duplicates, _jitter))


@add_call_to_errors
def diagnose_matrix(K: Array) -> MatrixDiagnosis:
    """Checks a Gram matrix: symmetry, spectrum, rank, equal rows, and the jitter that Cholesky needs.

    Takes tensors of any float dtype, device and stride, with or without gradients, and arrays. Always exact: the
    whole spectrum is computed, in float64 on the CPU, whatever n is. The jitter is what K needs in its own dtype.

    Cost: eigenvalues, O(n^3) operations and 3 n^2 float64 numbers. Measured on two CPU cores: 0.08 s for
    n = 1000, 0.4 s for 2000, 2.5 s for 4000.

    >>> import torch
    >>> d = diagnose_matrix(torch.diag(torch.tensor([3.0, 1.0])))
    >>> d.condition, round(d.participation_ratio, 12)                   # (3 + 1)^2 / (9 + 1)
    (3.0, 1.6)
    """
    matrix = as_square_matrix(K).detach()
    skew = asymmetry(matrix)  # (1)
    dense = matrix.to(device="cpu", dtype=torch.float64)
    S = symmetric_part(dense)
    eigenvalues = torch.linalg.eigvalsh(S)
    if not bool(eigenvalues.isfinite().all()):
        what = "the eigenvalues of K overflow float64"
        raise NotFiniteError(what, accepted="a finite spectrum", fix="Divide K by its largest entry")
    sizes = eigenvalues.abs()
    smallest = float(sizes.min())
    factor = factor_with_least_jitter(S.to(lapack_dtype(matrix.dtype)))
    return MatrixDiagnosis(
        dtype=str(matrix.dtype).removeprefix("torch."),
        asymmetry=skew,
        condition=float(sizes.max()) / smallest if smallest > 0 else inf,  # (2)
        effective_rank=effective_rank(eigenvalues),  # (3)
        duplicate_rows=duplicate_rows(dense, _tolerance(matrix.dtype)),  # (6)
        jitter=factor.jitter,
        jitter_multiple=factor.multiple,
        eigenvalues=eigenvalues,
    )


def _tolerance(dtype: torch.dtype) -> float:
    eps = float(torch.finfo(dtype).eps)
    return 100 * eps if dtype == lapack_dtype(dtype) else eps


def _symmetry(d: MatrixDiagnosis) -> str | Finding:
    size = f"The matrix is {d.n} x {d.n}, {d.dtype} and"
    if d.asymmetry == 0:
        return f"{size} symmetric."
    if d.asymmetry <= d.tolerance:
        return f"{size} symmetric up to rounding ({d.asymmetry:.1e} of its largest entry)."
    values = {"n": d.n, "dtype": d.dtype, "asymmetry": d.asymmetry}
    return Finding(kinds.ASYMMETRIC, values=values, evidence=(Value("asymmetry", d.asymmetry),))


def _definiteness(d: MatrixDiagnosis) -> str | Finding:
    low, high, rounding = d.smallest_eigenvalue, d.largest_eigenvalue, d.rounding
    if low == high == 0:
        return Finding(kinds.ZERO_MATRIX)
    if low > rounding:
        return f"The matrix is positive definite: its eigenvalues run from {low:.3g} to {high:.3g}."
    if low >= -rounding:
        return (
            f"The matrix is positive semidefinite up to rounding: its smallest eigenvalue, {low:.1e}, is within "
            f"{rounding:.1e} "
            "of zero, the rounding error of this dtype."
        )
    negative = int((d.eigenvalues < -rounding).sum())
    count = "one eigenvalue is" if negative == 1 else f"{negative} eigenvalues are"
    values = {"negative": count, "low": low}
    evidence = (Value("smallest eigenvalue", low), Value("rounding", rounding))
    return Finding(
        kinds.INDEFINITE if _beyond_rounding(d) else kinds.FLOAT32_ROUNDING, values=values, evidence=evidence
    )


def _condition(d: MatrixDiagnosis) -> str | Finding:
    digits = -log10(d.eps)
    evidence = (Value("condition number", d.condition),)
    if d.condition == inf:
        return Finding(kinds.SINGULAR, evidence=evidence)
    lost = log10(d.condition)
    what = f"The condition number of the matrix is {d.condition:.3g}"
    if lost < 1:
        return f"{what}: a linear solve loses less than one digit."
    if lost < digits - log10(d.n):
        return f"{what}: a linear solve loses about {lost:.0f} of the {digits:.0f} digits of {d.dtype}."
    row = kinds.ILL_CONDITIONED_FLOAT64 if d.dtype == "float64" else kinds.ILL_CONDITIONED
    return Finding(row, values={"condition": d.condition, "dtype": d.dtype}, evidence=evidence)


def _rank(d: MatrixDiagnosis) -> str | Finding:
    head = (
        f"The effective rank of the matrix is {d.effective_rank:.1f} of {d.n}, with participation ratio "
        f"{d.participation_ratio:.1f}"
    )
    if d.rank < d.n:
        values = {"effective": d.effective_rank, "participation": d.participation_ratio, "rank": d.rank, "n": d.n}
        return Finding(kinds.RANK_DEFICIENT, values=values, evidence=(Value("rank", d.rank),))
    if d.effective_rank > 0.9 * d.n:
        return f"{head}: a flat spectrum; all directions learn equally fast."
    return f"{head}: an uneven spectrum; a few directions are learned first and the rest slowly."


def _duplicates(d: MatrixDiagnosis) -> str | Finding:
    if not d.duplicate_rows:
        return "No two rows are equal."
    shown = ", ".join("(" + ", ".join(map(str, group)) + ")" for group in d.duplicate_rows[:3])
    more = f" and {len(d.duplicate_rows) - 3} groups more" if len(d.duplicate_rows) > 3 else ""
    count = Value("groups of equal rows", len(d.duplicate_rows))
    return Finding(kinds.DUPLICATE_ROWS, "inputs", {"groups": f"{shown}{more}", "tolerance": d.tolerance}, (count,))


def _jitter(d: MatrixDiagnosis) -> str | Finding:
    if d.jitter == 0:
        return "Cholesky succeeds without jitter."
    row = kinds.JITTER_HIDES if _beyond_rounding(d) else kinds.JITTER_NEEDED
    return Finding(
        row, values={"jitter": d.jitter, "multiple": d.jitter_multiple}, evidence=(Value("jitter", d.jitter),)
    )


def _beyond_rounding(d: MatrixDiagnosis) -> bool:
    """Whether an eigenvalue is too negative to be a rounding error, even in float32."""
    lowest = -d.n * torch.finfo(torch.float32).eps * d.eigenvalues.abs().max()
    return d.smallest_eigenvalue < min(-d.rounding, float(lowest))
