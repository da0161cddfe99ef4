"""Base class of differentiation rules for samples on a uniform grid along one axis."""

from abc import ABC, abstractmethod

import numpy as np

from gnomon.core.errors import InputError

__all__ = ["AbstractDerivative", "check_enough_points"]


class AbstractDerivative(ABC):
    """Base class of rules for derivatives of samples along one axis; complex samples are differentiated in parts."""

    @abstractmethod
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:
        """Returns the derivative of the given order at every point, for samples at distance h."""


def check_enough_points(points: int, needed: int, order: int) -> None:
    """Raises an error for an axis that is too short for a derivative.

    >>> check_enough_points(10, 5, 2)
    """
    if points < needed:
        found = f"{points} points along an axis, and a derivative of order {order} needs {needed}"
        fix = "Pass more samples, or lower the order of the derivatives in the library"
        raise InputError(found, accepted="enough samples for the derivatives", fix=fix)
