"""Stores a kernel matrix on disk and solves its linear system by reading the matrix tile by tile.

The lower triangle of the kernel is computed once, in square tiles, into a Zarr store; a run that was killed continues
where it stopped. Then conjugate gradients read the tiles once an iteration, every tile off the diagonal serving twice:

    (K p)_i = sum_{j <= i} K_ij p_j + sum_{j > i} K_ji^T p_j                                   (1)

In addition to the tiles, the store keeps some columns of the kernel, which have an entry for every point. They are
computed
again when a store is opened: if they differ by more than half of the digits, the store belongs to other data or to
another kernel, and is refused. Targets and ridge are not in the store: it serves any of them.

Why not a Cholesky factorization on disk: it needs n^3 / 3 operations and writes as much as it reads, while an
iteration needs n^2; and its cost does not decrease if a ridge makes the system easy.

Hypotheses: K + ridge positive definite; one process writes to a store at a time.
Reference: [hestenes1952methods].
Cost: n^2 / 2 kernel entries once; n^2 / 2 numbers on disk (4 n^2 bytes in float64), read once an iteration. In memory
five tiles of 8 side^2 bytes while the kernel is computed; then two strips of a tile, an eighth of the memory each, and
8 n rank bytes of the preconditioner, a quarter at most; always ten tables like y.

>>> import tempfile
>>> x = torch.linspace(0, 1, 50, dtype=torch.float64)
>>> kernel = lambda rows, columns: (-(x[rows, None] - x[columns]).square()).exp()
>>> with tempfile.TemporaryDirectory() as folder:
...     solution = KernelTiles(folder + "/kernel", side=20).solve(kernel, x.sin(), ridge=0.1)
>>> exact = torch.linalg.solve(kernel(torch.arange(50), torch.arange(50)) + 0.1 * torch.eye(50), x.sin())
>>> torch.allclose(solution.coefficients, exact, atol=1e-6)
True
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import BudgetError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import check_integer
from gnomon.core.machine.memory import format_bytes
from gnomon.linalg.solve.base import (
    BYTES_PER_FLOAT64,
    AbstractSolver,
    Kernel,
    KernelSystem,
    Solution,
    as_slice,
    kernel_system,
    memory_budget,
    row_blocks,
    tile_bytes,
)
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.precondition import LandmarkPreconditioner
from gnomon.linalg.store import StoreLayout, fetch, open_store, refuse, unfinished_tiles, write_tile

DEFAULT_TILE_POINTS = 2048
"""Points per side of a tile: 32 MiB, which a disk reads in one piece."""
TILES_IN_MEMORY = 5
"""Number of tiles in memory: one of the kernel, three for its function, one being written to disk."""
TABLES_IN_MEMORY = 10
"""Number of tables of the size of y: targets, vectors of conjugate gradients, and temporaries."""
PROBED_COLUMNS = 8
"""Columns of the kernel that identify a set of points."""
VERSION = "tiles of a kernel 1"


@dataclass(frozen=True, slots=True)
class KernelTiles(AbstractSolver):
    """Solver that stores the kernel matrix in a Zarr store at ``path`` and iterates on it; needs the extra ``zarr``.

    ``side`` is the side of a tile, by default 2048 or what the memory allows; ``dtype`` the dtype on disk:
    float32 takes half of the space, and the result belongs to the rounded kernel. A store that exists keeps its own
    side. ``memory`` also limits the method if the method sets none.
    """

    path: str | Path
    method: ConjugateGradient = ConjugateGradient(preconditioner=LandmarkPreconditioner())
    side: int | None = None
    dtype: torch.dtype = torch.float64
    memory: int | None = None

    @add_call_to_errors
    def __post_init__(self) -> None:
        if self.dtype not in (torch.float64, torch.float32):
            accepted = "torch.float64 or torch.float32"
            raise out_of_range_error("dtype", accepted, self.dtype)
        if self.side is not None:
            check_integer("side", self.side)

    @add_call_to_errors("linalg.solve.KernelTiles(path).solve(kernel, y)")
    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        system = kernel_system(kernel, y, ridge)
        array, side = self.write_kernel(system)
        method = self.method if self.method.memory is not None else replace(self.method, memory=self.memory)
        step = max(1, min(side, tile_bytes(self.memory) // (BYTES_PER_FLOAT64 * side)))

        def product(p: Tensor) -> Tensor:
            return _product(array, (side, step), system.ridge, p)

        return method.descend(system, product, "Tiles on disk")

    @add_call_to_errors("linalg.solve.KernelTiles(path).solve(kernel, y)")
    def write_kernel(self, system: KernelSystem) -> tuple[Any, int]:
        """Computes missing tiles of the kernel matrix on disk, and returns the array on disk and the side of its
        tiles.
        """
        n, word = len(system.y), str(self.dtype).removeprefix("torch.")
        probe = _probe(system, self.memory)
        fingerprint = f"{VERSION}: {n} points in {word}"
        room = isqrt(
            max(0, memory_budget(self.memory) - TABLES_IN_MEMORY * BYTES_PER_FLOAT64 * system.y.numel())
            // (TILES_IN_MEMORY * BYTES_PER_FLOAT64)
        )
        layout = StoreLayout(
            ("kernel",), (n, n), word, self._side(n, room), fingerprint, {"probe": probe}, packed=False
        )
        group = open_store(self.path, layout)
        _check_same_kernel(group, probe, system, self.path)
        side = int(group.attrs["tile"])
        for i, j in unfinished_tiles(group, symmetric=True):
            self._fits(min(side, n), room)
            rows, columns = (torch.arange(k * side, min(n, (k + 1) * side)) for k in (i, j))
            write_tile(group, i, j, {"kernel": system.tile(rows, columns, self.dtype).numpy()}, mirrored=False)
        return group["kernel"], side

    def _side(self, n: int, room: int) -> int:
        """Returns the side of the tiles of a new store, given the available memory."""
        if self.side is not None or room < 1:
            self._fits(min(n, DEFAULT_TILE_POINTS if self.side is None else self.side), room)
        return min(n, DEFAULT_TILE_POINTS if self.side is None else self.side, room)

    def _fits(self, side: int, room: int) -> None:
        """Raises an error if tiles of the kernel matrix do not fit into memory while they are computed."""
        if side > room:
            needed = format_bytes(TILES_IN_MEMORY * BYTES_PER_FLOAT64 * side**2)
            what = f"tiles of side {side} need {needed}, including the temporaries of the kernel"
            smaller = f"side={room} or less, " if room else ""
            more = f"more memory than {format_bytes(memory_budget(self.memory))}"
            fix = f"Pass {smaller}another path if this one is in use, or {more}"
            raise BudgetError(what, accepted="tiles that fit into memory", fix=fix)


def _product(array: Any, sides: tuple[int, int], ridge: float, p: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
    """Returns the product (K + ridge I) p from the tiles of the kernel matrix K on disk."""
    vector = p.numpy()
    out = ridge * vector
    for first, start, strip in _read(array, *sides):
        rows, columns = slice(first, first + len(strip)), slice(start, start + strip.shape[1])
        out[rows] += strip @ vector[columns]  # (1)
        if start + sides[0] <= first:  # A tile below the diagonal also stands for its mirror image above it.
            out[columns] += strip.T @ vector[rows]  # (1)
    return torch.from_numpy(out)


def _read(array: Any, side: int, step: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yields strips of the tiles on disk below the diagonal; reads the next strip while the current one is used."""
    n = array.shape[0]
    count = -(-n // side)
    places = [
        (i * side + row, j * side)
        for i in range(count)
        for j in range(i + 1)
        for row in range(0, min(side, n - i * side), step)
    ]
    buffers = [np.empty((step, min(side, n)), array.dtype) for _ in range(2)]

    def read(here: int) -> np.ndarray:
        first, start = places[here]
        rows = min(step, side - first % side, n - first)
        strip = fetch(array, (first, start), buffers[here % 2][:rows])
        return strip[:, : n - start]  # Removes the padding that the last tiles have on disk.

    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(read, 0)
        for here, place in enumerate(places):
            strip = coming.result()
            if here + 1 < len(places):
                coming = reader.submit(read, here + 1)
            yield *place, strip


def _probe(system: KernelSystem, memory: int | None) -> np.ndarray:
    """Returns at most 8 evenly spaced columns of the kernel matrix, by which a store notices that the data changed."""
    n = len(system.y)
    columns = torch.linspace(0, n - 1, min(PROBED_COLUMNS, n)).long()
    entries = torch.empty(n, len(columns), dtype=torch.float64)
    for rows in row_blocks(n, len(columns), tile_bytes(memory)):
        entries[as_slice(rows)] = system.tile(rows, columns)
    return entries.numpy()


def _check_same_kernel(group: Any, probe: np.ndarray, system: KernelSystem, path: str | Path) -> None:
    """Raises an error if the kernel matrix in a store belongs to another kernel or other data."""
    known = group["probe"][:]
    origin = system.kernel(torch.arange(1), torch.arange(1)) if not isinstance(system.kernel, Tensor) else system.kernel
    allowed = float(torch.finfo(torch.as_tensor(origin).dtype).eps) ** 0.5 * float(np.abs(probe).max())
    differs = np.abs(known - probe).max(1) > allowed
    if differs.any():
        refuse(f"{path} holds the kernel of other data: point {int(differs.argmax())} has different entries")
