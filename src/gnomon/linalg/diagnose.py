"""The examination of a Gram matrix: what it is, and what to do about it.

With S = (K + K^T) / 2, its eigenvalues l_1 <= ... <= l_n, their sizes sigma_i = |l_i| and p_i = sigma_i / sum sigma,

    asymmetry           max |K - K^T| / max |K|                                     (1)
    condition           max sigma / min sigma                                       (2)
    effective rank      exp(-sum p_i log p_i)                                       (3)
    participation ratio (sum l_i)^2 / sum l_i^2 = tr(S)^2 / |S|_F^2                  (4)
    rounding            n eps max sigma                                             (5)
    duplicate rows      max_k |K_ik - K_jk| <= t max_k |K_ik|                       (6)

eps belongs to the dtype of K; t is 100 eps, and eps itself for floats shorter than 32 bits. Rounding K to that dtype
moves each entry by at most eps max |K|, so by Weyl's inequality each eigenvalue by at most n eps max |K|, which is no
more than (5): an eigenvalue within (5) of zero cannot be told from zero.
(3) and (4) lie between 1 and n for a positive semidefinite matrix, and are n for the identity; both are 0 for the zero
matrix.

Hypotheses: K square and finite. Everything but (1) and (6) speaks of S.
Reference: (3) [roy2007effective]; (5) is derived above.

>>> import numpy as np
>>> print(diagnose(np.eye(3)))
The matrix is 3 x 3, float64 and symmetric.
It is positive definite: its eigenvalues run from 1 to 1.
Its condition number is 1: a linear solve loses less than one digit.
Its effective rank is 3.0 of 3, with participation ratio 3.0: the spectrum is flat, every direction counts.
No two rows agree.
Cholesky succeeds without jitter.
"""

from dataclasses import dataclass, field, fields
from math import exp, inf, isfinite, log10

import torch
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.errors import NotFiniteError, lesson
from gnomon.core.record import Record
from gnomon.linalg.cholesky import climb
from gnomon.linalg.duplicates import duplicate_rows
from gnomon.linalg.square import asymmetry, square, symmetric_part, working

CALL = "linalg.diagnose(K)"


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Record):
    """What `diagnose` found; equations (1) to (6) of the module define the fields.

    ``jitter`` is the amount, in the units of K, that must be added to the diagonal before Cholesky succeeds in the
    dtype of K (in float32 for shorter floats), and ``jitter_multiple`` the same as a multiple of the mean diagonal:
    the first power of ten that works. Both are 0.0 where none is needed. Where the diagonal cannot be that of a
    kernel the largest entry takes the place of its mean, and 1 for the zero matrix: `cholesky`, equation (3).
    ``eps`` is the precision of the dtype, ``tolerance`` is t of (6), and ``eigenvalues`` is ascending, float64.

    >>> diagnose(torch.ones(2, 2, dtype=torch.float64)).duplicate_rows
    ((0, 1),)
    """

    n: int
    dtype: str
    asymmetry: float
    smallest_eigenvalue: float
    largest_eigenvalue: float
    condition: float
    effective_rank: float
    participation_ratio: float
    duplicate_rows: tuple[tuple[int, ...], ...]
    jitter: float
    jitter_multiple: float
    eps: float
    tolerance: float
    eigenvalues: Tensor = field(repr=False)

    @property
    def rounding(self) -> float:
        """The size below which an eigenvalue cannot be told from zero, equation (5)."""
        return self.n * self.eps * max(abs(self.smallest_eigenvalue), abs(self.largest_eigenvalue))  # (5)

    @property
    def rank(self) -> int:
        """The number of eigenvalues that are larger than rounding (5), of either sign."""
        return int((self.eigenvalues.abs() > self.rounding).sum())

    def sentences(self) -> tuple[str, ...]:
        """One sentence for each finding: symmetry, definiteness, condition, rank, duplicates, jitter.

        >>> diagnose(torch.ones(2, 2, dtype=torch.float64)).sentences()[4]
        'Rows (0, 1) agree within 2e-14: the kernel sees these inputs as one; drop the repeats.'
        """
        parts = (_symmetry, _definiteness, _condition, _rank, _duplicates, _jitter)
        return tuple(part(self) for part in parts)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_dict(self) -> dict[str, object]:
        """All fields, with rank and sentences, as plain values for JSON; an infinite condition becomes None.

        >>> diagnose(torch.eye(2, dtype=torch.float64)).to_dict()["eigenvalues"]
        [1.0, 1.0]
        """
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain["condition"] = self.condition if isfinite(self.condition) else None
        plain["duplicate_rows"] = [list(group) for group in self.duplicate_rows]
        plain["eigenvalues"] = self.eigenvalues.tolist()
        return {**plain, "rank": self.rank, "sentences": list(self.sentences())}


