"""Linear maps that commute with a group of transformations: a basis of all of them, and the nearest one to a matrix.

    W rho_in(g) = rho_out(g) W  for all generators g                                                              (1)

is a linear system in the entries of W; its solutions are the equivariant maps, which between functions on homogeneous
spaces are exactly the group convolutions. The nearest one in the Frobenius norm is the orthogonal projection,

    P(W) = sum_b <B_b, W> B_b    over an orthonormal basis B of the solutions                                     (2)

For cyclic shifts (2) is the circulant matrix of the means along the diagonals, for all permutations lambda I + g 1 1^T.

Hypotheses: matrices of generators of a group.
Reference: [kondor2018generalization] for convolutions, [finzi2021practical] for bases as null spaces.

>>> shift = torch.eye(5).double().roll(1, 0)
>>> equivariant_basis([shift], [shift]).shape                                     # circulant matrices: 5 numbers
torch.Size([5, 5, 5])
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Result

__all__ = [
    "NearestEquivariant",
    "equivariant_basis",
    "nearest_convolution",
    "nearest_equivariant",
    "nearest_permutation_equivariant",
]


@add_call_to_errors
def equivariant_basis(rho_in: Sequence[Tensor], rho_out: Sequence[Tensor]) -> Float[Tensor, "b o i"]:
    """Returns an orthonormal basis of all matrices that commute with a group, given matrices of its generators.

    See equation (1) of the module docstring.

    Args:
        rho_in: for each generator the matrix (d_in, d_in) by which it moves inputs.
        rho_out: for each generator, in the same order, the matrix (d_out, d_out) by which it moves outputs.

    Hypotheses: as stated for the module.
    Reference: [finzi2021practical], [kondor2018generalization].
    Cost: an eigendecomposition of a matrix of (d_in d_out)^2 numbers.

    >>> swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> len(equivariant_basis([swap], [torch.eye(1)]))                           # invariant functionals: the mean
    1
    """
    if not len(rho_in) or len(rho_in) != len(rho_out):
        found = f"there are {len(rho_in)} matrices for inputs and {len(rho_out)} for outputs"
        raise InputError(
            found, accepted="a matrix of each for every generator", fix="Pass two nonempty lists of equal length"
        )
    i, o = len(rho_in[0]), len(rho_out[0])
    total = torch.zeros(o * i, o * i, dtype=torch.float64)
    for a, b in zip(rho_in, rho_out, strict=True):
        if a.shape != (i, i) or b.shape != (o, o):
            found = (
                f"a generator has shapes {tuple(a.shape)} and {tuple(b.shape)}, the first ones {(i, i)} and {(o, o)}"
            )
            raise InputError(found, accepted="square matrices of one size", fix="Pass representations of one group")
        rule = torch.kron(b.double().contiguous(), torch.eye(i).double()) - torch.kron(
            torch.eye(o).double(), a.double().mT.contiguous()
        )
        total += rule.mT @ rule  # (1)
    values, vectors = torch.linalg.eigh(total)
    zero = values < 1e-9 * max(1.0, float(values[-1]))
    return vectors[:, zero].mT.reshape(-1, o, i)


@dataclass(frozen=True, slots=True, eq=False)
class NearestEquivariant(Result):
    """Result: the matrix nearest to a weight that commutes with the group, the distance, and its free parameters.

    >>> NearestEquivariant(torch.eye(2), 0.0, 2).verdict
    'The weight is equivariant: 0.0 % of its norm breaks the symmetry.'
    """

    weight: Tensor
    distance: float
    dimension: int

    @property
    def verdict(self) -> str:
        """States in one sentence how far the weight is from commuting with the group."""
        word = (
            "is equivariant"
            if self.distance < 1e-6
            else "is nearly equivariant"
            if self.distance < 0.1
            else "is not equivariant"
        )
        return f"The weight {word}: {100 * self.distance:.1f} % of its norm breaks the symmetry."


@add_call_to_errors
def nearest_equivariant(
    weight: Float[Tensor, "o i"], rho_in: Sequence[Tensor], rho_out: Sequence[Tensor]
) -> NearestEquivariant:
    """Returns the matrix nearest to a weight that commutes with a group of transformations, and the distance.

    See equation (2) of the module docstring.
    Hypotheses: as stated for the module.
    Reference: [kondor2018generalization].
    Cost: the same as `equivariant_basis`.

    >>> shift = torch.eye(3).double().roll(1, 0)
    >>> nearest_equivariant(torch.diag(torch.tensor([1.0, 2.0, 3.0])), [shift], [shift]).weight.diagonal().tolist()
    [2.0..., 2.0..., 2.0...]
    """
    basis = equivariant_basis(rho_in, rho_out)
    w = weight.detach().double()
    near = torch.einsum("b,boi->oi", torch.einsum("boi,oi->b", basis, w), basis)  # (2)
    return NearestEquivariant(near, _distance(w, near), len(basis))


@add_call_to_errors
def nearest_convolution(weight: Float[Tensor, "o i"], shape: tuple[int, ...] | None = None) -> NearestEquivariant:
    """Returns the circular convolution nearest to the weight of a dense layer, and the distance, in closed form.

    ``shape`` is the shape of the grid, such as (28, 28), if it is not a line; the first column is its kernel.

    Hypotheses: as many outputs as inputs, on one periodic grid.
    Reference: [kondor2018generalization].
    Cost: one pass over the weight for each of n shifts.

    >>> nearest_convolution(torch.tensor([[1.0, 5.0], [7.0, 3.0]])).weight.tolist()
    [[2.0, 6.0], [6.0, 2.0]]
    """
    n, grid = len(weight), tuple(shape) if shape is not None else (len(weight),)
    if weight.dim() != 2 or weight.shape[1] != n or torch.Size(grid).numel() != n:
        found = f"the weight has shape {tuple(weight.shape)} and the grid {grid}"
        raise InputError(found, accepted="a square weight on the grid", fix="Pass shape=(height, width)")
    places = torch.stack(torch.meshgrid(*[torch.arange(s) for s in grid], indexing="ij"), -1).reshape(n, -1)
    size = torch.tensor(grid)
    offset = (places[:, None] - places[None]) % size  # output minus input
    number = torch.zeros(n, n, dtype=torch.long)
    for axis, s in enumerate(grid):
        number = number * s + offset[..., axis]
    w = weight.detach().double()
    kernel = torch.zeros(n, dtype=torch.float64).index_add_(0, number.flatten(), w.flatten()) / n
    near = kernel[number]  # (2)
    return NearestEquivariant(near, _distance(w, near), n)


@add_call_to_errors
def nearest_permutation_equivariant(weight: Float[Tensor, "o i"]) -> tuple[float, float, float]:
    """Returns lambda, gamma and the distance of the permutation-equivariant matrix lambda I + gamma 1 1^T nearest to a
    weight.

    See equation (2) of the module docstring.
    Hypotheses: a square weight on a set of n things.
    Reference: [zaheer2017deep], Lemma 3.
    Cost: one pass.

    >>> nearest_permutation_equivariant(2 * torch.eye(3) + 1)
    (2.0, 1.0, 0.0)
    """
    w, n = weight.detach().double(), len(weight)
    if w.shape != (n, n) or n < 2:
        found = f"the weight has shape {tuple(w.shape)}"
        raise InputError(found, accepted="a square weight", fix="Pass (n, n), n >= 2")
    inside = w.diagonal().mean()
    across = (w.sum() - w.diagonal().sum()) / (n * (n - 1))
    near = (inside - across) * torch.eye(n, dtype=w.dtype) + across
    return float(inside - across), float(across), _distance(w, near)


def _distance(w: Tensor, near: Tensor) -> float:
    size = float(w.norm())
    return float((w - near).norm()) / size if size > 0 else 0.0
