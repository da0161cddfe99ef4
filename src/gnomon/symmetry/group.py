"""Finite groups of rotations and reflections of the plane, and how they transform images and features.

C_n has the rotations by 360 / n degrees, D_n reflections as well. Element k < n is the rotation by k steps, element
n + k the reflection of the columns followed by it:

    r^a r^b = r^{a + b},    r^a s = s r^{-a}                                                              (1)

Images turn exactly by multiples of 90 degrees, and by bilinear interpolation by others.
"""

from dataclasses import dataclass
from math import cos, pi, sin

import torch
from torch import Tensor
from torch.nn import functional

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results.record import Record

__all__ = ["Group", "cyclic", "dihedral"]


@dataclass(frozen=True, slots=True)
class Group(Record):
    """A group of n rotations of the plane, with or without reflections.

    >>> group = dihedral(4)
    >>> group.order, group.product(1, 4), group.product(4, 1)                        # not commutative
    (8, 5, 7)
    >>> all(group.product(g, group.inverse(g)) == 0 for g in range(group.order))
    True
    """

    rotations: int
    reflections: bool = False

    @property
    def order(self) -> int:
        """Returns the number of elements of the group."""
        return self.rotations * (2 if self.reflections else 1)

    @property
    def exact(self) -> bool:
        """Returns whether all elements of the group map the pixel grid onto itself, so that no interpolation
        is needed.
        """
        return 4 % self.rotations == 0

    def product(self, g: int, h: int) -> int:
        """Returns the index of the group element g h (first h, then g)."""
        n = self.rotations
        flip_g, turn_g = divmod(g, n)
        flip_h, turn_h = divmod(h, n)
        turn = turn_g + (-turn_h if flip_g else turn_h)  # (1)
        return (flip_g ^ flip_h) * n + turn % n

    def inverse(self, g: int) -> int:
        """Returns the index of the inverse of element g."""
        return g if g >= self.rotations else -g % self.rotations

    def turn(self, x: Tensor, g: int) -> Tensor:
        """Transforms images (..., height, width) by group element g; rotations by 90 degrees need square images."""
        flip, turn = divmod(g, self.rotations)
        moved = x.flip(-1) if flip else x
        quarters = 4 * turn / self.rotations
        if quarters == int(quarters):
            return torch.rot90(
                moved, int(quarters), (x.dim() - 2, x.dim() - 1)
            )  # torch.rot90 with k = 2 does not accept negative axes, so they are counted from the start
        flat = moved.reshape(-1, 1, *x.shape[-2:])
        angle = 2 * pi * turn / self.rotations
        matrix = torch.tensor([[cos(angle), -sin(angle), 0.0], [sin(angle), cos(angle), 0.0]])
        grid = functional.affine_grid(matrix.to(x).expand(len(flat), 2, 3), list(flat.shape), align_corners=True)
        return functional.grid_sample(flat, grid, align_corners=True).reshape(x.shape)

    def turn_features(self, x: Tensor, g: int) -> Tensor:
        """Transforms features (n, channels * order, height, width) by group element g: rotates and permutes them."""
        n, channels, height, width = x.shape
        back = [self.product(self.inverse(g), h) for h in range(self.order)]
        parts = x.reshape(n, channels // self.order, self.order, height, width)[:, :, back]
        return self.turn(parts, g).reshape(n, channels, *x.shape[2:])

    def kernels(self, size: int) -> Tensor:
        """Returns matrices (order, size^2, size^2) that transform convolution kernels, with interpolation if needed.

        >>> cyclic(4).kernels(1).flatten().tolist()
        [1.0, 1.0, 1.0, 1.0]
        """
        units = torch.eye(size * size, dtype=torch.float64).reshape(-1, size, size)
        moved = [self.turn(units, g).reshape(size * size, -1).T for g in range(self.order)]
        return torch.stack(moved)


@add_call_to_errors
def cyclic(n: int) -> Group:
    """Builds the group of rotations by multiples of 360 / n degrees.

    Reference: [cohen2016group].

    >>> cyclic(4).exact, cyclic(8).exact
    (True, False)
    """
    return Group(check_integer("n", n))


@add_call_to_errors
def dihedral(n: int) -> Group:
    """Builds the group of rotations by multiples of 360 / n degrees, and reflections.

    Reference: [cohen2016group].

    >>> dihedral(4).order
    8
    """
    return Group(check_integer("n", n), reflections=True)
