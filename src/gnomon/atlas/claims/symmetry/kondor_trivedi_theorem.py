"""A linear map of functions on a group commutes with the group if and only if it is a convolution.

    dim {W : W L(g) = L(g) W for all g} = |G|                                                                      (1)

G is the group, L(g) its action on functions, W a linear map. So there are as many independent maps as group elements.
Reference: [kondor2018generalization].
"""

from functools import partial

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariant_basis
from gnomon.symmetry.finite import cyclic_group, dihedral_group, symmetric_group

GROUPS = (cyclic_group(5), dihedral_group(4), symmetric_group(3))


def predicted():
    """Returns the number of elements of each group, the predicted dimension."""
    return [float(group.order) for group in GROUPS]


def dimensions(generators):
    """Returns the dimension of the linear maps that commute with the chosen elements, for each group."""
    found = []
    for group in GROUPS:
        moves = [group.regular[g] for g in generators(group)]
        found.append(float(len(equivariant_basis(moves, moves))))
    return found


observed = partial(dimensions, generators=lambda group: range(1, group.order))  # It commutes with all group elements.
control = partial(dimensions, generators=lambda group: [group.order - 1])  # Control: it commutes with one element only.

CLAIM = Claim(
    id="kondor-trivedi-theorem",
    question="Which linear maps commute with a group?",
    equation=r"\dim \mathrm{Hom}_G(L^2(G), L^2(G)) = |G|",
    axes=("group (cyclic, dihedral, symmetric)", "dimension"),
    source=Source("theorem", "kondor2018generalization", "Theorem 1"),
    premises=(Premise("the map commutes with the whole group"),),
    judge=equals(rounding=0),
    covers=("linear-shift-equivariant-is-convolution",),
    remark="Feature maps are on quotients of the group, not on subgroups, as is sometimes printed.",
)
