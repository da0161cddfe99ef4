"""Records that a scattering transform precomputes: groups of wavelets of one resolution, and the averages after them.

All numbers are kept in float64 and are cast once for each dtype and device in which signals come.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.results.record import Record

NEGLIGIBLE_SHARE = 1e-10
"""Filter values below this share of the largest are left out: more than seven standard deviations of a Gaussian."""


@dataclass(frozen=True, slots=True)
class Average2d(Record):
    """Local averaging of images by a Gaussian window, as the matrix product ``rows @ u @ columns.T`` for images u."""

    rows: Tensor
    columns: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Returns the height and width of the averaged image."""
        return len(self.rows), len(self.columns)

    def __call__(self, u: Tensor) -> Tensor:
        """Returns the local averages of images, (count, height, width)."""
        return self.rows @ (u @ self.columns.mT)

    def cast(self, dtype: torch.dtype, device: torch.device) -> "Average2d":
        """Returns a copy of the averaging matrices in another dtype and on another device; negligible weights become
        zero.
        """
        rows, columns = (m.where(m.abs() > least(dtype) * m.abs().max(), 0.0) for m in (self.rows, self.columns))
        return Average2d(rows.to(device, dtype), columns.to(device, dtype))


@dataclass(frozen=True, slots=True)
class Average1d(Record):
    """Local averaging of one-dimensional signals by a Gaussian window, as matrix products over blocks of samples."""

    pieces: Tensor
    blocks: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Returns the height (1) and the length of the averaged signal."""
        return 1, len(self.blocks)

    def __call__(self, u: Tensor) -> Tensor:
        """Returns the local averages of signals, (count, 1, length)."""
        products = u.reshape(len(u), -1, len(self.pieces)) @ self.pieces
        return products.flatten(1)[:, self.blocks].sum(-1)[:, None]

    def cast(self, dtype: torch.dtype, device: torch.device) -> "Average1d":
        """Returns a copy of the averaging matrices in another dtype and on another device."""
        return Average1d(self.pieces.to(device, dtype), self.blocks.to(device))


Average = Average1d | Average2d
"""A Gaussian average, subsampled, without the padding."""


@dataclass(frozen=True, slots=True)
class WaveletBand(Record):
    """A group of wavelets with the same subsampling, their local average, and the second-order wavelets that follow.

    ``filters`` (places, count, m_1, m_2) are the values at each of the places of the input's grid that fold onto one
    place of the grid (m_1, m_2); ``offsets`` are those places.
    """

    filters: Tensor
    offsets: tuple[tuple[int, int], ...]
    average: Average
    after: tuple["WaveletBand", ...] = ()

    @property
    def grid(self) -> tuple[int, int]:
        """Returns the height and width of the subsampled grid on which the wavelets' outputs are computed."""
        return self.filters.shape[2], self.filters.shape[3]

    @property
    def count(self) -> int:
        """Returns the number of wavelets in the group."""
        return self.filters.shape[1]

    def each(self) -> int:
        """Returns how many complex numbers one wavelet's outputs need in memory, including its second-order
        wavelets.
        """
        return max([self.grid[0] * self.grid[1], *(b.count * b.grid[0] * b.grid[1] for b in self.after)])

    def cast(self, dtype: torch.dtype, device: torch.device) -> "WaveletBand":
        """Returns a copy of the group of wavelets in another dtype and on another device."""
        after = tuple(band.cast(dtype, device) for band in self.after)
        return WaveletBand(self.filters.to(device, dtype), self.offsets, self.average.cast(dtype, device), after)


