"""Reports on filter banks: how much of each frequency they keep, and whether their input can be recovered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results import Image, Line, Plot, Result
from gnomon.core.results.plot import Axis
from gnomon.scattering.images import Scattering2d, wavelet_spectra_2d
from gnomon.scattering.morlet import gaussian_low_pass_1d, gaussian_low_pass_2d, morlet_1d
from gnomon.scattering.signals import AVERAGE_BANDWIDTH, Scattering1d

__all__ = ["FilterReport", "filter_report"]

HALF_PLANE_SHARE = 0.5
"""Share of the plane of frequencies that real filters need."""


@dataclass(frozen=True, slots=True)
class FilterReport(Result):
    """Result: how much a filter bank keeps of each frequency, with bounds on how it changes norms (frame bounds).

    ``lower`` and ``upper`` are the frame bounds: the energy of the outputs is between these multiples of the energy of
    the input. ``redundancy`` is the number of outputs for each input channel, ``analyticity`` the share of the energy
    of the filters on one side of the frequency plane (1 for analytic wavelets, 1/2 for real filters), ``coverage`` the
    share of frequencies that keep at least half of the largest energy. ``littlewood_paley`` is the energy kept at
    each frequency, frequency 0 first.

    >>> found = FilterReport(0.5, 1.0, 2.0, 1.0, 1.0, torch.tensor([1.0, 0.5, 0.75, 0.5]))
    >>> print(found.verdict)
    No frequency is lost: the outputs keep between 0.5 and 1 of the energy; distances never grow.
    """

    lower: float
    upper: float
    redundancy: float
    analyticity: float
    coverage: float
    littlewood_paley: Tensor

    @property
    def verdict(self) -> str:
        """States whether the input can be recovered from the filters' outputs, and how distances change."""
        if self.lower < 1e-6 * self.upper:
            lost = "Some frequencies are lost: the input cannot be recovered from the outputs"
        else:
            lost = f"No frequency is lost: the outputs keep between {self.lower:.3g} and {self.upper:.3g} of the energy"
        grows = (
            "distances never grow" if self.upper <= 1 + 1e-6 else f"distances grow at most {self.upper**0.5:.3g}-fold"
        )
        return f"{lost}; {grows}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the energy that the filters keep at each frequency."""
        kept = self.littlewood_paley
        if kept.dim() == 1:
            half = kept[: len(kept) // 2 + 1]
            marks: tuple[Any, ...] = (Line("kept", torch.arange(len(half)) / len(kept), half),)
            return (
                Plot("Energy kept at each frequency", marks, Axis("cycles per sample"), Axis("energy"), self.verdict),
            )
        image = Image("kept", torch.fft.fftshift(kept))
        return (
            Plot(
                "Energy kept over the frequency plane, 0 in the middle",
                (image,),
                Axis("frequency across"),
                Axis("frequency down"),
                self.verdict,
            ),
        )


@add_call_to_errors
def filter_report(filters: Any, *, size: int = 64) -> FilterReport:
    """Computes how much of each frequency a filter bank or convolution layer keeps, and whether its input can be
    recovered.

        A |x|^2 <= sum_k |x * f_k|^2 <= B |x|^2,   A, B = min, max over frequencies of sum_k |f_k^(w)|^2           (1)

    For signals of several channels the sum is a matrix over channels, and A and B its extreme eigenvalues. For the
    wavelets of scattering, which see real signals, the sum is |phi^|^2 + (|psi^(w)|^2 + |psi^(-w)|^2) / 2.

    Args:
        filters: a `Scattering1d` or `Scattering2d`, or an ``nn.Conv1d`` or ``nn.Conv2d``.
        size: points of the frequency grid along each axis, for convolutions.

    Hypotheses: periodic borders, before any stride: sqrt(B) is then the largest factor by which distances grow.
    Reference: [mallat2012group], Section 2.
    Cost: one Fourier transform of each filter, and an eigenvalue problem of the channels at each frequency.

    >>> identity = nn.Conv1d(1, 1, 3, padding=1, bias=False)
    >>> identity.weight.data = torch.tensor([[[0.0, 1.0, 0.0]]])
    >>> found = filter_report(identity)
    >>> round(found.lower, 6), round(found.upper, 6), found.redundancy
    (1.0, 1.0, 1.0)
    """
    if isinstance(filters, Scattering1d | Scattering2d):
        return _of_wavelets(*_spectra(filters))
    if isinstance(filters, nn.Conv1d | nn.Conv2d):
        return _of_convolution(filters, check_integer("size", size))
    found = f"filters is a {type(filters).__name__}"
    fix = "Pass a Scattering1d, a Scattering2d, an nn.Conv1d or an nn.Conv2d, such as model.conv1"
    raise InputError(found, accepted="a bank of filters", fix=fix)


def _spectra(filters: Scattering1d | Scattering2d) -> tuple[np.ndarray, np.ndarray]:
    """Returns the Fourier spectra of the first-order wavelets and of the local average."""
    if isinstance(filters, Scattering1d):
        waves = [morlet_1d(filters.size, xi, sigma) for xi, sigma, _ in filters.waves[0]]
        return np.stack(waves), gaussian_low_pass_1d(filters.size, AVERAGE_BANDWIDTH / filters.T)
    return np.concatenate(wavelet_spectra_2d(filters.grid, filters.J, filters.L)), gaussian_low_pass_2d(
        filters.grid, filters.J
    )


def _mirror(energy: np.ndarray) -> np.ndarray:
    """Returns the energy of filters at the opposite frequencies."""
    axes = tuple(range(1, energy.ndim))
    return np.roll(np.flip(energy, axes), 1, axes)


def _of_wavelets(waves: np.ndarray, average: np.ndarray) -> FilterReport:
    energy = waves**2
    opposite = _mirror(energy)
    kept = average**2 + (energy + opposite).sum(0) / 2  # (1)
    # The sum counts each pair of opposite frequencies twice, but the ratio of two such sums is right.
    larger = np.maximum(energy, opposite).reshape(len(waves), -1).sum(1)
    sides = larger / (energy + opposite).reshape(len(waves), -1).sum(1)
    return _report(torch.from_numpy(kept), kept.min(), kept.max(), 2.0 * len(waves) + 1, float(sides.mean()))


def _of_convolution(layer: nn.Conv1d | nn.Conv2d, size: int) -> FilterReport:
    weight = layer.weight.detach().double().cpu()
    axes = tuple(range(2, weight.dim()))
    if max(weight.shape[2:]) > size:
        found = f"the kernels have {tuple(weight.shape[2:])} points and the grid {size} along each axis"
        raise InputError(found, accepted="a grid that holds the kernels", fix=f"Pass size={max(weight.shape[2:])}")
    spectra = torch.fft.fftn(weight, s=[size] * len(axes), dim=axes).movedim((0, 1), (-2, -1))
    groups = spectra.reshape(*spectra.shape[:-2], layer.groups, -1, spectra.shape[-1])
    values = torch.linalg.eigvalsh(groups.mH @ groups).clamp_min(0)  # (1)
    redundancy = layer.out_channels / layer.in_channels
    kept = values.mean((-2, -1))
    return _report(kept, values.min(), values.max(), redundancy, HALF_PLANE_SHARE)


def _report(kept: Tensor, lower: Any, upper: Any, redundancy: float, analyticity: float) -> FilterReport:
    coverage = float((kept >= HALF_PLANE_SHARE * kept.max()).double().mean())
    return FilterReport(float(lower), float(upper), redundancy, analyticity, coverage, kept)
