"""Symmetry: measures which transformations of the input a network respects, and builds networks that respect some.

Contains: group actions and equivariance errors, equivariant layers, finite groups as data, symmetries of parameters.
Does not contain: scattering (`gnomon.scattering`).
May import: core.
"""

from gnomon.symmetry.action import (
    action,
    flips,
    one_parameter_group,
    permutations,
    quarter_turns,
    rotations,
    scalings,
    translations,
)
from gnomon.symmetry.convolution import GroupConv2d
from gnomon.symmetry.errors import equivariance
from gnomon.symmetry.features import GroupBatchNorm2d, GroupPool
from gnomon.symmetry.group import cyclic, dihedral
from gnomon.symmetry.haar import random_orthogonal
from gnomon.symmetry.invariance import invariance
from gnomon.symmetry.invariant import CanonicalPose, OrbitAverage
from gnomon.symmetry.lie import lie_derivative
from gnomon.symmetry.linear import equivariant_basis, nearest_convolution, nearest_equivariant
from gnomon.symmetry.orbit import orbit_average
from gnomon.symmetry.sets import SetLinear, SetPool
from gnomon.symmetry.strength import accuracy_by_strength

__all__ = [
    "CanonicalPose",
    "GroupBatchNorm2d",
    "GroupConv2d",
    "GroupPool",
    "OrbitAverage",
    "SetLinear",
    "SetPool",
    "accuracy_by_strength",
    "action",
    "cyclic",
    "dihedral",
    "equivariance",
    "equivariant_basis",
    "flips",
    "one_parameter_group",
    "random_orthogonal",
    "invariance",
    "lie_derivative",
    "nearest_convolution",
    "nearest_equivariant",
    "orbit_average",
    "permutations",
    "quarter_turns",
    "rotations",
    "scalings",
    "translations",
]
