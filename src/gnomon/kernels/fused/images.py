"""Convolutional programs: first each image with itself, which gives all statistics, then pair after pair.

Images that occur twice are computed once, so that duplicates are exact. In float32, pairs of nearly equal images are
computed in float64: after a pooling their distance is a difference of larger numbers.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.fused import stages as st
from gnomon.kernels.fused.tape import ADD, AFFINE, CONV, DATA, DROPOUT, FETCH, FLAT, KINK, NORMALIZE, POOL, activation, kinked
from gnomon.kernels.fused.threads import share_out
from gnomon.kernels.plan import Plan
from gnomon.kernels.rules.activation import ActivationRule, LineRule
from gnomon.kernels.rules.affine import ConvRule, DenseRule
from gnomon.kernels.rules.base import Context, Pair
from gnomon.kernels.rules.normalization import DropoutRule
from gnomon.kernels.rules.positions import MixRule

BYTES = 64  # one vector: 16 lanes of float32, 8 of float64
NEAR = 1e-4  # relative squared distance below which float32 pairs are computed in float64


class Uncovered(Exception):
    """A step turned out to have no instruction for these data."""


@dataclass(frozen=True, slots=True)
class Programme:
    """A plan, its stages, and the tapes as arrays (made with the statistics of the first images)."""

    plan: Plan
    stages: st.Stages

    def code(self, stage: st.Stage, offsets: list[int], numbers: list[int], lanes: int) -> np.ndarray:
        """The items of a stage as rows of integers; see planes.py."""
        rows = [
            (i.op, i.target, i.source, o * lanes, n, *i.before, *i.after, *i.kernel, *i.stride, *i.dilation, *i.padding,
             int(self.stages.wraps), i.store)
            for i, o, n in zip(stage.items, offsets, numbers, strict=True)
        ]  # fmt: skip
        return np.array(rows, np.int64)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of some images: statistics of all stages (images, numbers), half the final variances, the tangents with themselves."""

    table: np.ndarray
    half: np.ndarray
    tangent: np.ndarray
    offsets: list[list[int]]
    numbers: list[tuple[list[int], list[float]]]
    ops: list[list[int]]


class Runner:
    """Runs batches of lanes through all stages in one precision."""

    def __init__(self, programme: Programme, dtype: type, *, alone: bool) -> None:
        self.programme, self.dtype, self.alone = programme, dtype, alone
        self.lanes = BYTES // np.dtype(dtype).itemsize
        self.tag = (0,) * self.lanes
        self.constants = tuple(dtype(v) for v in (0.0, 0.25, 0.5, 1.0))
        parts, wraps = programme.stages.parts, programme.stages.wraps
        self.planes = st.displacements(programme.stages, alone=alone)
        last = (np.zeros((1, 1), np.int64), 2 * self.lanes)
        self.places = [st.places(p, d, self.lanes, wraps=wraps) for p, d in zip(parts[1:], self.planes[1:], strict=True)] + [last]

    def room(self) -> dict[str, np.ndarray]:
        """What one thread needs: registers, room for the filters, and the planes between stages."""
        items = [i for p in self.programme.stages.parts for i in p.items]
        grids = [g for i in items for g in (i.before, i.after) if i.op not in (DATA, FETCH)] + [i.before for i in items]
        largest = max(map(prod, grids)) * self.lanes
        pads = [_padded(i) for i in items if i.op == CONV]
        count = max(p.registers for p in self.programme.stages.parts)
        made = {f"out{g}": np.zeros(size, self.dtype) for g, (_, size) in enumerate(self.places)}
        made["registers"] = np.zeros((count, 2, largest), self.dtype)
        made["runs"] = np.zeros((2 * max(h for h, _ in grids), 4), np.int64)
        made["filters"] = np.zeros(max(pads, default=1) * self.lanes, self.dtype)
        return made

    def stage(self, g: int, code: np.ndarray, numbers: np.ndarray, x: np.ndarray, y: np.ndarray, room: dict[str, np.ndarray]) -> np.ndarray:
        """Run one stage; returns what it left for the next."""
        from gnomon.kernels.fused.planes import stage

        out, (out_at, _) = room[f"out{g}"], self.places[g]
        kept, kept_at = (room[f"out{g - 1}"], self.places[g - 1][0]) if g else (room["filters"], np.zeros((1, 1), np.int64))
        out[:] = 0
        stage(code, numbers, self.constants, self.planes[g], self.tag, self.alone, x, y, kept, kept_at, out, out_at,
              room["registers"], room["filters"], room["runs"])  # fmt: skip
        return out


