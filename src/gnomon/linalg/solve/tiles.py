"""A kernel on disk, and its system solved by reading it tile by tile.

The lower triangle of the kernel is computed once, in square tiles, into a Zarr store; a run that was killed continues
where it stopped. Then conjugate gradients read the tiles once an iteration, every tile off the diagonal serving twice:

    (K p)_i = sum_{j <= i} K_ij p_j + sum_{j > i} K_ji^T p_j                                   (1)

Beside its own tiles the store keeps some columns of the kernel, through which every point is seen. They are computed
again when a store is opened: where they differ by more than half of the digits, the store belongs to other data or to
another kernel, and is refused. Targets and ridge are not in the store: it serves any of them.

Why not a Cholesky factorization on disk: it needs n^3 / 3 operations and writes as much again as it reads, where an
iteration needs n^2; and its order does not fall where a ridge makes the system easy.

Hypotheses: K + ridge positive definite; one process writes to a store at a time.
Reference: [hestenes1952methods].
Cost: n^2 / 2 kernel entries once; n^2 / 2 numbers on disk (4 n^2 bytes in float64), read once an iteration; memory for
two tiles and some vectors: 8 (2 side^2 + n (rank + 4 k)) bytes.

>>> import tempfile
>>> x = torch.linspace(0, 1, 50, dtype=torch.float64)
>>> kernel = lambda rows, columns: (-(x[rows, None] - x[columns]).square()).exp()
>>> with tempfile.TemporaryDirectory() as folder:
...     found = Tiles(folder + "/kernel", side=20).solve(kernel, x.sin(), ridge=0.1)
>>> exact = torch.linalg.solve(kernel(torch.arange(50), torch.arange(50)) + 0.1 * torch.eye(50), x.sin())
>>> torch.allclose(found.coefficients, exact, atol=1e-6)
True
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.arrays import Array
from gnomon.core.errors import BudgetError, InputError, lesson
from gnomon.core.memory import human
from gnomon.linalg.solve.base import FLOAT, AbstractSolver, Kernel, Solution, System, blocks, budget, system
from gnomon.linalg.solve.gradient import ConjugateGradient
from gnomon.linalg.solve.precondition import Landmarks
from gnomon.linalg.store import Layout, open_store, pending, put, refuse

CALL = "linalg.solve.Tiles(path).solve(kernel, y)"
SIDE = 2048  # points: a tile of 32 MiB, which a disk reads in one go and a kill can afford to lose
PROBES = 8  # columns of the kernel that tell one set of points from another
VERSION = "tiles of a kernel 1"


@dataclass(frozen=True, slots=True)
class Tiles(AbstractSolver):
    """The kernel in a Zarr store at ``path``, and the method that iterates on it. Needs the extra ``zarr``.

    ``side`` is that of a tile, by default 2048 or what the memory allows; ``dtype`` that of the numbers on disk:
    float32 takes half of the space, and the answer is that of the rounded kernel. A store that exists keeps its own
    side.
    """

    path: str | Path
    method: ConjugateGradient = ConjugateGradient(preconditioner=Landmarks())
    side: int | None = None
    dtype: torch.dtype = torch.float64
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.dtype not in (torch.float64, torch.float32):
            cure = "Pass torch.float64 or torch.float32"
            raise InputError(lesson("linalg.solve.Tiles(path, dtype=...)", f"dtype is {self.dtype}", "floats", cure))
        if self.side is not None and self.side < 1:
            found = f"side is {self.side}"
            raise InputError(
                lesson("linalg.solve.Tiles(path, side=...)", found, "at least one point", "Pass 1 or more")
            )

    def solve(self, kernel: Kernel, y: Array, *, ridge: float = 0.0) -> Solution:  # noqa: D102
        given = system(kernel, y, ridge, CALL)
        array, side = self.written(given)
        return self.method.descend(given, lambda p: _product(array, side, given.ridge, p), "Tiles on disk", CALL)

    def written(self, given: System) -> tuple[Any, int]:
        """The array on disk with all tiles of the lower triangle, and their side; computes those that are missing."""
        n, word = len(given.y), str(self.dtype).removeprefix("torch.")
        probe = _probe(given, self.memory)
        fingerprint = f"{VERSION}: {n} points in {word}"
        layout = Layout(("kernel",), (n, n), word, self._side(n), fingerprint, {"probe": probe}, packed=False)
        group = open_store(self.path, layout, CALL)
        _recognized(group, probe, given, self.path)
        side = int(group.attrs["tile"])
        for i, j in pending(group, symmetric=True):
            rows, columns = (torch.arange(k * side, min(n, (k + 1) * side)) for k in (i, j))
            put(group, i, j, {"kernel": given.tile(rows, columns, CALL, self.dtype).numpy()}, mirrored=False)
        return group["kernel"], side

    def _side(self, n: int) -> int:
        """Two tiles at a time: one that is read, one that is used."""
        room = isqrt(budget(self.memory) // (2 * FLOAT))
        wanted = SIDE if self.side is None else self.side
        if room < 1 or (self.side is not None and min(wanted, n) > room):
            found = f"two tiles of side {min(wanted, n)} need {human(2 * FLOAT * min(wanted, n) ** 2)}"
            cure = f"Pass side={max(1, room)} or less, or more memory than {human(budget(self.memory))}"
            raise BudgetError(lesson(CALL, found, "two tiles that fit into memory", cure))
        return min(wanted, n, room)


def _product(array: Any, side: int, ridge: float, p: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
    """(K + ridge) p from the tiles on disk."""
    vector = p.numpy()
    out = ridge * vector
    for i, j, tile in _read(array, side):
        rows, columns = slice(i * side, (i + 1) * side), slice(j * side, (j + 1) * side)
        out[rows] += tile @ vector[columns]  # (1)
        if i != j:
            out[columns] += tile.T @ vector[rows]  # (1)
    return torch.from_numpy(out)


def _read(array: Any, side: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """The tiles of the lower triangle one after another, the next one read while the present one is used."""
    count = -(-array.shape[0] // side)
    places = [(i, j) for i in range(count) for j in range(i + 1)]

    def read(place: tuple[int, int]) -> np.ndarray:
        i, j = place
        found: np.ndarray = array[i * side : (i + 1) * side, j * side : (j + 1) * side]
        return found

    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(read, places[0])
        for here, place in enumerate(places):
            tile = coming.result()
            if here + 1 < len(places):
                coming = reader.submit(read, places[here + 1])
            yield *place, tile


def _probe(given: System, memory: int | None) -> np.ndarray:
    """Columns of the kernel at points spread over the numbers, (n, 8) at most."""
    n = len(given.y)
    columns = torch.linspace(0, n - 1, min(PROBES, n)).long()
    return torch.cat([given.tile(rows, columns, CALL) for rows in blocks(n, len(columns), memory)]).numpy()


def _recognized(group: Any, probe: np.ndarray, given: System, path: str | Path) -> None:
    """Refuse a store whose columns are not those of the kernel at hand, to half of the digits of its dtype."""
    known = group["probe"][:]
    origin = given.kernel(torch.arange(1), torch.arange(1)) if not isinstance(given.kernel, Tensor) else given.kernel
    allowed = float(torch.finfo(torch.as_tensor(origin).dtype).eps) ** 0.5 * float(np.abs(probe).max())
    differs = np.abs(known - probe).max(1) > allowed
    if differs.any():
        refuse(f"{path} holds the kernel of other data: point {int(differs.argmax())} has other entries", CALL)
