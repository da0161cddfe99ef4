"""Finite groups, given by their multiplication tables.

    table[g, h] = g h,     (f * h)(u) = sum_v f(u v^-1) h(v)                                                      (1)
    F(rho) = sum_g f(g) rho(g),    f(g) = (1 / |G|) sum_rho d_rho tr(F(rho) rho(g)^H),    F(f * h) = F(f) F(h)     (2)

The irreducible representations rho are found from the table alone: a random Hermitian matrix that commutes with all
left translations of functions has, with probability one, eigenspaces that are irreducible, and each rho appears in
d_rho of them. So sum_rho d_rho^2 = |G|.

Hypotheses: none; groups of some hundred elements, for matrices of |G|^2 numbers are decomposed.
Reference: [diaconis1988group] for (2) and Fourier analysis on groups.

>>> group = symmetric_group(3)
>>> group.order, sorted(rho.shape[1] for rho in irreps(group))              # 1 + 1 + 4 = 6
(6, [1, 1, 2])
"""

from dataclasses import dataclass
from itertools import permutations

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer

__all__ = [
    "FiniteGroup",
    "group_convolution",
    "cyclic_group",
    "dihedral_group",
    "group_fourier_transform",
    "inverse_group_fourier_transform",
    "irreps",
    "product_group",
    "symmetric_group",
]

MAX_GROUP_ORDER = 400
"""Elements of a group whose representations are decomposed, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class FiniteGroup:
    """A finite group with its multiplication table; element 0 is the identity. ``labels`` name the elements.

    See equation (1) of the module docstring.

    >>> group = cyclic_group(3)
    >>> group.table.tolist(), group.inverse.tolist(), group.commutative
    ([[0, 1, 2], [1, 2, 0], [2, 0, 1]], [0, 2, 1], True)
    """

    table: Int[Tensor, "n n"]
    labels: tuple[str, ...]

    @add_call_to_errors
    def __post_init__(self) -> None:
        n = len(self.table)
        ends = torch.arange(n)
        fix = "Pass the table of products of a group, the identity first"
        if n == 0 or len(self.labels) != n:
            found = f"the table has {n} rows, but there are {len(self.labels)} labels"
            raise InputError(found, accepted="a label for each element", fix=fix)
        if not bool((self.table[0] == ends).all() and (self.table[:, 0] == ends).all()):
            raise InputError("element 0 is not the identity", accepted="a group", fix=fix)
        if not bool((self.table.sort(1).values == ends).all()):
            raise InputError("a row repeats an element", accepted="a group", fix=fix)
        t = self.table
        if n <= 64 and not bool((t[t] == t[:, t]).all()):  # checks the associative law (g h) k = g (h k)
            raise InputError("products are not associative", accepted="a group", fix=fix)

    @property
    def order(self) -> int:
        """Returns the number of elements of the group."""
        return len(self.table)

    @property
    def inverse(self) -> Int[Tensor, " n"]:
        """Returns the index of each element's inverse in the group."""
        return (self.table == 0).int().argmax(1)

    @property
    def commutative(self) -> bool:
        """Returns whether the group is commutative: g h = h g for all elements g and h."""
        return bool((self.table == self.table.T).all())

    @property
    def regular(self) -> Float[Tensor, "n n n"]:
        """Returns the matrices by which the group's elements permute functions on the group (regular
        representation).
        """
        n = self.order
        moved = torch.zeros(n, n, n, dtype=torch.float64)
        for g in range(n):
            moved[g, self.table[g], torch.arange(n)] = 1.0
        return moved


@add_call_to_errors
def cyclic_group(n: int) -> FiniteGroup:
    """Builds the cyclic group C_n: the numbers 0 to n - 1 under addition modulo n.

    Cost: n^2.

    >>> cyclic_group(4).order
    4
    """
    k = torch.arange(check_integer("n", n))
    return FiniteGroup((k[:, None] + k) % n, tuple(f"r{i}" for i in range(n)))


@add_call_to_errors
def dihedral_group(n: int) -> FiniteGroup:
    """Builds the dihedral group D_n: n rotations r^k and n reflections r^k s, with s r = r^-1 s.

    Cost: 4 n^2.

    >>> dihedral_group(3).commutative
    False
    """
    n = check_integer("n", n)
    g = torch.arange(2 * n)
    flip, turn = g // n, g % n
    turns = (turn[:, None] + torch.where(flip[:, None] == 1, -turn, turn)) % n
    return FiniteGroup(
        (flip[:, None] ^ flip) * n + turns, tuple(f"r{i % n}" + ("s" if i >= n else "") for i in range(2 * n))
    )


@add_call_to_errors
def symmetric_group(n: int) -> FiniteGroup:
    """Builds the symmetric group S_n: all permutations of n objects; (g h)(i) = g(h(i)).

    Cost: (n!)^2 n; n is at most 5.

    >>> symmetric_group(4).order
    24
    """
    n = check_integer("n", n)
    if n > 5:
        found = f"S_{n} has more than 120 elements"
        raise InputError(found, accepted="a table that fits in memory", fix="Use n of at most 5")
    orders = list(permutations(range(n)))
    place = {order: i for i, order in enumerate(orders)}
    rows = [[place[tuple(g[i] for i in h)] for h in orders] for g in orders]
    return FiniteGroup(torch.tensor(rows), tuple("".join(map(str, order)) for order in orders))


