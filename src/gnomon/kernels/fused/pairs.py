"""Computes kernels of convolutional networks for several image pairs at once, one pair in each lane of a CPU vector.

Images that occur twice are computed once, so that duplicates are exact. In float32, pairs of nearly equal images are
computed again in float64: after a pooling their distance is a difference of larger numbers. Without one, distances are
only added and activated, and keep their relative accuracy however small they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon.core.machine.kept_loops import is_compiled_code_cached
from gnomon.core.machine.threads import run_in_threads
from gnomon.kernels.fused.background import LoopType
from gnomon.kernels.fused.base import CompiledPlan, arithmetic_of, empty_results, on_both_sides
from gnomon.kernels.fused.compile_time import PLANES, convolution_compile_seconds, planes_are_loaded
from gnomon.kernels.fused.images import PlaneProgram, Runner, Statistics, Uncovered, measure
from gnomon.kernels.fused.instructions import is_piecewise_linear
from gnomon.kernels.rules.normalization import DropoutRule

FLOAT64_DISTANCE = 1e-4
"""Relative squared distance below which float32 pairs are computed in float64."""

Write = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True, slots=True)
class Work:
    """All data that compiled kernel loops need for batches of image pairs, in one floating-point precision."""

    programme: PlaneProgram
    found: Statistics
    runner: Runner
    table: np.ndarray
    codes: list[np.ndarray]
    numbers: list[np.ndarray]

    @classmethod
    def of(cls, programme: PlaneProgram, found: Statistics, dtype: type) -> "Work":
        """Converts the instructions and image statistics of a kernel computation to one floating-point precision."""
        runner = Runner(programme, dtype, alone=False)
        codes = [programme.code(p, t, runner.lanes) for p, t in zip(programme.stages.parts, found.codes, strict=True)]
        return cls(
            programme,
            found,
            runner,
            found.table.T.astype(dtype),
            codes,
            [np.array(t.numbers, dtype) for t in found.codes],
        )

    def values(self, x: np.ndarray, y: np.ndarray, room: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Returns half the squared distances and the tangent kernels of the image pairs with statistics x and y."""
        for g in range(len(self.codes)):
            last = self.runner.stage(g, self.codes[g], self.numbers[g], x, y, room)
        return last[: self.runner.lanes].astype(np.float64), last[self.runner.lanes :].astype(np.float64)

    def row(self, x: np.ndarray, groups: np.ndarray, room: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Computes kernels of one image, repeated in all vector lanes, with all groups of other images."""
        found = self.runner.sweep(self.codes, self.numbers, x, groups, room)
        return found[:, 0].reshape(-1).astype(np.float64), found[:, 1].reshape(-1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class CompiledImages(CompiledPlan):
    """Compiled kernel loops for networks of convolutions, poolings and elementwise layers on images."""

    planes: PlaneProgram

    def run(  # noqa: D102
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        with torch.no_grad():
            sides, out = on_both_sides(points, self._images), empty_results(points, kinds, dtype)
            try:
                bad = run(self.planes, sides, out, symmetric=sides[0] is sides[1])
            except Uncovered:
                return None
            # Checks the result again after rounding, because float64 numbers may overflow float32.
            ends = [end for k in out.values() for end in torch.aminmax(k)]
        return None if bad or not all(bool(torch.isfinite(end)) for end in ends) else out

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:  # noqa: D102
        if self.run((sample, sample), ("ntk",), dtype) is None:
            return None
        with torch.no_grad():
            return workspace(self.planes, self._images(sample), count, torch.get_num_threads())

    def is_loaded(self, dtype: torch.dtype) -> bool:  # noqa: D102
        return planes_are_loaded()

    def compile_seconds(self, dtype: torch.dtype) -> float:  # noqa: D102
        arithmetic = arithmetic_of(self.planes.plan, dtype)
        return convolution_compile_seconds(arithmetic, flat=Runner(self.planes, arithmetic, alone=False).flat)

    def is_compiled_code_cached(self) -> bool:  # noqa: D102
        return is_compiled_code_cached(PLANES, "stage")

    def loops(self, dtype: torch.dtype) -> tuple[LoopType, ...]:  # noqa: D102
        arithmetic = arithmetic_of(self.planes.plan, dtype)
        flat = Runner(self.planes, arithmetic, alone=False).flat
        name = arithmetic.__name__
        second = "sweep" if flat else "stage"
        return tuple(dict.fromkeys((("stage", "float64", "float64"), (second, name, name))))

    def _images(self, x: Tensor) -> Tensor:
        op = self.planes.plan.data_rule.op
        return op.function(x).movedim(op.channel, 1)


def run(programme: PlaneProgram, data: tuple[Tensor, Tensor], out: dict[str, Tensor], *, symmetric: bool) -> int:
    """Fills the kernel matrices ``out`` for two sets of images; returns the number of non-finite entries."""
    # Equal images stay separate if there is dropout, because each gets a mask of its own.
    merge = not any(isinstance(r, DropoutRule) for r in programme.plan.rules)
    images, left, right = _distinct(data, symmetric, merge)
    found = measure(programme, images)
    rows, cols = np.unique(left), np.unique(right)
    # `direct` is false if an image occurs more than once; then each distinct pair is computed once and copied.
    direct = np.array_equal(rows, left) and np.array_equal(cols, right)
    small = {k: v.numpy() if direct else np.empty((len(rows), len(cols)), v.numpy().dtype) for k, v in out.items()}
    single = next(iter(out.values())).dtype == torch.float32 and all(map(is_piecewise_linear, programme.plan.rules))
    bad = _compute(programme, found, images.flatten(1).numpy(), (rows, cols), small, single, symmetric)
    for kind, target in out.items() if not direct else ():
        target.copy_(torch.from_numpy(small[kind][np.ix_(np.searchsorted(rows, left), np.searchsorted(cols, right))]))
    return bad


def workspace(programme: PlaneProgram, sample: Tensor, count: int, threads: int) -> int:
    """Returns the workspace in bytes for the kernel of ``count`` images: copies of their statistics, and thread
    buffers.
    """
    work = Work.of(programme, measure(programme, sample[:1]), np.float64)
    copies = 3 if work.runner.flat else 2
    room = sum(a.nbytes for a in work.runner.room().values())
    return copies * 8 * count * len(work.table) + threads * room


def _compute(
    programme: PlaneProgram, found: Statistics, images: np.ndarray, sides: tuple[np.ndarray, np.ndarray],
    out: dict[str, np.ndarray], single: bool, symmetric: bool,
) -> int:  # fmt: skip
    """Computes kernels of batches of image pairs in several threads; the diagonal entries are already known."""
    exact = Work.of(programme, found, np.float64)
    fast = Work.of(programme, found, np.float32) if single else exact
    again = single and not fast.runner.flat
    squares = (images * images).sum(1)
    rows, cols = sides

    def room() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        first = fast.runner.room()
        return first, exact.runner.room() if again else first

    def write(i: np.ndarray, j: np.ndarray, e: np.ndarray, t: np.ndarray) -> int:
        a, b = rows[i], cols[j]
        c = np.where(a == b, 2 * found.half[a], found.half[a] + found.half[b] - e)
        t = np.where(a == b, found.tangent[a], t)
        for kind, values in (("nngp", c), ("ntk", t)):
            if kind in out:
                out[kind][i, j] = values
                if symmetric:
                    out[kind][j, i] = values
        return int((~np.isfinite(c)).sum() + (~np.isfinite(t)).sum())

    def finish(i: np.ndarray, j: np.ndarray, found: tuple[np.ndarray, np.ndarray], rooms: Any) -> int:
        """Writes the kernels of image pairs (i, j) into the results; nearly equal pairs are first recomputed in
        float64.
        """
        e, t = (v[: len(i)] for v in found)
        a, b = rows[i], cols[j]
        if again:
            distance = np.square(images[a] - images[b]).sum(1)
            near = np.flatnonzero(distance < FLOAT64_DISTANCE * (squares[a] + squares[b]))
            for start in range(0, len(near), exact.runner.lanes):
                some = near[start : start + exact.runner.lanes]
                lanes = np.resize(some, exact.runner.lanes)
                e2, t2 = exact.values(_gather(exact.table, a[lanes]), _gather(exact.table, b[lanes]), rooms[1])
                e[some], t[some] = e2[: len(some)], t2[: len(some)]
        return write(i, j, e, t)

    if symmetric:
        write(np.arange(len(rows)), np.arange(len(rows)), found.half, found.half)
    lanes = fast.runner.lanes
    if fast.runner.flat:
        return _by_rows(fast, sides, finish, room, symmetric)

    def pack_results(start: int, rooms: Any) -> int:
        i, j = _pairs(np.arange(start, min(start + lanes, total)), len(cols), symmetric)
        x, y = (_gather(fast.table, side[np.resize(at, lanes)]) for side, at in ((rows, i), (cols, j)))
        return finish(i, j, fast.values(x, y, rooms[0]), rooms)

    total = len(rows) * (len(rows) - 1) // 2 if symmetric else len(rows) * len(cols)
    return sum(run_in_threads(pack_results, range(0, total, lanes), room, "pairs of images"))


def _by_rows(fast: Work, sides: tuple[np.ndarray, np.ndarray], finish: Any, room: Any, symmetric: bool) -> int:
    """Computes kernels row by row: one image with groups of other images, whose variances are already known."""
    rows, cols = sides
    lanes = fast.runner.lanes
    groups = np.stack([_gather(fast.table, np.resize(cols[s : s + lanes], lanes)) for s in range(0, len(cols), lanes)])

    def row(i: int, rooms: Any) -> int:
        stop = i if symmetric else len(cols)
        if stop == 0:
            return 0
        x = np.repeat(np.ascontiguousarray(fast.table[:, rows[i]]), lanes)
        found = fast.row(x, groups[: -(-stop // lanes)], rooms[0])
        return finish(np.full(stop, i), np.arange(stop), found, rooms)

    return sum(run_in_threads(row, range(len(rows)), room, "images"))


def _pairs(number: np.ndarray, width: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Converts running numbers of image pairs to pairs (i, j): row by row, below the diagonal if the kernel is
    symmetric.
    """
    if not symmetric:
        return number // width, number % width
    i = ((np.sqrt(8.0 * number + 1) + 1) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > number
    i += (i + 1) * i // 2 <= number
    return i, number - i * (i - 1) // 2


def _gather(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    return table[:, index].reshape(-1)


def _distinct(data: tuple[Tensor, Tensor], symmetric: bool, merge: bool) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """Returns the distinct images of two sets, and the index of each kernel row and column among them."""
    x = data[0] if symmetric else torch.cat(data)
    place = np.arange(len(x))
    if merge:
        seen: dict[bytes, int] = {}
        place = np.array([seen.setdefault(row.numpy().tobytes(), len(seen)) for row in x])
    first = np.unique(place, return_index=True)[1]
    n = len(data[0])
    return x[torch.from_numpy(first)], place[:n], place[:n] if symmetric else place[n:]
