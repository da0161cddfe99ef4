"""Computes the scattering transform of images."""

from math import pi
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer
from gnomon.scattering.band import Average2d, BandPlan, WaveletBand, average_of_plane, band_of
from gnomon.scattering.morlet import gaussian_low_pass_2d, morlet_2d
from gnomon.scattering.path import ScatteringPath
from gnomon.scattering.transform import AbstractScattering, check_padding

__all__ = ["Scattering2d", "wavelet_spectra_2d"]


class Scattering2d(AbstractScattering):
    """Scattering transform of images: averages of the image, of wavelet moduli, and of second-order wavelet moduli.

        S x = { x * phi_J,   |x * psi_{j1, t1}| * phi_J,   ||x * psi_{j1, t1}| * psi_{j2, t2}| * phi_J },  j1 < j2   (1)

    subsampled by 2^J: 1 + L J + L^2 J (J - 1) / 2 coefficients at each place. They hardly change when the image moves
    by much less than 2^J pixels, and change in proportion to the size of a deformation, however fine the details.

    Args:
        J: the averages reach over about 2^J pixels.
        shape: height and width of the images, any numbers of at least 2^J.
        L: angles of the wavelets, over half a turn.
        max_order: 1 or 2, the number of wavelet transforms one after the other.
        padding: how images go on beyond their border, a mode of ``numpy.pad``.

    Images are (..., height, width), channels among the leading dimensions; coefficients are
    (..., paths, height // 2^J, width // 2^J). Coefficients and their order equal kymatio 0.3.

    Reference: [bruna2013invariant], [mallat2012group]. Filters as in [andreux2020kymatio].
    Cost: L J Fourier transforms of a wavelet band and L^2 J (J - 1) / 2 of the next, each at its own resolution.

    >>> import torch
    >>> scattering = Scattering2d(2, (32, 32))
    >>> constant = scattering(torch.ones(3, 32, 32))
    >>> constant.shape, len(scattering.paths())
    (torch.Size([3, 81, 8, 8]), 81)
    >>> bool((constant[:, 0] - 1).abs().max() < 1e-4), bool(constant[:, 1:].abs().max() < 1e-5)    # averages alone
    (True, True)
    """

    @add_call_to_errors
    def __init__(self, J: int, shape: Any, L: int = 8, max_order: int = 2, *, padding: str = "reflect") -> None:
        super().__init__()
        self.J, self.L = check_integer("J", J), check_integer("L", L)
        self.shape = check_shape(shape, 2, self.J)
        self.max_order = check_integer("max_order", max_order)
        if self.max_order > 2:
            raise out_of_range_error("max_order", "1 or 2", max_order)
        self.padding = check_padding(padding)
        step = 2**self.J
        sizes = [((n + step) // step + 1) * step for n in self.shape]
        self.grid = (sizes[0], sizes[1])
        self.widths = tuple(((m - n) // 2, (m - n + 1) // 2) for n, m in zip(self.shape, sizes, strict=True))
        self.plan = self._plan()

    def _plan(self) -> BandPlan:
        waves = wavelet_spectra_2d(self.grid, self.J, self.L)
        averages = [self._average(level) for level in range(self.J)]
        bands = []
        for first in range(self.J):
            after: list[WaveletBand] = []
            for second in range(first + 1, self.J if self.max_order == 2 else 0):
                filters = np.stack([_low(wave, self._size(first)) for wave in waves[second]])
                after.append(band_of(filters, self._size(second), averages[second]))
            bands.append(band_of(waves[first], self._size(first), averages[first], tuple(after)))
        return BandPlan(averages[0], tuple(bands))

    def _size(self, level: int) -> tuple[int, int]:
        return self.grid[0] >> level, self.grid[1] >> level

    def _average(self, level: int) -> Average2d:
        """Builds the local average of images that were subsampled by 2^level, with a Gaussian window."""
        whole = _low(gaussian_low_pass_2d(self.grid, self.J), self._size(level))
        root = whole[0, 0] ** 0.5
        return average_of_plane((whole[:, 0] / root, whole[0] / root), 2 ** (self.J - level))

    def paths(self) -> tuple[ScatteringPath, ...]:
        """Describes each output coefficient by the wavelets that produce it, in the order of the output."""
        waves = [(j * self.L + t, j, t) for j in range(self.J) for t in range(self.L)]
        first = [ScatteringPath((n,), (j,), (t,)) for n, j, t in waves]
        pairs = [(a, b) for a in waves for b in waves if a[1] < b[1]] if self.max_order == 2 else []
        second = [ScatteringPath((a[0], b[0]), (a[1], b[1]), (a[2], b[2])) for a, b in pairs]
        return (ScatteringPath(), *first, *second)

    def options(self) -> dict[str, Any]:
        """Returns the arguments with which the transform was created."""
        return {
            "J": self.J,
            "shape": list(self.shape),
            "L": self.L,
            "max_order": self.max_order,
            "padding": self.padding,
        }


def wavelet_spectra_2d(grid: tuple[int, int], J: int, L: int) -> list[np.ndarray]:
    """Returns the Fourier transforms of image wavelets of J scales: for each scale one array (L, *grid) over L angles.

    Cost: 25 exponentials for each point of each wavelet.

    >>> [waves.shape for waves in wavelet_spectra_2d((8, 16), 2, 4)]
    [(4, 8, 16), (4, 8, 16)]
    """
    angles = [(int(L - L / 2 - 1) - t) * pi / L for t in range(L)]
    return [np.stack([morlet_2d(grid, j, angle, 4 / L) for angle in angles]) for j in range(J)]


def _low(spectrum: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Cuts a spectrum to the lowest frequencies, as many as a smaller grid has."""
    if spectrum.shape == size:
        return spectrum
    kept = [np.r_[0 : m // 2, n - m // 2 : n] for n, m in zip(spectrum.shape, size, strict=True)]
    return spectrum[np.ix_(*kept)]


def check_shape(shape: Any, dims: int, J: int) -> tuple[int, ...]:
    """Checks that the shape of signals has the right number of axes, each with at least 2^J points."""
    given = tuple(shape) if isinstance(shape, tuple | list) or hasattr(shape, "__len__") else (shape,)
    if len(given) != dims:
        accepted = "a whole number" if dims == 1 else "a height and a width"
        raise out_of_range_error("shape", accepted, shape)
    sizes = tuple(check_integer("shape", n) for n in given)
    if min(sizes) < 2**J:
        found = f"the shape {sizes} is too small for J = {J}, whose averages reach over 2^{J} = {2**J} points"
        fix = f"Take J of at most {min(sizes).bit_length() - 1}, or larger signals"
        raise InputError(found, accepted="signals of at least 2^J points", fix=fix)
    return sizes
