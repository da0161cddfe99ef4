"""Runs a scattering transform with numba-compiled loops, for CPU tensors without gradients.

Images whose padded sides have small prime factors go through loops with Fourier transforms of their own
(`planes`). All other signals go in blocks that stay in the cache, with the Fourier transforms of torch; if one
signal alone is larger than a block, its wavelets of the first order go a few at a time. Moduli are averaged over rows
as they are computed, and are written to memory only if another transform follows. Blocks are shared out among as many
threads as torch uses.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gnomon.core.results.record import Record
from gnomon.scattering import loops
from gnomon.scattering.band import Average, Average2d, BandPlan, WaveletBand, columns_that_count, least
from gnomon.scattering.packed import Packed, pack_plan
from gnomon.scattering.planes import scatter

NUMBERS_PER_BLOCK = 400_000
"""Complex numbers in one block: the caches of a core hold several such blocks in float32."""


@dataclass(frozen=True, slots=True)
class Looped(Record):
    """A group of wavelets in the form that compiled loops read: start positions and nonzero columns of filters."""

    band: WaveletBand
    twice: np.ndarray
    corners: np.ndarray
    extents: np.ndarray
    after: tuple["Looped", ...]


def _loop(band: WaveletBand) -> Looped:
    twice = band.filters.repeat_interleave(2, -1).numpy()
    corners = np.array([(row, 2 * column) for row, column in band.offsets])
    extents = 2 * columns_that_count(band.filters.numpy(), least(band.filters.dtype))
    return Looped(band, twice, corners, extents, tuple(_loop(b) for b in band.after))


def in_blocks(plan: BandPlan, padded: Tensor) -> Tensor:
    """Computes the scattering coefficients (count, paths, height, width) of padded signals (count, n_1, n_2).

    Cost: for every band a Fourier transform at its resolution for each of its wavelets, and one back where others
    follow; memory for the coefficients and one block for each thread.
    """
    if "loops" not in plan.kept:
        share = least(padded.dtype)
        plan.kept["loops"] = pack_plan(plan, share) or tuple(_loop(band) for band in plan.bands)
    made = plan.kept["loops"]
    out = padded.new_empty(len(padded), *plan.shape)
    if isinstance(made, Packed):
        most = max(1, NUMBERS_PER_BLOCK // (padded.shape[1] * padded.shape[2]))
        size = min(-(-len(padded) // torch.get_num_threads()), most)
        _shared_out(len(padded), size, lambda some: _in_lanes(plan, made, padded[some], out[some]))
    else:
        size = max(1, NUMBERS_PER_BLOCK // plan.largest())
        _shared_out(len(padded), size, lambda some: _coefficients(plan, made, padded[some], out[some]))
    return out


def _shared_out(count: int, size: int, work: Callable[[slice], None]) -> None:
    """Runs a function on blocks of signals in several threads, as many threads as torch uses."""
    starts, inference, before = range(0, count, size), torch.is_inference_mode_enabled(), torch.get_num_threads()
    threads = min(before, len(starts))

    def one(start: int) -> None:
        with torch.inference_mode(inference):
            work(slice(start, start + size))

    if threads == 1:
        for start in starts:
            one(start)
        return
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            list(pool.map(one, starts))
    finally:
        torch.set_num_threads(before)  # Restores the number of threads, because this setting is global.


def _in_lanes(plan: BandPlan, made: Packed, padded: Tensor, out: Tensor) -> None:
    out[:, 0] = plan.average(padded)
    # Stores only half of the spectrum of a real image; the other half is its mirror image.
    half = torch.view_as_real(torch.fft.rfftn(padded, dim=(-1, -2))).contiguous()
    room = padded.new_empty(made.memory)
    tables = (made.numbers, made.places, made.bands, made.first, made.sides, made.windows)
    scatter(half.numpy(), *tables, room.numpy(), out.numpy())


def _coefficients(plan: BandPlan, made: tuple[Looped, ...], padded: Tensor, out: Tensor) -> None:
    out[:, 0] = plan.average(padded)
    spectrum, first = _spectrum(padded), 1
    second = first + sum(band.count for band in plan.bands)
    for looped in made:
        band = looped.band
        later = sum(b.count for b in band.after)
        step = max(1, NUMBERS_PER_BLOCK // (len(padded) * band.each()))
        for start in range(0, band.count, step):
            stop = min(start + step, band.count)
            u = _averages(spectrum, looped, (start, stop), out[:, first + start : first + stop])
            if not band.after:
                continue
            inner = _spectrum(u)
            room = out[:, second + start * later : second + stop * later].unflatten(1, (stop - start, later))
            place = 0
            for b in looped.after:
                count = b.band.count
                _averages(inner, b, (0, count), room[:, :, place : place + count])
                place += count
        first, second = first + band.count, second + band.count * later


def _averages(spectrum: Tensor, looped: Looped, some: tuple[int, int], out: Tensor) -> Tensor:
    """Writes the local averages of wavelet moduli; returns the moduli themselves if second-order wavelets follow."""
    band, (start, stop) = looped.band, some
    pairs = torch.view_as_real(spectrum).flatten(2)
    folded = torch.empty(len(spectrum), stop - start, band.grid[0], 2 * band.grid[1], dtype=pairs.dtype)
    values, extents = looped.twice[:, start:stop], looped.extents[:, start:stop]
    loops.fold(pairs.numpy(), values, looped.corners, extents, folded.numpy())
    waves = torch.view_as_complex(folded.unflatten(3, (-1, 2))).flatten(0, 1)
    waves = torch.fft.ifftn(waves, dim=(-2, -1) if band.grid[0] > 1 else (-1,))
    averages, moduli = _moduli(torch.view_as_real(waves).flatten(2), band.average, keep=bool(band.after))
    out.copy_(averages.view(out.shape))
    return moduli


def _moduli(pairs: Tensor, average: Average, *, keep: bool) -> tuple[Tensor, Tensor]:
    """Returns the local averages of |z| for wavelet outputs z, and |z| itself if ``keep`` is set."""
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
    """Returns the full Fourier spectrum of real images: half by Fourier transform, the rest by symmetry."""
    half = torch.fft.rfftn(u, dim=(-2, -1) if u.shape[-2] > 1 else (-1,))
    whole = torch.empty(u.shape, dtype=half.dtype)
    loops.mirror(torch.view_as_real(half).flatten(2).numpy(), torch.view_as_real(whole).flatten(2).numpy())
    return whole