def lower(plan: Plan) -> Programme | None:
    """The stages of a plan, or None if it is not covered. Cost: none."""
    made = st.cut(plan)
    return None if made is None else Programme(plan, made)


def run(
    programme: Programme, data: tuple[Tensor, Tensor], out: tuple[Tensor | None, Tensor | None], *, symmetric: bool
) -> int:
    """Fill the kernels (nngp, ntk); returns how many numbers are not finite."""
    merge = not any(isinstance(r, DropoutRule) for r in programme.plan.rules)
    images, left, right = _distinct(data, symmetric, merge)
    found = _measure(programme, images)
    dtype = next(o for o in out if o is not None).dtype
    single = dtype == torch.float32 and all(map(kinked, programme.plan.rules))
    pairs = _pairs(left, right, symmetric)
    near = _near(images, pairs) if single else np.ones(len(pairs), bool)
    values = np.empty((2, len(images), len(images)) if symmetric else (2, len(left), len(right)))
    table = {np.float32: found.table.T.astype(np.float32) if single else None, np.float64: np.ascontiguousarray(found.table.T)}
    results = [(pairs[~near], np.float32), (pairs[near], np.float64)]
    filled = {}
    for some, kind in results:
        if len(some):
            e, t = _run_pairs(programme, found, table[kind], some, kind)
            c = found.half[some[:, 0]] + found.half[some[:, 1]] - e
            filled[kind] = (some, c, t)
    del values
    return _fill(out, filled, found, left, right, symmetric)


def _run_pairs(programme: Programme, found: Statistics, table: np.ndarray, pairs: np.ndarray, kind: type) -> tuple[np.ndarray, np.ndarray]:
    """Half squared distances and tangents of pairs of images."""
    runner = Runner(programme, kind, alone=False)
    lanes, e, t = runner.lanes, np.empty(len(pairs)), np.empty(len(pairs))
    parts = programme.stages.parts
    codes = [programme.code(p, o, n[0], lanes) for p, o, n in zip(parts, found.offsets, found.numbers, strict=True)]
    for code, ops in zip(codes, found.ops, strict=True):
        code[:, 0] = ops
    numbers = [np.array(n[1] or [0.0], kind) for n in found.numbers]

    def batch(start: int, room: dict[str, np.ndarray]) -> None:
        some = pairs[np.minimum(np.arange(start, start + lanes), len(pairs) - 1)]
        x, y = table[:, some[:, 0]].reshape(-1), table[:, some[:, 1]].reshape(-1)
        for g in range(len(parts)):
            last = runner.stage(g, codes[g], numbers[g], x, y, room)
        stop = min(start + lanes, len(pairs))
        e[start:stop], t[start:stop] = last[:lanes][: stop - start], last[lanes:][: stop - start]

    share_out(batch, range(0, len(pairs), lanes), runner.room, "pairs")
    return e, t


def _measure(programme: Programme, images: Tensor) -> Statistics:
    """All statistics of all images, from each image with itself, in float64."""
    runner = Runner(programme, np.float64, alone=True)

    def batch(start: int, room: dict[str, np.ndarray]) -> tuple[int, int, Statistics]:
        index = torch.arange(start, start + runner.lanes).clamp(max=len(images) - 1)
        return start, min(runner.lanes, len(images) - start), _self(programme, runner, images[index], room)

    parts = sorted(share_out(batch, range(0, len(images), runner.lanes), runner.room, "images"), key=lambda p: p[0])
    table, half, tangent = (np.concatenate([getattr(s, name)[:n] for _, n, s in parts]) for name in ("table", "half", "tangent"))
    first = parts[0][2]
    return Statistics(table, half, tangent, first.offsets, first.numbers, first.ops)


