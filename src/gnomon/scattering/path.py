"""What one scattering coefficient is: the wavelets it went through."""

from dataclasses import dataclass

from gnomon.core.results.record import Record

__all__ = ["Path"]


@dataclass(frozen=True, slots=True)
class Path(Record):
    """The wavelets of one coefficient, in the order they were applied; none for the average of the input itself.

    ``n`` are their numbers, ``j`` their scales (2^j is the subsampling that each bears), ``theta`` the numbers of their
    angles for images, ``xi`` and ``sigma`` their center frequencies and widths in cycles per sample.

    >>> Path(n=(3,), j=(0,)).order
    1
    """

    n: tuple[int, ...] = ()
    j: tuple[int, ...] = ()
    theta: tuple[int, ...] = ()
    xi: tuple[float, ...] = ()
    sigma: tuple[float, ...] = ()

    @property
    def order(self) -> int:
        """How many wavelets: 0, 1 or 2."""
        return len(self.n)
