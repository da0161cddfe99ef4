"""Runs a scattering transform: wavelets, modulus and local average, twice, each group at its own resolution.

    S_0 = x * phi,   U_1 = |x * psi_1|,   S_1 = U_1 * phi,   S_2 = |U_1 * psi_2| * phi                        (1)

Products with wavelets are taken in frequency and folded to the resolution that the band needs; the averages, whose
outputs are few, are matrix products. This is the road through torch, which has gradients and goes anywhere; numbers on
the CPU that need no gradients take the compiled one (`blocks`).
"""

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from gnomon.scattering.band import BandPlan, WaveletBand


def cascade(plan: BandPlan, padded: Tensor) -> Tensor:
    """Computes the scattering coefficients (count, paths, height, width) of padded signals (count, n_1, n_2).

    See equation (1) of the module docstring.
    Cost: for every band a Fourier transform at its resolution for each of its wavelets, and one back where others
    follow.
    """
    # An empty batch runs one zero signal, because torch rejects empty Fourier transforms.
    if has_values(padded) and not len(padded):
        return _coefficients(plan, padded.new_zeros(1, *padded.shape[1:]))[:0]
    if not has_values(padded) or _derive(padded) or padded.device.type != "cpu":
        return _coefficients(plan, padded)
    from gnomon.scattering.blocks import in_blocks  # imports numba

    return in_blocks(plan, padded.detach())


def has_values(x: Tensor) -> bool:
    """Returns whether a tensor holds actual numbers, and is not being traced by a compiler, vmap or grad.

    >>> has_values(torch.ones(1))
    True
    """
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None or x.is_meta:
        return False
    return type(x) in (Tensor, torch.nn.Parameter) and not torch._C._functorch.is_functorch_wrapped_tensor(x)


def _derive(x: Tensor) -> bool:
    """Returns whether a tensor needs derivatives, by backward or forward automatic differentiation."""
    return (x.requires_grad and torch.is_grad_enabled()) or unpack_dual(x).tangent is not None


def _coefficients(plan: BandPlan, padded: Tensor) -> Tensor:
    count = len(padded)
    first, second = [plan.average(padded)[:, None]], []
    spectrum = torch.fft.fftn(padded, dim=_axes(padded))
    for band in plan.bands:
        u = _moduli(spectrum, band)
        first.append(band.average(u).unflatten(0, (count, band.count)))
        if band.after:
            inner = torch.fft.fftn(u, dim=_axes(u))
            found = [b.average(_moduli(inner, b)).unflatten(0, (count, band.count, b.count)) for b in band.after]
            second.append(torch.cat(found, 2).flatten(1, 2))
    return torch.cat(first + second, 1)


def _axes(x: Tensor) -> tuple[int, ...]:
    return (-2, -1) if x.shape[-2] > 1 else (-1,)


def _moduli(spectrum: Tensor, band: WaveletBand) -> Tensor:
    """Returns the moduli of the wavelet outputs for a group of wavelets, subsampled: (count * wavelets, m_1, m_2)."""
    folded = _fold(spectrum, band)
    return torch.fft.ifftn(folded, dim=_axes(folded)).abs().flatten(0, 1)


def _fold(spectrum: Tensor, band: WaveletBand) -> Tensor:
    """Multiplies spectra by wavelet filters and folds them to a smaller grid, which subsamples the outputs."""
    (rows, columns), total = band.grid, None
    for weight, (row, column) in zip(band.filters, band.offsets, strict=True):
        part = spectrum[:, None, row : row + rows, column : column + columns] * weight
        total = part if total is None else total + part
    assert total is not None
    return total