def diagnose(K: Array) -> Diagnosis:
    """Examine a Gram matrix: symmetry, spectrum, rank, duplicates, and the jitter that Cholesky needs.

    Takes tensors of any float dtype, device and stride, with or without gradients, and arrays. Always exact: the
    whole spectrum is computed, in float64 on the CPU, whatever n is. The jitter is found in the dtype of K.

    Cost: eigenvalues, O(n^3) operations and 3 n^2 float64 numbers. Measured on two CPU cores: 0.08 s for
    n = 1000, 0.4 s for 2000, 2.5 s for 4000.

    >>> import torch
    >>> d = diagnose(torch.diag(torch.tensor([3.0, 1.0])))
    >>> d.condition, round(d.participation_ratio, 12)                   # (3 + 1)^2 / (9 + 1)
    (3.0, 1.6)
    """
    matrix = square(K, CALL).detach()
    skew = asymmetry(matrix)  # (1)
    dense = matrix.to(device="cpu", dtype=torch.float64)
    eps = torch.finfo(matrix.dtype).eps
    tolerance = 100 * eps if matrix.dtype == working(matrix.dtype) else eps
    S = symmetric_part(dense)
    spectrum = torch.linalg.eigvalsh(S)
    if not bool(spectrum.isfinite().all()):
        found = "the eigenvalues of K leave the range of float64"
        raise NotFiniteError(lesson(CALL, found, "a finite spectrum", "Divide K by its largest entry"))
    condition, effective, participation = _shape(spectrum)
    factor = climb(S.to(working(matrix.dtype)), CALL)
    return Diagnosis(
        n=len(matrix),
        dtype=str(matrix.dtype).removeprefix("torch."),
        asymmetry=skew,
        smallest_eigenvalue=float(spectrum[0]),
        largest_eigenvalue=float(spectrum[-1]),
        condition=condition,
        effective_rank=effective,
        participation_ratio=participation,
        duplicate_rows=duplicate_rows(dense, tolerance),  # (6)
        jitter=factor.jitter,
        jitter_multiple=factor.multiple,
        eps=eps,
        tolerance=tolerance,
        eigenvalues=spectrum,
    )


def _shape(spectrum: Tensor) -> tuple[float, float, float]:
    """Condition (2), effective rank (3) and participation ratio (4): the scale of the matrix does not enter."""
    sizes = spectrum.abs()
    largest, smallest = float(sizes.max()), float(sizes.min())
    if largest == 0:
        return inf, 0.0, 0.0
    condition = largest / smallest if smallest > 0 else inf  # (2)
    unit = spectrum / largest
    p = unit.abs() / unit.abs().sum()
    entropy = -float(torch.special.xlogy(p, p).sum())
    return condition, exp(entropy), float(unit.sum() ** 2 / unit.square().sum())  # (3) (4)


