"""All linear maps between functions on a group that commute with it are convolutions: as many as elements.

    dim {W : W L(g) = L(g) W for all g} = |G|                                                                      (1)

Reference: [kondor2018generalization].
"""

from functools import partial

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariant_basis
from gnomon.symmetry.finite import cyclic_group, dihedral_group, symmetric_group

GROUPS = (cyclic_group(5), dihedral_group(4), symmetric_group(3))


def predicted():
    """The number of elements, equation (1)."""
    return [float(group.order) for group in GROUPS]


def dimensions(generators):
    """Of the solutions of the linear system, by zero eigenvalues."""
    found = []
    for group in GROUPS:
        moves = [group.regular[g] for g in generators(group)]
        found.append(float(len(equivariant_basis(moves, moves))))
    return found


observed = partial(dimensions, generators=lambda group: range(1, group.order))  # All elements.
# The last element alone, which generates a part of each group.
control = partial(dimensions, generators=lambda group: [group.order - 1])

CLAIM = Claim(
    id="kondor-trivedi-theorem",
    title="A linear map between functions on a group commutes with it exactly if it is a convolution",
    equation=r"\dim \mathrm{Hom}_G(L^2(G), L^2(G)) = |G|",
    source=Source("theorem", "kondor2018generalization", "Theorem 1"),
    premises=(Premise("the map commutes with the whole group"),),
    parameters={},
    judge=equals(rounding=0),
    covers=("linear-shift-equivariant-is-convolution",),
    remark="Feature maps live on quotients of the group, not on subgroups, as is sometimes printed.",
)
