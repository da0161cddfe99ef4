"""Which transformations of the input does the network respect?

Contains: group actions and equivariance errors, equivariant layers, finite groups as data, symmetries of parameters.
Does not contain: scattering (`gnomon.scattering`).
May import: core.
"""

from gnomon.symmetry.action import (
    Action,
    action,
    flips,
    generated,
    permutations,
    quarter_turns,
    rotations,
    sampled,
    scalings,
    translations,
)
from gnomon.symmetry.convolution import GroupConv2d
from gnomon.symmetry.errors import Equivariance, LayerError, equivariance
from gnomon.symmetry.features import GroupBatchNorm2d, GroupPool
from gnomon.symmetry.finite import (
    FiniteGroup,
    convolve,
    cyclic_group,
    dihedral_group,
    fourier,
    inverse_fourier,
    irreps,
    product_group,
    symmetric_group,
)
from gnomon.symmetry.group import Group, cyclic, dihedral
from gnomon.symmetry.haar import haar
from gnomon.symmetry.invariant import CanonicalPose, OrbitAverage
from gnomon.symmetry.lie import lie_derivative, lie_derivatives
from gnomon.symmetry.linear import (
    Nearest,
    equivariant_basis,
    nearest_convolution,
    nearest_equivariant,
    nearest_permutation_equivariant,
)
from gnomon.symmetry.orbit import orbit_average, plain
from gnomon.symmetry.parameters import Matched, balance, matched, orbit_leak, permuted, rescaled
from gnomon.symmetry.sets import SetLinear, SetPool
from gnomon.symmetry.strength import StrengthCurve, accuracy_by_strength, commutator_norm

__all__ = [
    "Action",
    "CanonicalPose",
    "Equivariance",
    "FiniteGroup",
    "Group",
    "GroupBatchNorm2d",
    "GroupConv2d",
    "GroupPool",
    "LayerError",
    "Matched",
    "Nearest",
    "OrbitAverage",
    "SetLinear",
    "SetPool",
    "StrengthCurve",
    "accuracy_by_strength",
    "action",
    "balance",
    "commutator_norm",
    "convolve",
    "cyclic",
    "cyclic_group",
    "dihedral",
    "dihedral_group",
    "equivariance",
    "equivariant_basis",
    "flips",
    "fourier",
    "generated",
    "haar",
    "inverse_fourier",
    "irreps",
    "lie_derivative",
    "lie_derivatives",
    "matched",
    "nearest_convolution",
    "nearest_equivariant",
    "nearest_permutation_equivariant",
    "orbit_average",
    "orbit_leak",
    "permutations",
    "permuted",
    "plain",
    "product_group",
    "quarter_turns",
    "rescaled",
    "rotations",
    "sampled",
    "scalings",
    "symmetric_group",
    "translations",
]
