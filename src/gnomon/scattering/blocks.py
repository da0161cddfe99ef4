"""The compiled road through a plan, for numbers on the CPU that need no gradients.

Signals go in blocks that stay in the cache; where one signal alone is larger, its wavelets of the first order go a few
at a time. Moduli are averaged over rows as they are computed, and are written to memory only where another transform
follows. Blocks are shared out among as many threads as torch uses.
"""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from gnomon.scattering import loops
from gnomon.scattering.band import Average, Average2d, Band, Plan

BLOCK = 400_000
"""Complex numbers in a block at a time: the caches of a core hold some blocks of that size in float32."""


def in_blocks(plan: Plan, padded: Tensor) -> Tensor:
    """The coefficients (count, paths, height, width) of padded signals (count, n_1, n_2).

    Cost: for every band a Fourier transform at its resolution for each of its wavelets, and one back where others
    follow; memory for the coefficients and one block for each thread.
    """
    out = padded.new_empty(len(padded), *plan.shape)
    size = max(1, BLOCK // plan.largest())
    starts = range(0, len(padded), size)
    threads = min(torch.get_num_threads(), len(starts))

    def one(start: int) -> None:
        with torch.inference_mode(torch.is_inference(padded)):
            _coefficients(plan, padded[start : start + size], out[start : start + size])

    if threads == 1:
        for start in starts:
            one(start)
        return out
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            list(pool.map(one, starts))
    finally:
        torch.set_num_threads(before)  # the matrix library has one number for all threads
    return out


def _coefficients(plan: Plan, padded: Tensor, out: Tensor) -> None:
    out[:, 0] = plan.average(padded)
    spectrum, first = _spectrum(padded), 1
    second = first + sum(band.count for band in plan.bands)
    for band in plan.bands:
        later = sum(b.count for b in band.after)
        step = max(1, BLOCK // (len(padded) * band.each()))
        for start in range(0, band.count, step):
            stop = min(start + step, band.count)
            u = _averages(spectrum, band, (start, stop), out[:, first + start : first + stop])
            if not band.after:
                continue
            inner = _spectrum(u)
            room = out[:, second + start * later : second + stop * later].unflatten(1, (stop - start, later))
            place = 0
            for b in band.after:
                _averages(inner, b, (0, b.count), room[:, :, place : place + b.count])
                place += b.count
        first, second = first + band.count, second + band.count * later


def _averages(spectrum: Tensor, band: Band, some: tuple[int, int], out: Tensor) -> Tensor:
    """Write the averages of |u * psi| for some of a band's wavelets; the moduli themselves where others follow."""
    start, stop = some
    pairs = torch.view_as_real(spectrum).flatten(2)
    folded = torch.empty(len(spectrum), stop - start, band.grid[0], 2 * band.grid[1], dtype=pairs.dtype)
    values, extents = band.twice[:, start:stop], band.extents[:, start:stop]
    loops.fold(pairs.numpy(), values, band.corners, extents, folded.numpy())
    waves = torch.view_as_complex(folded.unflatten(3, (-1, 2))).flatten(0, 1)
    waves = torch.fft.ifftn(waves, dim=(-2, -1) if band.grid[0] > 1 else (-1,))
    averages, moduli = _moduli(torch.view_as_real(waves).flatten(2), band.average, keep=bool(band.after))
    out.copy_(averages.view(out.shape))
    return moduli


def _moduli(pairs: Tensor, average: Average, *, keep: bool) -> tuple[Tensor, Tensor]:
    """The averages of |z|, and |z| where it is kept."""
    count, rows, width = pairs.shape
    if not isinstance(average, Average2d):
        moduli = torch.empty(count, rows, width // 2, dtype=pairs.dtype)
        loops.modulus(pairs.flatten().numpy(), moduli.flatten().numpy())
        return average(moduli), moduli
    moduli = torch.empty(*((count, rows) if keep else (1, 1)), width // 2, dtype=pairs.dtype)
    sums = torch.empty(count, len(average.rows), width // 2, dtype=pairs.dtype)
    loops.average_moduli(pairs.numpy(), average.rows.numpy(), keep, moduli.numpy(), sums.numpy())
    return sums @ average.columns.mT, moduli


def _spectrum(u: Tensor) -> Tensor:
    """The whole spectrum of real planes: half of it computed, the rest mirrored."""
    half = torch.fft.rfftn(u, dim=(-2, -1) if u.shape[-2] > 1 else (-1,))
    whole = torch.empty(u.shape, dtype=half.dtype)
    loops.mirror(torch.view_as_real(half).flatten(2).numpy(), torch.view_as_real(whole).flatten(2).numpy())
    return whole
