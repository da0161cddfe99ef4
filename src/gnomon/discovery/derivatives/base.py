"""Base class of numerical differentiation methods for samples on a uniform grid."""

from abc import ABC, abstractmethod

import numpy as np

from gnomon.core.errors import InputError

__all__ = ["AbstractDerivative", "check_enough_points"]


class AbstractDerivative(ABC):
    """Base class of numerical differentiation methods along one axis; treats real and imaginary parts separately."""

    @abstractmethod
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:
        """Returns the derivative of the given order at every grid point; h is the distance between points."""


def check_enough_points(points: int, needed: int, order: int) -> None:
    """Raises an error if an axis has too few points for a derivative of this order.

    >>> check_enough_points(10, 5, 2)
    """
    if points < needed:
        found = f"{points} points along an axis, and a derivative of order {order} needs {needed}"
        fix = "Pass more samples, or lower the order of the derivatives in the library"
        raise InputError(found, accepted="enough samples for the derivatives", fix=fix)
