"""First floor: networks that commute with a group.

Lives here: finite groups of rotations and reflections, convolutions, normalization and pooling over them, layers on
sets, and the plain network whose kernel, averaged over the group, is that of a group-convolutional one.
Does not live here: kernels of infinite width (`gnomon.kernels`), scattering (`gnomon.scattering`).
May import: core; torch.
"""

from gnomon.symmetry.convolution import GroupConv2d
from gnomon.symmetry.features import GroupBatchNorm2d, GroupPool
from gnomon.symmetry.group import Group, cyclic, dihedral
from gnomon.symmetry.orbit import orbit_average, plain
from gnomon.symmetry.sets import SetLinear, SetPool

__all__ = [
    "Group",
    "GroupBatchNorm2d",
    "GroupConv2d",
    "GroupPool",
    "SetLinear",
    "SetPool",
    "cyclic",
    "dihedral",
    "orbit_average",
    "plain",
]
