"""Computes the kernels of any supported network in torch, tile by tile, with gradients if requested.

A bar on a terminal shows work of more than two seconds, layer by layer of every tile.
"""

import torch
from torch import Tensor

from gnomon.core.machine.memory import MatrixTile, matrix_tiles
from gnomon.core.machine.progress import Progress
from gnomon.kernels import propagate
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.base import KernelPair, mirror


def run(
    made: LimitPlan,
    data: tuple[propagate.Features, propagate.Features],
    tile: int,
    kinds: tuple[str, ...],
    dtype: torch.dtype,
) -> dict[str, Tensor]:
    """Computes kernel matrices in torch: first statistics of the points, then ``tile`` pairs of points at a time."""
    symmetric = data[1] is data[0]
    left = _measure(made, data[0])
    right = left if symmetric else _measure(made, data[1])
    n, m, device = _count(data[0]), _count(data[1]), _device(data[0])
    out = {kind: torch.empty(n, m, dtype=dtype, device=device) for kind in kinds}
    parts = list(matrix_tiles(n, m, pair_bytes=1, budget=tile, symmetric=symmetric))
    with Progress(len(parts) * len(made.rules), "layers of tiles") as progress:
        for t in parts:
            pair = _tile(made, data, (left, right), t, "ntk" in kinds, symmetric, progress)
            _write(out, pair, t, symmetric)
    return out


def _tile(
    made: LimitPlan,
    data: tuple[propagate.Features, propagate.Features],
    stats: tuple[propagate.Statistics, propagate.Statistics],
    t: MatrixTile,
    tangent: bool,
    symmetric: bool,
    progress: Progress,
) -> KernelPair:
    """Computes one tile of the kernel matrices between two sets of points."""
    rows, cols, device = slice(t.row, t.row_end), slice(t.col, t.col_end), _device(data[0])
    parts, own = (_part(data[0], rows),) * 2, (_part(stats[0], rows),) * 2
    if not symmetric or t.row != t.col:
        parts, own = (parts[0], _part(data[1], cols)), (own[0], _part(stats[1], cols))
    same = torch.zeros(t.shape, dtype=torch.bool, device=device)
    if symmetric:
        places = torch.arange(t.row, t.row_end, device=device)[:, None]
        same = places == torch.arange(t.col, t.col_end, device=device)
    return propagate.pairs(made, parts, own, tangent=tangent, same=same, after=progress.step)


def _write(out: dict[str, Tensor], pair: KernelPair, t: MatrixTile, symmetric: bool) -> None:
    """Writes a tile into the kernel matrices, and for symmetric kernels also the mirror image above the diagonal."""
    rows, cols = slice(t.row, t.row_end), slice(t.col, t.col_end)
    for kind, target in out.items():
        tile = pair.nngp if kind == "nngp" else pair.ntk
        assert tile is not None
        target[rows, cols] = tile.to(target.dtype)
        if symmetric and t.row == t.col:
            mirror(target[rows, cols])
        elif symmetric:
            target[cols, rows] = target[rows, cols].T


def _measure(made: LimitPlan, data: propagate.Features) -> propagate.Statistics:
    """Computes statistics of all points, such as variances at each layer, in chunks that limit memory."""
    chunk = max(1, (1 << 24) // made.point_entries())
    parts = [propagate.statistics(made, _part(data, slice(i, i + chunk))) for i in range(0, _count(data), chunk)]
    return tuple(
        None if column[0] is None else torch.cat([c for c in column if c is not None])
        for column in zip(*parts, strict=True)
    )


def _count(data: propagate.Features) -> int:
    return next(len(f) for f in data if f is not None)


def _device(data: propagate.Features) -> torch.device:
    return next(f.device for f in data if f is not None)


def _part(values: tuple[Tensor | None, ...], rows: slice) -> tuple[Tensor | None, ...]:
    return tuple(None if v is None else v[rows] for v in values)
