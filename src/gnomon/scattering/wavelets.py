"""A wavelet transform that preserves energy and can be inverted exactly, for signals and images of any size."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer, check_real
from gnomon.scattering.images import check_shape, wavelet_spectra_2d
from gnomon.scattering.morlet import gaussian_low_pass_1d, gaussian_low_pass_2d, morlet_1d, wavelet_parameters_1d
from gnomon.scattering.signals import AVERAGE_BANDWIDTH

__all__ = ["WaveletTransform"]

MIN_KEPT_SHARE = 1e-6
"""If filters keep less than this share of a frequency, the signal cannot be reconstructed numerically."""


class WaveletTransform(nn.Module):
    """An invertible wavelet transform of periodic signals or images: an average and Morlet wavelets, not subsampled.

        W x = {x * phi, x * psi_k},    phi^(w)^2 + sum_k (psi_k^(w)^2 + psi_k^(-w)^2) / 2 = 1                   (1)
        |W x|^2 = |x|^2,    x = phi~ * (x * phi) + sum_k Re( psi_k~ * (x * psi_k) )                            (2)

    The filters are the filters of `Scattering1d` and `Scattering2d`, each divided by the root of the sum in (1).

    Args:
        J: the slowest wavelets reach over about 2^J points.
        shape: a length, or a height and a width: any numbers of at least 2^J.
        Q: wavelets an octave, for signals.
        L: angles over half a turn, for images.

    Hypotheses: real signals, taken as periodic. Reference: [mallat2012group], Section 2.1.
    Cost: a Fourier transform for each wavelet.

    >>> transform = WaveletTransform(3, 37)
    >>> x = torch.arange(37.0, dtype=torch.float64).sin()
    >>> y = transform(x)
    >>> bool((y.abs().square().sum() / x.square().sum() - 1).abs() < 1e-12)
    True
    >>> bool((transform.inverse(y) - x).abs().max() < 1e-12)
    True
    """

    spectra: Tensor
    scales: tuple[int, ...]

    @add_call_to_errors
    def __init__(self, J: int, shape: Any, *, Q: int = 1, L: int = 8) -> None:
        super().__init__()
        self.J, self.Q, self.L = (check_integer(name, value) for name, value in (("J", J), ("Q", Q), ("L", L)))
        self.shape = check_shape(shape, 2 if np.ndim(shape) == 1 else 1, self.J)
        if len(self.shape) == 1:
            waves = wavelet_parameters_1d(self.J, self.Q)
            filters = np.stack([morlet_1d(self.shape[0], xi, sigma) for xi, sigma, _ in waves])
            average, scales = (
                gaussian_low_pass_1d(self.shape[0], AVERAGE_BANDWIDTH / 2**self.J),
                list(range(len(waves))),
            )
        else:
            grid = (self.shape[0], self.shape[1])
            filters, average = (
                np.concatenate(wavelet_spectra_2d(grid, self.J, self.L)),
                gaussian_low_pass_2d(grid, self.J),
            )
            scales = [k // self.L for k in range(len(filters))]
        self.scales = tuple(scales)
        self.register_buffer("spectra", torch.from_numpy(_tight(np.concatenate([average[None], filters]))), False)

    @property
    def axes(self) -> tuple[int, ...]:
        """Returns the spatial axes of the input signals."""
        return tuple(range(-len(self.shape), 0))

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Returns pairs of wavelet indices for second-order coefficients: a wavelet, and a slower one that may
        follow.
        """
        numbers = range(len(self.scales))
        return tuple((a, b) for a in numbers for b in numbers if self.scales[a] < self.scales[b])

    @add_call_to_errors("WaveletTransform(x)")
    def forward(self, x: Any) -> Tensor:
        """Returns the wavelet coefficients (..., 1 + wavelets, *shape) of signals (..., *shape), the average first."""
        given = check_real(as_numbers(x, "x"), "x")
        if tuple(given.shape[-len(self.shape) :]) != self.shape:
            found = f"x has shape {tuple(given.shape)} and the transform was made for {self.shape} at the end"
            fix = f"Make the transform with shape={tuple(given.shape[-len(self.shape) :])}, or resize x"
            raise InputError(found, accepted="signals of one shape", fix=fix)
        check_finite_inputs(given.detach())
        given = given if given.dtype in (torch.float32, torch.float64) else given.to(torch.get_default_dtype())
        spectrum = torch.fft.fftn(given, dim=self.axes).unsqueeze(-1 - len(self.shape))
        return torch.fft.ifftn(spectrum * self.spectra.to(given.device, given.dtype), dim=self.axes)

    def inverse(self, y: Tensor) -> Tensor:
        """Returns the signals with the given wavelet coefficients, or the nearest signals if there are none."""
        spectra = self.spectra.to(y.device, y.real.dtype)
        back = torch.fft.ifftn(torch.fft.fftn(y, dim=self.axes) * spectra, dim=self.axes)
        return back.real.sum(-1 - len(self.shape))  # (2)


def _tight(filters: np.ndarray) -> np.ndarray:
    """Divides wavelet filters by the root of their summed energy, so that the transform preserves energy."""
    energy = filters**2
    axes = tuple(range(1, filters.ndim))
    kept = ((energy + np.roll(np.flip(energy, axes), 1, axes)) / 2).sum(0)
    if kept.min() < MIN_KEPT_SHARE * kept.max():
        found = f"some frequencies pass with only {kept.min() / kept.max():.1g} of the energy of others"
        raise InputError(found, accepted="filters that pass every frequency", fix="Take more angles L, or another J")
    return np.asarray(filters / np.sqrt(kept))  # (1)
