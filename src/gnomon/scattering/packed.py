"""Converts the precomputed parts of an image scattering transform to flat arrays that compiled loops read.

The loops work on eight wavelets of the first order side by side (`planes`), with Fourier transforms of their own
(`fourier`), whose lengths have small prime factors. Plans with other lengths are not packed.
"""

from dataclasses import dataclass, field

import numpy as np

from gnomon.core.results.record import Record
from gnomon.scattering.band import Average2d, BandPlan, WaveletBand, columns_that_count

SIGNALS_PER_VECTOR = 8
"""Signals side by side in one vector."""

PRIMES = (3, 5, 7, 11, 13, 17, 19)
"""A step of r costs r operations a number; beyond these the transforms of torch are as fast."""

SIDE = np.dtype([(name, np.int64) for name in ("n", "steps", "count", "turns")])
WINDOW = np.dtype([(name, np.int64) for name in ("outputs", "size", "weights", "reach")])
BAND = np.dtype(
    [
        (name, np.int64)
        for name in (
            # Fields: number of wavelets, rows and columns of their grid, height (high) and width (wide) of their input
            "count", "rows", "columns", "high", "wide",
            # Fields: how many values fold onto one position; first indices of the offsets, the extents and the values
            "places", "offsets", "extents", "values",
            "row_side", "column_side", "row_window", "column_window",
            # Fields: first path in the output; range (after, until) of the bands that follow; their number of wavelets
            "path", "after", "until", "later",
        )
    ]
)  # fmt: skip
"""Numbers, or the index of their first entry in the flat arrays."""


def radices(n: int) -> list[int] | None:
    """Returns the factors of a length for the Fourier transform (8, 4, 2, small odd primes); None if others are needed.

    >>> radices(40), radices(144), radices(46)
    ([8, 5], [4, 4, 3, 3], None)
    """
    twos = (n & -n).bit_length() - 1
    fours = {0: 0, 1: 2, 2: 1}[twos % 3] if twos != 1 else 0
    found = [8] * ((twos - 2 * fours) // 3) + [4] * fours + [2] * (twos == 1)
    rest = n >> twos
    for prime in PRIMES:
        while rest % prime == 0:
            found.append(prime)
            rest //= prime
    return found if rest == 1 else None


def turns(n: int) -> np.ndarray:
    """Returns cos(2 pi k / n) and sin(2 pi k / n) for k < n, alternating.

    >>> turns(4).round(12).tolist()
    [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, -0.0, -1.0]
    """
    angles = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], 1).ravel()


@dataclass(frozen=True, slots=True)
class Packed(Record):
    """The precomputed parts of an image scattering transform as flat arrays; ``memory`` is what one thread needs."""

    numbers: np.ndarray
    places: np.ndarray
    bands: np.ndarray
    first: int
    sides: np.ndarray
    windows: np.ndarray
    memory: int


@dataclass(slots=True)
class _Writer:
    """Appends data to flat arrays for compiled loops; each method returns the position at which it wrote."""

    numbers: list[np.ndarray] = field(default_factory=list)
    places: list[np.ndarray] = field(default_factory=list)
    bands: list[tuple[int, ...]] = field(default_factory=list)
    sides: list[tuple[int, ...]] = field(default_factory=list)
    windows: list[tuple[int, ...]] = field(default_factory=list)

    def write(self, values: np.ndarray) -> int:
        into = self.places if values.dtype.kind == "i" else self.numbers
        begin = sum(part.size for part in into)
        into.append(values.ravel())
        return begin

    def side(self, n: int) -> int:
        """Writes the tables of a Fourier transform of length n, and returns their index."""
        sizes = [side[0] for side in self.sides]
        if n in sizes:
            return sizes.index(n)
        steps = radices(n)
        assert steps is not None
        self.sides.append((n, self.write(np.array(steps)), len(steps), self.write(turns(n))))
        return len(self.sides) - 1

    def window(self, weights: np.ndarray) -> int:
        """Writes a local averaging matrix: its values, and the first and last nonzero column of each row."""
        seen = weights != 0
        reach = np.stack([seen.argmax(1), weights.shape[1] - seen[:, ::-1].argmax(1)], 1)
        self.windows.append((*weights.shape, self.write(weights), self.write(reach)))
        return len(self.windows) - 1

    def band(self, band: WaveletBand, grid: tuple[int, int], share: float, lanes: bool, rest: tuple[int, ...]) -> None:
        """Writes the filters of a group of wavelets; with ``lanes``, eight filters side by side, padded with zeros."""
        values = band.filters.numpy()  # shape is (offsets, filters, rows, columns)
        rows, columns = band.grid
        seen = columns_that_count(values, share).swapaxes(0, 1)
        # Divides by the number of positions here, because the Fourier transforms are not normalized.
        values = values.swapaxes(0, 1) / (rows * columns)
        if lanes:
            missing = -len(values) % SIGNALS_PER_VECTOR
            values = np.pad(values, [(0, missing), (0, 0), (0, 0), (0, 0)])
            values = np.moveaxis(values.reshape(-1, SIGNALS_PER_VECTOR, *values.shape[1:]), 1, -1)
            some = np.pad(seen, [(0, missing), (0, 0), (0, 0), (0, 0)], mode="edge")
            some = some.reshape(-1, SIGNALS_PER_VECTOR, *some.shape[1:])
            empty = some[..., 0] == some[..., 1]
            seen = np.stack([np.where(empty, columns, some[..., 0]).min(1), some[..., 1].max(1)], -1)
            seen[..., 0] = np.minimum(seen[..., 0], seen[..., 1])
        assert isinstance(band.average, Average2d)
        self.bands.append(
            (
                band.count, rows, columns, *grid,
                len(band.offsets), self.write(np.array(band.offsets)), self.write(seen), self.write(values),
                self.side(rows), self.side(columns),
                self.window(band.average.rows.numpy()), self.window(band.average.columns.numpy()),
                *rest,
            )
        )  # fmt: skip


def pack_plan(plan: BandPlan, share: float) -> Packed | None:
    """Converts a scattering transform to flat arrays, dropping negligible values; None if it is not supported.

    Cost: a copy of the filters.
    """
    sizes = {n for band in plan.bands for n in band.grid}
    if not isinstance(plan.average, Average2d) or any(radices(n) is None or n % 2 for n in sizes):
        return None
    to, path, later = _Writer(), 1, len(plan.bands)
    second = path + sum(band.count for band in plan.bands)
    for band in plan.bands:
        until, wavelets = later + len(band.after), sum(b.count for b in band.after)
        to.band(band, plan.bands[0].grid, share, True, (path, later, until, wavelets))
        path, later = path + band.count, until
    for band in plan.bands:
        place = second
        for b in band.after:
            to.band(b, band.grid, share, False, (place, 0, 0, 0))
            place += b.count
        second += band.count * sum(b.count for b in band.after)
    dtype = plan.average.rows.numpy().dtype
    return Packed(
        np.concatenate(to.numbers).astype(dtype),
        np.concatenate(to.places),
        np.array(to.bands, BAND),
        len(plan.bands),
        np.array(to.sides, SIDE),
        np.array(to.windows, WINDOW),
        _memory(plan),
    )


def _memory(plan: BandPlan) -> int:
    """Returns how many numbers one thread needs as working memory for a scattering transform."""
    rows, columns = (max(band.grid[axis] for band in plan.bands) for axis in (0, 1))
    line = max(rows, columns)
    planes = rows * (columns + 1) * 2 + (rows + 2) * columns  # complex
    return 2 * SIGNALS_PER_VECTOR * (planes + 4 * line + columns * (plan.average.shape[0] + 1) + 1)
