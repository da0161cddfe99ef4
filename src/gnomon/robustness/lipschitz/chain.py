"""Bounds the Lipschitz constant of a chain of matrices and activations more tightly than the product of norms.

With W_k = U_k S_k V_k^T and diagonals D_k in [s, 1],

    SeqLip    |W_m D ... D W_1| <= product over k of  max over D of |S_{k+1}^e V_{k+1}^T D U_k S_k^e|              (1)
    pairs     |B D A| <= (1 + s) / 2 |B A| + (1 - s) / 2 |B T| |T^-1 A|     for every positive diagonal T        (2)

e is 1/2, and 1 for the first and the last matrix. The maximum in (1) is at a corner, D of entries s and 1: all corners
are tried up to `MAX_ENUMERATED_UNITS` units, above them (2) bounds it, so that (1) is an upper bound in every case.
(2) holds for
D = (1 + s) / 2 I + (1 - s) / 2 R with |R| <= 1, because R commutes with T; T descends from one that balances rows of A
against columns of B, and the best one met counts.

Reference: [virmaux2018lipschitz] for (1).
"""

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor

__all__ = ["MatrixChain", "pair_norm", "seqlip_bound"]

MAX_ENUMERATED_UNITS = 12
"""Units up to which every corner of (1) is tried."""
DESCENT_STEPS = 30
"""Steps of the descent in T."""
MAX_DESCENT_SIZE = 200
"""Rows and columns up to which T is optimized; larger matrices are only balanced."""


def pair_norm(b: Tensor, a: Tensor, slope: float = 0.0) -> float:
    """Bounds the norm |B D A| of two weight matrices with an activation between them (diagonal D, entries in [slope,
    1]).

    See equation (2) of the module docstring.
    Cost: about 60 singular value decompositions, for the descent of T; 5 above 200 rows or columns.

    >>> round(pair_norm(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0], [1.0]])), 6)     # B D A = 0; |B| |A| = 1
    0.0
    """
    dead = (a.norm(dim=1) == 0) | (b.norm(dim=0) == 0)
    a, b = a[~dead], b[:, ~dead]
    if not len(a):
        return 0.0
    return (1 + slope) / 2 * _norm(b @ a) + (1 - slope) / 2 * _balance(b, a)  # (2)


def _balance(b: Tensor, a: Tensor) -> float:
    """Bounds the norm |B D A| of two matrices with an activation D between them, by minimizing |B T| |T^-1 A|
    over T.
    """
    log_t = (a.norm(dim=1) / b.norm(dim=0)).log() / 2
    best, rate = _norm(b) * _norm(a), 0.5
    for _ in range(DESCENT_STEPS if max(*a.shape, *b.shape) <= MAX_DESCENT_SIZE else 1):
        t = log_t.exp()
        left = torch.linalg.svd(b * t, full_matrices=False)
        right = torch.linalg.svd(a / t[:, None], full_matrices=False)
        value = float(left[1][0] * right[1][0])
        best, rate = min(best, value), rate if value <= best else rate / 2
        log_t = log_t - rate * len(t) ** 0.5 * (left[2][0].square() - right[0][:, 0].square())
    return best


def seqlip_bound(matrices: Sequence[Tensor], slopes: Sequence[float]) -> float:
    """Bounds the Lipschitz constant of a chain of weight matrices and activations (SeqLip bound).

    See equation (1) of the module docstring.
    ``slopes`` are the smallest slopes of the functions between neighbors, one fewer than matrices.

    Cost: a singular value decomposition of each matrix and a bound for each pair of neighbors.

    >>> one, two = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0, 1.0]])                 # they never meet
    >>> seqlip_bound([one, two], [0.0])
    0.0
    """
    return MatrixChain(matrices, slopes).seqlip(0, len(matrices) - 1)


class MatrixChain:
    """A chain of weight matrices with activations between them; bounds the Lipschitz constant of any part of the chain.

    >>> MatrixChain([torch.eye(2), 3 * torch.eye(2)], [0.0]).seqlip(0, 1)
    3.0
    """

    def __init__(self, matrices: Sequence[Tensor], slopes: Sequence[float]) -> None:
        self._matrices, self._slopes = [w.double() for w in matrices], slopes
        self._factors: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self._links: dict[tuple[int, bool, bool], float] = {}

    def seqlip(self, first: int, last: int) -> float:
        """Returns the SeqLip bound of the Lipschitz constant of the chain from matrix ``first`` to matrix ``last``.

        See equation (1) of the module docstring.
        """
        if first == last:
            return _norm(self._matrices[first])
        return prod(self._link(k, k == first, k + 1 == last) for k in range(first, last))  # (1)

    def pair(self, first: int) -> float:
        """Returns the bound of the Lipschitz constant of two consecutive matrices with the activation between them.

        See equation (2) of the module docstring.
        """
        return pair_norm(self._matrices[first + 1], self._matrices[first], self._slopes[first])

    def _factor(self, k: int) -> tuple[Tensor, Tensor, Tensor]:
        if k not in self._factors:
            self._factors[k] = tuple(torch.linalg.svd(self._matrices[k], full_matrices=False))
        return self._factors[k]

    def _link(self, k: int, first: bool, last: bool) -> float:  # noqa: FBT001
        """Returns the factor that matrix k and the next matrix contribute to the SeqLip bound of the chain.

        See equation (1) of the module docstring.
        """
        key = (k, first, last)
        if key not in self._links:
            (u, s, _), (_, r, v) = self._factor(k), self._factor(k + 1)
            into, out = u * (s if first else s.sqrt()), (r if last else r.sqrt())[:, None] * v
            bound = _corners if len(into) <= MAX_ENUMERATED_UNITS else pair_norm
            self._links[key] = bound(out, into, self._slopes[k])
        return self._links[key]


def _corners(b: Tensor, a: Tensor, slope: float) -> float:
    """Returns the largest norm |B D A| over all diagonal matrices D whose entries are ``slope`` or 1, by trying all."""
    m = a.shape[0]
    bits = (torch.arange(2**m)[:, None] >> torch.arange(m)) & 1
    d = torch.where(bits.bool(), 1.0, slope).to(a)
    products = torch.einsum("om,dm,mi->doi", b, d, a)
    return float(torch.linalg.matrix_norm(products, 2).max())


def _norm(a: Tensor) -> float:
    return float(torch.linalg.matrix_norm(a, 2))
