"""Running a plan: wavelets, modulus and averages, twice, each band at its own resolution.

    S_0 = x * phi,   U_1 = |x * psi_1|,   S_1 = U_1 * phi,   S_2 = |U_1 * psi_2| * phi                        (1)

Products with wavelets are taken in frequency and folded to the resolution that the band needs; the averages, whose
outputs are few, are matrix products. Numbers on the CPU that need no gradients go through compiled loops, in blocks
that stay in the cache, shared out among as many threads as torch uses; everything else through torch.
"""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from gnomon.scattering.band import Band, Plan

BLOCK = 200_000
"""Complex numbers in a block at a time, about the second-level cache of a core."""


def cascade(plan: Plan, padded: Tensor) -> Tensor:
    """The coefficients (count, paths, height, width) of padded signals (count, n_1, n_2), equation (1).

    Cost: for every band a Fourier transform at its resolution for each of its wavelets, and one back where others
    follow.
    """
    if has_values(padded) and not len(padded):  # Fourier transforms of nothing are refused
        return _coefficients(plan, padded.new_zeros(1, *padded.shape[1:]), fast=False)[:0]
    if not has_values(padded) or padded.requires_grad or padded.device.type != "cpu":
        return _coefficients(plan, padded, fast=False)
    block = max(1, BLOCK // plan.largest())
    parts = padded.split(block)
    threads = min(torch.get_num_threads(), len(parts))
    if threads == 1:
        return torch.cat([_coefficients(plan, part, fast=True) for part in parts])
    return torch.cat(_shared_out(plan, parts, threads))


def has_values(x: Tensor) -> bool:
    """Whether a tensor holds numbers to look at, and is not one that a compiler, vmap or grad passes through.

    Cost: none.

    >>> has_values(torch.ones(1))
    True
    """
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None or x.is_meta:
        return False
    return type(x) in (Tensor, torch.nn.Parameter) and not torch._C._functorch.is_functorch_wrapped_tensor(x)


def _shared_out(plan: Plan, parts: tuple[Tensor, ...], threads: int) -> list[Tensor]:
    """The coefficients of parts, one part a thread at a time, and one thread for the products inside."""
    before = torch.get_num_threads()

    def one(part: Tensor) -> Tensor:
        with torch.inference_mode(torch.is_inference(part)):
            return _coefficients(plan, part, fast=True)

    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(one, parts))
    finally:
        torch.set_num_threads(before)  # the matrix library has one number for all threads


def _coefficients(plan: Plan, padded: Tensor, *, fast: bool) -> Tensor:
    count = len(padded)
    first, second = [plan.average(padded)[:, None]], []
    spectrum = _spectrum(padded)
    for band in plan.bands:
        u = _moduli(spectrum, band, fast=fast)
        first.append(band.average(u).unflatten(0, (count, band.count)))
        if band.after:
            inner = _spectrum(u)
            found = [
                b.average(_moduli(inner, b, fast=fast)).unflatten(0, (count, band.count, b.count)) for b in band.after
            ]
            second.append(torch.cat(found, 2).flatten(1, 2))
    return torch.cat(first + second, 1)


def _axes(x: Tensor) -> tuple[int, ...]:
    return (-2, -1) if x.shape[-2] > 1 else (-1,)


def _spectrum(u: Tensor) -> Tensor:
    """The whole spectrum; torch computes half of it for real numbers and mirrors that."""
    return torch.fft.fftn(u, dim=_axes(u))


def _moduli(spectrum: Tensor, band: Band, *, fast: bool) -> Tensor:
    """|u * psi| for each wavelet of a band, subsampled: (count times wavelets, m_1, m_2)."""
    if not fast:
        folded = _folded(spectrum, band)
        return torch.fft.ifftn(folded, dim=_axes(folded)).abs().flatten(0, 1)
    from gnomon.scattering import loops  # imports numba

    shape = (len(spectrum), band.count, *band.grid)
    pairs = torch.view_as_real(spectrum)
    folded = torch.empty(*shape, 2, dtype=pairs.dtype)
    loops.fold(pairs.flatten(2).numpy(), band.twice, band.corners, folded.flatten(3).numpy())
    waves = torch.view_as_complex(folded).flatten(0, 1)
    waves = torch.fft.ifftn(waves, dim=_axes(waves))
    moduli = torch.empty(waves.shape, dtype=pairs.dtype)
    loops.modulus(torch.view_as_real(waves).flatten().numpy(), moduli.flatten().numpy())
    return moduli


def _folded(spectrum: Tensor, band: Band) -> Tensor:
    """The same sum of products as the compiled loop, by torch."""
    (rows, columns), total = band.grid, None
    for weight, (row, column) in zip(band.filters, band.offsets, strict=True):
        part = spectrum[:, None, row : row + rows, column : column + columns] * weight
        total = part if total is None else total + part
    assert total is not None
    return total