def _symmetry(d: Diagnosis) -> str:
    size = f"The matrix is {d.n} x {d.n}, {d.dtype} and"
    if d.asymmetry == 0:
        return f"{size} symmetric."
    if d.asymmetry <= d.tolerance:
        return f"{size} symmetric up to rounding ({d.asymmetry:.1e} of its largest entry)."
    return (
        f"{size} NOT symmetric: it differs from its transpose by {d.asymmetry:.1e} of its largest entry; what follows "
        "is about the symmetric part (K + K^T) / 2, so first find why K[i, j] and K[j, i] part."
    )


def _definiteness(d: Diagnosis) -> str:
    low, high, rounding = d.smallest_eigenvalue, d.largest_eigenvalue, d.rounding
    if low == high == 0:
        return "It is the zero matrix: the kernel carries no information, so look at the scales of weights and inputs."
    if low > rounding:
        return f"It is positive definite: its eigenvalues run from {low:.3g} to {high:.3g}."
    if low >= -rounding:
        return (
            f"It is positive semidefinite up to rounding: its smallest eigenvalue, {low:.1e}, is within {rounding:.1e} "
            "of zero, which is as near as this dtype can tell."
        )
    negative = int((d.eigenvalues < -rounding).sum())
    count = "one eigenvalue is" if negative == 1 else f"{negative} eigenvalues are"
    head = f"It is indefinite: {count} negative beyond rounding, down to {low:.3g}"
    if not _hopeless(d):
        return f"{head}; that is the size of float32 rounding, so compute it in float64 from the start."
    return f"{head}, so it is no kernel or covariance: look for a mistake in how it was computed."


def _condition(d: Diagnosis) -> str:
    digits = -log10(d.eps)
    if d.condition == inf:
        return "Its condition number is infinite: a linear solve has no unique answer without regularization."
    lost = log10(d.condition)
    number = f"Its condition number is {d.condition:.3g}"
    if lost < 1:
        return f"{number}: a linear solve loses less than one digit."
    if lost < digits - log10(d.n):
        return f"{number}: a linear solve loses about {lost:.0f} of the {digits:.0f} digits of {d.dtype}."
    better = "add regularization" if d.dtype == "float64" else "compute in float64, or add regularization"
    return f"{number}, more than {d.dtype} can carry: a linear solve returns noise; {better}."


def _rank(d: Diagnosis) -> str:
    head = (
        f"Its effective rank is {d.effective_rank:.1f} of {d.n}, with participation ratio {d.participation_ratio:.1f}"
    )
    if d.rank < d.n:
        return (
            f"{head}: it is rank deficient, with {d.rank} of {d.n} eigenvalues larger than rounding, so some targets "
            "on these points cannot be fitted."
        )
    if d.effective_rank > 0.9 * d.n:
        return f"{head}: the spectrum is flat, every direction counts."
    return f"{head}: the spectrum is uneven, a few directions are learned first and the rest slowly."


def _duplicates(d: Diagnosis) -> str:
    if not d.duplicate_rows:
        return "No two rows agree."
    shown = ", ".join("(" + ", ".join(map(str, group)) + ")" for group in d.duplicate_rows[:3])
    more = f" and {len(d.duplicate_rows) - 3} groups more" if len(d.duplicate_rows) > 3 else ""
    return f"Rows {shown}{more} agree within {d.tolerance:.0e}: the kernel sees these inputs as one; drop the repeats."


def _jitter(d: Diagnosis) -> str:
    if d.jitter == 0:
        return "Cholesky succeeds without jitter."
    added = f"{d.jitter:.3g} to the diagonal, {d.jitter_multiple:.0e} of its scale"
    if _hopeless(d):
        return f"Cholesky fails; adding {added}, would let it pass and hide the negative eigenvalues, so do not."
    return (
        f"Cholesky fails, and succeeds after adding {added}: add that much, or use linalg.cholesky, which reports it."
    )


def _hopeless(d: Diagnosis) -> bool:
    """Whether some eigenvalue is too negative to come from rounding, even from rounding in float32."""
    lowest = -d.n * torch.finfo(torch.float32).eps * d.eigenvalues.abs().max()
    return d.smallest_eigenvalue < min(-d.rounding, float(lowest))