def _self(programme: Programme, runner: Runner, x: Tensor, room: dict[str, np.ndarray]) -> Statistics:
    """One batch of images with themselves, stage after stage: each stage's variances come from the one before."""
    own: dict[int, Tensor] = {}
    tables, offsets, numbers, ops, total = [], [], [], [], 0
    left = np.zeros(0)
    for g, part in enumerate(programme.stages.parts):
        found = [_item(programme.plan, item, own, x, left, runner, g) for item in part.items]
        sizes = [sum(prod(s.shape[1:]) for s in statistics) for _, statistics, _ in found]
        offsets.append([total + sum(sizes[:i]) for i in range(len(sizes))])
        counts = [len(n) for _, _, n in found]
        numbers.append(([sum(counts[:i]) for i in range(len(counts))], [v for _, _, n in found for v in n]))
        ops.append([op for op, _, _ in found])
        tables += [s.reshape(len(x), -1) for _, statistics, _ in found for s in statistics]
        total += sum(sizes)
        block = np.ascontiguousarray(torch.cat(tables, 1).numpy().T).reshape(-1) if tables else np.zeros(1)
        code = programme.code(part, offsets[g], numbers[g][0], runner.lanes)
        code[:, 0] = ops[g]
        left = runner.stage(g, code, np.array(numbers[g][1] or [0.0]), block, block, room)
    last = own[len(programme.plan.rules) - 1].reshape(len(x), -1).mean(1)
    return Statistics(torch.cat(tables, 1).numpy(), last.numpy() / 2, left[runner.lanes :].copy(), offsets, numbers, ops)