def product_group(first: FiniteGroup, second: FiniteGroup) -> FiniteGroup:
    """Builds the direct product of two groups; the index of (g, h) is g times the order of the second, plus h.

    Cost: the square of the order.

    >>> product_group(cyclic_group(2), cyclic_group(3)).commutative
    True
    """
    m = second.order
    table = first.table[:, None, :, None] * m + second.table[None, :, None, :]
    labels = tuple(f"({a}, {b})" for a in first.labels for b in second.labels)
    return FiniteGroup(table.reshape(first.order * m, -1), labels)


def group_convolution(f: Tensor, h: Tensor, group: FiniteGroup) -> Tensor:
    """Returns the convolution of two functions on a finite group, which commutes with left translations of the first.

    See equation (1) of the module docstring.
    Hypotheses: a value for each element, on the last axis.
    Reference: [diaconis1988group].
    Cost: |G|^2.

    >>> group_convolution(torch.tensor([0.0, 1.0, 0.0]), torch.tensor([1.0, 2.0, 3.0]), cyclic_group(3)).tolist()
    [3.0, 1.0, 2.0]
    """
    back = group.table[:, group.inverse]  # u v^-1
    return (f[..., back] * h[..., None, :]).sum(-1)  # (1)


@add_call_to_errors
def irreps(group: FiniteGroup, *, seed: int = 0) -> tuple[Complex[Tensor, "n d d"], ...]:
    """Returns all irreducible representations of a finite group as unitary matrices, the trivial one first.

    Hypotheses: at most 400 elements.
    Reference: [diaconis1988group]; [dixon1970computing] for finding them from random matrices.
    Cost: |G|^3 for one eigendecomposition, and |G|^2 d for each representation.

    >>> [rho.shape[1] for rho in irreps(dihedral_group(4))]
    [1, 1, 1, 1, 2]
    """
    n = group.order
    if n > MAX_GROUP_ORDER:
        raise InputError(
            f"the group has {n} elements", accepted=f"at most {MAX_GROUP_ORDER}", fix="Take a smaller group"
        )
    generator = torch.Generator().manual_seed(seed)
    c = torch.complex(*torch.randn(2, n, generator=generator, dtype=torch.float64))
    c = c + c[group.inverse].conj()  # makes the matrix of the convolution f -> f * c Hermitian
    right = torch.zeros(n, n, dtype=torch.complex128)
    for v in range(n):  # The map f -> f * c commutes with left translations, so its eigenspaces are representations.
        right[group.table[:, v], torch.arange(n)] = c[v]
    values, vectors = torch.linalg.eigh(right)
    gaps = values.diff() > 1e-7 * float(values.abs().max())
    starts = [0, *(int(i) + 1 for i in gaps.nonzero().flatten()), n]
    found: list[tuple[Tensor, Tensor]] = []
    left = group.regular.to(torch.complex128)
    for a, b in zip(starts, starts[1:], strict=False):
        basis = vectors[:, a:b]
        rho = basis.mH @ left @ basis
        character = rho.diagonal(dim1=1, dim2=2).sum(1)
        if not any(abs(complex((character.conj() * known).sum()) / n) > 0.5 for _, known in found):
            found.append((rho, character))
    found.sort(key=lambda pair: (pair[0].shape[1], -float(pair[1].real.sum())))
    if sum(rho.shape[1] ** 2 for rho, _ in found) != n:
        raise InputError(
            ("eigenvalues are too close to each other"), accepted="a generic random matrix", fix="Pass another seed"
        )
    return tuple(rho for rho, _ in found)


def group_fourier_transform(f: Tensor, representations: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Returns the Fourier transform of a function on a finite group: one matrix per representation.

    See equation (2) of the module docstring.
    Hypotheses: representations of the group, as `irreps` gives them.
    Reference: [diaconis1988group].
    Cost: |G|^2.

    >>> parts = group_fourier_transform(torch.ones(3), irreps(cyclic_group(3)))
    >>> round(abs(complex(parts[0].item())), 9), round(abs(complex(parts[1].item())), 9)
    (3.0, 0.0)
    """
    return tuple(torch.einsum("g,gij->ij", f.to(torch.complex128), rho) for rho in representations)  # (2)


def inverse_group_fourier_transform(parts: tuple[Tensor, ...], representations: tuple[Tensor, ...]) -> Tensor:
    """Returns the (complex) function on a finite group that has the given Fourier transform.

    See equation (2) of the module docstring.
    Hypotheses: all irreducible representations, in the order of the matrices.
    Reference: [diaconis1988group].
    Cost: |G|^2.

    >>> f, rho = torch.tensor([1.0, 2.0, 4.0]).double(), irreps(cyclic_group(3))
    >>> torch.allclose(inverse_group_fourier_transform(group_fourier_transform(f, rho), rho).real, f)
    True
    """
    n = len(representations[0])
    pairs = zip(parts, representations, strict=True)
    return sum((rho.shape[1] * torch.einsum("ij,gij->g", f, rho.conj()) for f, rho in pairs), torch.zeros(n)) / n  # (2)
