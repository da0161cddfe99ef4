"""Computes the scattering transform of one-dimensional signals."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from math import ceil, floor, log2
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.scattering.band import Average1d, BandPlan, average_of_line, band_of
from gnomon.scattering.images import check_shape
from gnomon.scattering.morlet import gaussian_low_pass_1d, morlet_1d, wavelet_parameters_1d
from gnomon.scattering.path import ScatteringPath
from gnomon.scattering.transform import AbstractScattering, check_padding

__all__ = ["Scattering1d"]

AVERAGE_BANDWIDTH = 0.1
"""Width of the averaging window in frequency, times its length T."""


class Scattering1d(AbstractScattering):
    """Scattering transform of signals: averages of the signal, of wavelet moduli, and of second-order wavelet moduli.

        S x = { x * phi_T,   |x * psi_n| * phi_T,   ||x * psi_n| * psi_m| * phi_T },   psi_m slower than psi_n    (1)

    subsampled by T. They hardly change when the signal moves by much less than T samples, and change in proportion to
    the size of a deformation, however high the frequencies.

    Args:
        J: the slowest wavelets reach over about 2^J samples.
        shape: the length of the signals, any number of at least 2^J.
        Q: wavelets an octave of the first transform, or a pair for both; the second has 1 otherwise.
        max_order: 1 or 2, the number of wavelet transforms one after the other.
        T: the averages reach over about T samples; 2^J if it is None.
        oversampling: coefficients are given 2^oversampling times as often.
        padding: how signals go on beyond their ends, a mode of ``numpy.pad``.

    Signals are (..., length); coefficients are (..., paths, about length / T). Coefficients and their order equal those
    in kymatio 0.3, also in this: what follows a signal subsampled by 2^k is smaller by the factor 2^k than (1) says.
    `gains` has the factors that undo it.

    Reference: [anden2014deep], [mallat2012group]. Filters as in [andreux2020kymatio].
    Cost: a Fourier transform for each path, at its own resolution.

    >>> scattering = Scattering1d(4, 100, Q=2)
    >>> constant = scattering(torch.ones(100))
    >>> constant.shape == (len(scattering.paths()), 7)
    True
    >>> bool((constant[0] - 1).abs().max() < 1e-5), bool(constant[1:].abs().max() < 1e-5)          # averages alone
    (True, True)
    """

    @add_call_to_errors
    def __init__(
        self,
        J: int,
        shape: Any,
        Q: Any = 8,
        max_order: int = 2,
        *,
        T: int | None = None,
        oversampling: int = 0,
        padding: str = "reflect",
    ) -> None:
        super().__init__()
        self.J = check_integer("J", J)
        self.shape = check_shape(shape, 1, self.J)
        self.Q = _pair(Q)
        self.max_order = check_integer("max_order", max_order)
        if self.max_order > 2:
            raise out_of_range_error("max_order", "1 or 2", max_order)
        self.T = 2**self.J if T is None else int(check_number("T", T, above=0.5, below=self.shape[0] + 0.5))
        self.oversampling = check_integer("oversampling", oversampling, least=0)
        self.padding = check_padding(padding)
        self.size = _padded_size(self.shape[0], self.T)
        left = (self.size - self.shape[0]) // 2
        self.widths = ((left, self.size - self.shape[0] - left),)
        self.waves = [wavelet_parameters_1d(self.J, q) for q in self.Q]
        self.plan = self._plan()

    def _plan(self) -> BandPlan:
        window = gaussian_low_pass_1d(self.size, AVERAGE_BANDWIDTH / self.T)
        second = [morlet_1d(self.size, xi, sigma) for xi, sigma, _ in self.waves[1]]
        bands = []
        for level, group in groupby(range(len(self.waves[0])), key=lambda n: self.waves[0][n][2]):
            filters = np.stack([morlet_1d(self.size, *self.waves[0][n][:2]) for n in group])[:, None]
            rate = self._rate(level)
            after = [
                band_of(
                    np.stack([_periodize(second[n], rate) for n in numbers])[:, None],
                    (1, self.size >> max(self._rate(slower), rate)),
                    self._average(window, max(self._rate(slower), rate)),
                )
                for slower, numbers in self._slower(level)
            ]
            bands.append(band_of(filters, (1, self.size >> rate), self._average(window, rate), tuple(after)))
        return BandPlan(self._average(window, 0), tuple(bands))

    def _rate(self, level: int) -> int:
        """Returns the subsampling rate, as a power of two, that wavelets of a level (octave) allow."""
        return max(min(level, floor(log2(self.T))) - self.oversampling, 0)

    def _slower(self, level: int) -> list[tuple[int, Sequence[int]]]:
        """Returns the second-order wavelets that may follow wavelets of a level (octave), grouped by their
        own level.
        """
        if self.max_order < 2:
            return []
        numbers = [n for n, wave in enumerate(self.waves[1]) if wave[2] > level]
        return [(key, list(group)) for key, group in groupby(numbers, key=lambda n: self.waves[1][n][2])]

    def _average(self, window: np.ndarray, rate: int) -> Average1d:
        """Builds the local average of signals that were subsampled by 2^rate."""
        last = max(floor(log2(self.T)) - self.oversampling, 0)
        left = self.widths[0][0]
        outputs = np.arange(-(-left // 2**last), -(-(left + self.shape[0]) // 2**last))
        return average_of_line(_periodize(window, rate), 2 ** (last - rate), outputs)

    def paths(self) -> tuple[ScatteringPath, ...]:
        """Describes each output coefficient by the wavelets that produce it, in the order of the output."""
        first = [ScatteringPath((n,), (j,), (), (xi,), (sigma,)) for n, (xi, sigma, j) in enumerate(self.waves[0])]
        slower = list(enumerate(self.waves[1])) if self.max_order == 2 else []
        second = [
            ScatteringPath((*a.n, n), (*a.j, j), (), (*a.xi, xi), (*a.sigma, sigma))
            for a in first
            for n, (xi, sigma, j) in slower
            if j > a.j[0]
        ]
        return (ScatteringPath(), *first, *second)

    def gains(self) -> Tensor:
        """Returns the factor for each output coefficient that undoes the scaling by subsampling."""
        powers = [sum(accumulate((self._rate(j) for j in path.j), max)) for path in self.paths()]
        return 2.0 ** torch.tensor(powers, dtype=torch.float64)

    def options(self) -> dict[str, Any]:
        """Returns the arguments with which the transform was created."""
        return {
            "J": self.J,
            "shape": self.shape[0],
            "Q": list(self.Q),
            "max_order": self.max_order,
            "T": self.T,
            "oversampling": self.oversampling,
            "padding": self.padding,
        }


def _pair(Q: Any) -> tuple[int, int]:
    first, second = Q if isinstance(Q, tuple | list) and len(Q) == 2 else (Q, 1)
    return check_integer("Q", first), check_integer("Q", second)


def _padded_size(size: int, T: int) -> int:
    """Returns the smallest power of two that holds the signal and enough padding for the local average at both ends."""
    window = np.abs(np.fft.ifft(gaussian_low_pass_1d(size, AVERAGE_BANDWIDTH / T)))[: size // 2]
    beyond = np.cumsum(window[::-1])[::-1]  # share of the window that lies beyond each position
    small = np.flatnonzero(beyond <= 1e-3)
    reach = int(small[0]) + 1 if len(small) else size // 2
    return 2 ** min(ceil(log2(size + 6 * reach)), floor(log2(max(3 * size - 2, 1))))


def _periodize(spectrum: np.ndarray, rate: int) -> np.ndarray:
    """Returns the spectrum of a filter that is sampled at every 2^rate-th point."""
    return spectrum.reshape(2**rate, -1).mean(0)