def _item(
    plan: Plan, item: st.Item, own: dict[int, Tensor], x: Tensor, left: np.ndarray, runner: Runner, g: int
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    """Operation, statistics and numbers of an item; fills in the variances of its step."""
    i = item.step
    if item.op == DATA:
        own[i] = (x * x).mean(1)
        return DATA, ((x / (2 * x.shape[1]) ** 0.5).flatten(1),), ()
    rule, source = plan.rules[i], plan.program.steps[i].inputs[0]
    if item.op == FETCH:
        return FETCH, _entered(plan, item, own, left, runner, g), ()
    if item.op == FLAT or item.op == POOL:
        return item.op, (), (item.weight,)
    before = own[source]
    if item.op == CONV:
        assert isinstance(rule, ConvRule)
        after = _apply(plan, i, own)
        if item.store < 0:
            own[i] = after
        pre, terms = (after - rule.terms.bias) / rule.terms.weight, rule.terms
        taps = prod(item.kernel)
        u = (terms.weight_tangent * pre + terms.bias_tangent) / 2
        return CONV, (before / 2, u), (terms.weight / taps, terms.weight_tangent / taps)
    if item.op == AFFINE:
        assert isinstance(rule, DenseRule)
        own[i], terms = _apply(plan, i, own), rule.terms
        pre = before.flatten(1).mean(1) if rule.op.contracted else before
        return AFFINE, ((terms.weight_tangent * pre + terms.bias_tangent) / 2,), (terms.weight, terms.weight_tangent)
    return _pointwise(plan, item, own, before)


def _pointwise(plan: Plan, item: st.Item, own: dict[int, Tensor], before: Tensor) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    i = item.step
    rule = plan.rules[i]
    if item.op == ADD:
        return ADD, (), (item.weight,)
    own[i] = _apply(plan, i, own)
    if item.op == KINK:
        assert isinstance(rule, ActivationRule | LineRule)
        made = activation(rule, before, own[i])
        if made is None:
            raise Uncovered
        return made
    if item.op == NORMALIZE:
        scale = rule.measure((before,))
        return NORMALIZE, (scale, before * scale / 2), ()
    if item.op == DROPOUT:
        assert isinstance(rule, DropoutRule)
        return DROPOUT, (before / 2,), (1 / rule.keep - 1,)
    return item.op, (), (item.weight,)


def _entered(plan: Plan, item: st.Item, own: dict[int, Tensor], left: np.ndarray, runner: Runner, g: int) -> tuple[Tensor, ...]:
    """The variances of planes that enter a stage; after a pooling they are its plane d = 0, and (3) of planes.py needs z."""
    i, (h, w) = item.step, item.before
    rule = plan.rules[i]
    if not isinstance(rule, MixRule):
        if isinstance(rule, ConvRule):
            own[i] = _apply(plan, i, own)
        return ()
    at = runner.places[g - 1][0][item.store, (h - 1) * (2 * w - 1) + w - 1]
    distance = torch.from_numpy(left[at : at + h * w * runner.lanes].reshape(h * w, runner.lanes).T.copy())
    mean = own[plan.program.steps[i].inputs[0]]
    for axis, matrix in enumerate(rule.op.matrices):
        if matrix is not None:
            mean = torch.tensordot(mean, matrix.to(mean), dims=([1 + axis], [1])).movedim(-1, 1 + axis)
    own[i] = mean.reshape(len(mean), *plan.program.steps[i].grid) - distance.reshape(len(mean), *plan.program.steps[i].grid)
    return (distance / 2,)


def _apply(plan: Plan, i: int, own: dict[int, Tensor]) -> Tensor:
    """The rule of a step on variances alone."""
    rule = plan.rules[i]
    selves = tuple(own[j] for j in plan.program.steps[i].inputs)
    measured = rule.measure(tuple(None if w is None else s for s, w in zip(selves, rule.watches(), strict=True)))
    return rule.apply(tuple(Pair(s) for s in selves), Context(1, False, False, measured, measured, None)).nngp


def _padded(item: st.Item) -> int:
    """Elements that the filter of a convolution needs: the padded plane and its vertical sums."""
    rows, width = (
        (a - 1) * s + (k - 1) * d + 1 for a, s, k, d in zip(item.after, item.stride, item.kernel, item.dilation, strict=True)
    )
    return (rows + item.after[0]) * width


def _distinct(data: tuple[Tensor, Tensor], symmetric: bool, merge: bool) -> tuple[Tensor, np.ndarray, np.ndarray]:
    """The different images of both sides, and which of them each row and column is."""
    x = data[0] if symmetric else torch.cat(data)
    if not merge:
        place = np.arange(len(x))
    else:
        seen: dict[bytes, int] = {}
        place = np.array([seen.setdefault(row.numpy().tobytes(), len(seen)) for row in x])
    first = np.unique(place, return_index=True)[1]
    n = len(data[0])
    return x[torch.from_numpy(first)], place[:n], place[:n] if symmetric else place[n:]


def _pairs(left: np.ndarray, right: np.ndarray, symmetric: bool) -> np.ndarray:
    """Pairs of different images that the kernel needs, each once."""
    if symmetric:
        i, j = np.tril_indices(int(left.max()) + 1, -1)
        return np.stack([i, j], 1)
    i, j = np.unique(left), np.unique(right)
    grid = np.stack(np.meshgrid(i, j, indexing="ij"), -1).reshape(-1, 2)
    grid = np.sort(grid[grid[:, 0] != grid[:, 1]], 1)
    return np.unique(grid, axis=0)


def _near(images: Tensor, pairs: np.ndarray) -> np.ndarray:
    """Pairs of nearly equal images."""
    flat = images.flatten(1)
    square = (flat * flat).sum(1)
    gram = (flat @ flat.T).numpy()
    s = square.numpy()
    i, j = pairs[:, 0], pairs[:, 1]
    return s[i] + s[j] - 2 * gram[i, j] < NEAR * (s[i] + s[j])


def _fill(
    out: tuple[Tensor | None, Tensor | None], filled: dict, found: Statistics, left: np.ndarray, right: np.ndarray, symmetric: bool
) -> int:
    """Write the values of pairs into rows and columns."""
    bad = 0
    for which, target in enumerate(out):
        if target is None:
            continue
        n = len(found.half)
        square = np.zeros((n, n))
        np.fill_diagonal(square, found.tangent if which else 2 * found.half)
        for pairs, c, t in filled.values():
            square[pairs[:, 0], pairs[:, 1]] = square[pairs[:, 1], pairs[:, 0]] = t if which else c
        target.copy_(torch.from_numpy(square[np.ix_(left, right)]))
        bad += int((~torch.isfinite(target)).sum())
    return bad