@dataclass(frozen=True, slots=True)
class BandPlan(Record):
    """The precomputed parts of a scattering transform: the average of the input, and the groups of first-order
    wavelets.
    """

    average: Average
    bands: tuple[WaveletBand, ...]
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was made of it once: casts, and what compiled loops read."""

    def cast(self, dtype: torch.dtype, device: torch.device) -> "BandPlan":
        """Returns a copy of the precomputed parts in another dtype and on another device, and caches the copy."""
        key = (dtype, device)
        if key in self.kept and not torch.compiler.is_compiling():
            return self.kept[key]
        made = BandPlan(self.average.cast(dtype, device), tuple(band.cast(dtype, device) for band in self.bands))
        if not torch.compiler.is_compiling():  # Tensors inside torch.compile have no values, so they are not cached.
            self.kept[key] = made
        return made

    @property
    def shape(self) -> tuple[int, int, int]:
        """Returns the number of coefficients per position, and the height and width of the scattering transform's
        output.
        """
        paths = 1 + sum(band.count * (1 + sum(b.count for b in band.after)) for band in self.bands)
        return paths, *self.average.shape

    def largest(self) -> int:
        """Returns how many complex numbers one signal needs in memory for the largest group of wavelets."""
        return max(band.count * band.each() for band in self.bands)


def band_of(
    filters: np.ndarray, grid: tuple[int, int], average: Average, after: tuple[WaveletBand, ...] = ()
) -> WaveletBand:
    """Builds a group of wavelets from filter spectra (count, n_1, n_2); outputs are subsampled to a smaller grid.

    Cost: a copy of the filters.

    >>> average = Average2d(torch.ones(1, 2), torch.ones(1, 2))
    >>> band_of(np.ones((1, 4, 4)), (2, 2), average).offsets
    ((0, 0), (0, 2), (2, 0), (2, 2))
    """
    count, n1, n2 = filters.shape
    m1, m2 = grid
    k1, k2 = n1 // m1, n2 // m2
    places = filters.reshape(count, k1, m1, k2, m2).transpose(1, 3, 0, 2, 4).reshape(k1 * k2, count, m1, m2)
    largest = np.abs(places).max((1, 2, 3))
    kept = np.flatnonzero(largest > NEGLIGIBLE_SHARE * largest.max())
    offsets = tuple((int(a) // k2 * m1, int(a) % k2 * m2) for a in kept)
    return WaveletBand(torch.from_numpy(places[kept] / (k1 * k2)), offsets, average, after)


def least(dtype: torch.dtype) -> float:
    """Returns the fraction of the largest filter value below which filter values are dropped as negligible in
    a dtype.
    """
    return max(NEGLIGIBLE_SHARE, torch.finfo(dtype).eps / 8)


def columns_that_count(filters: np.ndarray, share: float) -> np.ndarray:
    """Returns the first and last column of each filter row that has a value above a fraction of the largest value."""
    seen = np.abs(filters) > share * np.abs(filters).max()
    some, width = seen.any(-1), filters.shape[-1]
    first = np.where(some, seen.argmax(-1), 0)
    last = np.where(some, width - seen[..., ::-1].argmax(-1), 0)
    return np.stack([first, last], -1)


def average_of_plane(windows: tuple[np.ndarray, np.ndarray], steps: int) -> Average2d:
    """Builds the local average of images with a separable window, including subsampling and cropping.

    Cost: two small matrices.
    """
    rows, columns = (
        torch.from_numpy(_shift(window, np.arange(1, len(window) // steps - 1) * steps)) for window in windows
    )
    return Average2d(rows, columns)


def average_of_line(window: np.ndarray, steps: int, outputs: np.ndarray) -> Average1d:
    """Builds the local average of signals with a window, keeping one of every ``steps`` points.

    out[i] = sum_e P[i - e, e],   P[q, e] = sum_r u[s q + r] w[s e - r],   s = steps                          (1)

    Cost: one pass over the window.

    >>> box = np.fft.fft([1.0, 0, 0, 0, 0, 0, 0, 1.0])                                   # u[i] + u[i + 1]
    >>> average_of_line(box, 2, np.arange(4))(torch.arange(8.0, dtype=torch.float64)[None, None])
    tensor([[[ 1.,  5.,  9., 13.]]], dtype=torch.float64)
    """
    size = len(window)
    pieces = _shift(window, np.arange(0, size, steps))[:, :steps]  # entry [e, r] is w[steps * e - r], w the window
    reach = np.abs(pieces).max(1)
    kept = np.flatnonzero(reach > NEGLIGIBLE_SHARE * reach.max())
    blocks = (outputs[:, None] - kept) % (size // steps) * len(kept) + np.arange(len(kept))  # (1)
    return Average1d(torch.from_numpy(pieces[kept].T.copy()), torch.from_numpy(blocks))


def _shift(spectrum: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Returns shifted copies of a window as rows, one row for each position i."""
    window, size = np.fft.ifft(spectrum).real, len(spectrum)
    return window[(at[:, None] - np.arange(size)) % size]
