"""Describes scattering coefficients by the wavelets that were applied."""

from dataclasses import dataclass

from gnomon.core.results.record import Record

__all__ = ["ScatteringPath"]


@dataclass(frozen=True, slots=True)
class ScatteringPath(Record):
    """The wavelets behind one scattering coefficient, in the order they were applied; none for the plain average.

    ``n`` are their numbers, ``j`` their scales (2^j is the subsampling that each bears), ``theta`` the numbers of their
    angles for images, ``xi`` and ``sigma`` their center frequencies and widths in cycles per sample.

    >>> ScatteringPath(n=(3,), j=(0,)).order
    1
    """

    n: tuple[int, ...] = ()
    j: tuple[int, ...] = ()
    theta: tuple[int, ...] = ()
    xi: tuple[float, ...] = ()
    sigma: tuple[float, ...] = ()

    @property
    def order(self) -> int:
        """Returns the order of the coefficient, the number of wavelets applied: 0, 1 or 2."""
        return len(self.n)
