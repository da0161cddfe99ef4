"""Computes the variance of each image's features after every layer, which kernels of image pairs need.

Between poolings the variances follow from the rules; at a pooling they are the plane d = 0 of the image with itself.
Pairs are computed in pairs.py.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch import Tensor

from gnomon.core.machine.threads import run_in_threads
from gnomon.kernels.fused import stages as st
from gnomon.kernels.fused.instructions import activation
from gnomon.kernels.fused.opcodes import ADD, AFFINE, CONV, DATA, DROPOUT, FETCH, FLAT, KINK, NORMALIZE, POOL
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.affine import AffineConstants, ConvRule, DenseRule
from gnomon.kernels.rules.base import AbstractRule, KernelPair, RuleContext
from gnomon.kernels.rules.data import DataRule
from gnomon.kernels.rules.normalization import DropoutRule, NormalizeRule
from gnomon.kernels.rules.positions import MixRule
from gnomon.program.steps import Conv, Weights

RAW_DATA = -1
"""Index of the data before their convolution."""
NO_WEIGHTS = Weights("", "", "", None, 1)
SERIES_TERMS = 96
"""Number of terms of power series; the same for all images."""
VECTOR_BYTES = 64
"""Bytes of one vector: 16 float32 lanes or 8 float64 lanes."""


class Uncovered(Exception):
    """Raised if the compiled loops have no instruction for a layer on these data."""


@dataclass(frozen=True, slots=True)
class PlaneProgram:
    """A convolutional network, divided into stages that compiled loops run one after the other."""

    plan: LimitPlan
    stages: st.Stages

    def code(self, stage: st.Stage, code: "StageCode", lanes: int) -> np.ndarray:
        """Returns the instructions of one stage as rows of integers, in the layout that planes.py documents."""
        rows = [
            (op, i.target, i.source, o * lanes, n, *i.before, *i.after, *i.kernel, *i.stride, *i.dilation, *i.padding,
             int(self.stages.wraps), i.store)
            for i, op, o, n in zip(stage.items, code.ops, code.offsets, code.places, strict=True)
        ]  # fmt: skip
        return np.array(rows, np.int64)


@dataclass(frozen=True, slots=True)
class StageCode:
    """The instructions of one stage of compiled loops: operation codes, constants, and the places of their
    statistics.
    """

    ops: list[int]
    offsets: list[int]
    places: list[int]
    numbers: list[float]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a batch of images that kernels of image pairs need, such as variances and each image's own tangent
    kernel.
    """

    table: np.ndarray
    half: np.ndarray
    tangent: np.ndarray
    codes: list[StageCode]


class Runner:
    """Runs batches of image pairs through all stages of the kernel computation, in one floating-point precision."""

    def __init__(self, programme: PlaneProgram, dtype: type, *, alone: bool) -> None:
        self.programme, self.dtype, self.alone = programme, dtype, alone
        self.lanes = VECTOR_BYTES // np.dtype(dtype).itemsize
        self.tag = (0,) * self.lanes
        self.constants = tuple(dtype(v) for v in (0.0, 0.25, 0.5, 1.0))
        parts, wraps = programme.stages.parts, programme.stages.wraps
        self.planes = st.displacements(programme.stages, alone=alone)
        last = (np.zeros((1, 1), np.int64), 2 * self.lanes)
        self.places = [
            st.places(p, d, self.lanes, wraps=wraps) for p, d in zip(parts[1:], self.planes[1:], strict=True)
        ] + [last]

    @property
    def flat(self) -> bool:
        """Whether covariances are needed only between equal pixels of two images, which allows a faster loop."""
        return len(self.planes) == 2 and all(len(d) == 1 for d in self.planes)

    def room(self) -> dict[str, np.ndarray]:
        """Allocates the work arrays of one thread: registers, space for convolutions, and arrays between the stages."""
        items = [i for p in self.programme.stages.parts for i in p.items]
        grids = [g for i in items for g in (i.before, i.after) if i.op not in (DATA, FETCH)] + [i.before for i in items]
        largest = max(map(prod, grids)) * self.lanes
        pads = [_pad(i) for i in items if i.op == CONV]
        count = max(p.registers for p in self.programme.stages.parts)
        made: dict[str, np.ndarray] = {f"out{g}": np.zeros(size, self.dtype) for g, (_, size) in enumerate(self.places)}
        made["registers"] = np.zeros((count + 2, 2, largest), self.dtype)
        made["runs"] = np.zeros((2 * max(h for h, _ in grids), 4), np.int64)
        made["filters"] = np.zeros(max(pads, default=1) * self.lanes, self.dtype)
        return made

    def stage(
        self, g: int, code: np.ndarray, numbers: np.ndarray, x: np.ndarray, y: np.ndarray, room: dict[str, np.ndarray]
    ) -> np.ndarray:
        """Runs stage number g of the kernel computation for a batch of image pairs and returns the input of the next
        stage.
        """
        from gnomon.kernels.fused.planes import stage

        out, (out_at, _) = room[f"out{g}"], self.places[g]
        kept, kept_at = (
            (room[f"out{g - 1}"], self.places[g - 1][0]) if g else (room["filters"], np.zeros((1, 1), np.int64))
        )
        out[:] = 0
        stage(code, numbers, self.constants, self.planes[g], self.tag, self.alone, x, y, kept, kept_at, out, out_at,
              room["registers"], room["filters"], room["runs"])  # fmt: skip
        return out

    def sweep(
        self, codes: list[np.ndarray], numbers: list[np.ndarray], x: np.ndarray, groups: np.ndarray,
        room: dict[str, np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """Computes kernels of one image with many groups of images by a program of two stages; returns (groups, 2,
        lanes).
        """
        from gnomon.kernels.fused.planes import sweep

        found: np.ndarray = np.empty((len(groups), 2 * self.lanes), self.dtype)
        sweep(tuple(codes), tuple(numbers), self.constants, tuple(self.planes), self.tag, x, groups,
              (room["out0"], room["out1"]), (self.places[0][0], self.places[1][0]), room["registers"], room["filters"],
              room["runs"], found)  # fmt: skip
        return found.reshape(len(groups), 2, self.lanes)


def lower(plan: LimitPlan) -> PlaneProgram | None:
    """Divides a convolutional network into stages for compiled loops; returns None if the loops do not support it."""
    made = st.cut_into_stages(plan)
    return None if made is None else PlaneProgram(plan, made)


def measure(programme: PlaneProgram, images: Tensor) -> Statistics:
    """Computes the statistics of all images in float64, by computing the kernel of each image with itself."""
    runner = Runner(programme, np.float64, alone=True)

    def batch(start: int, room: dict[str, np.ndarray]) -> tuple[int, int, Statistics]:
        index = torch.arange(start, start + runner.lanes).clamp(max=len(images) - 1)
        return start, min(runner.lanes, len(images) - start), _self(programme, runner, images[index], room)

    parts = sorted(
        run_in_threads(batch, range(0, len(images), runner.lanes), runner.room, "images"), key=lambda p: p[0]
    )
    table, half, tangent = (
        np.concatenate([getattr(s, name)[:n] for _, n, s in parts]) for name in ("table", "half", "tangent")
    )
    first = parts[0][2]
    return Statistics(table, half, tangent, first.codes)


def _self(programme: PlaneProgram, runner: Runner, x: Tensor, room: dict[str, np.ndarray]) -> Statistics:
    """Computes kernels of a batch of images with themselves, stage by stage; each stage passes variances to
    the next.
    """
    own: dict[int, Tensor] = {}
    tables: list[Tensor] = []
    codes: list[StageCode] = []
    total, left = 0, np.zeros(0)
    for g, part in enumerate(programme.stages.parts):
        found = [_item(programme.plan, item, own, x, left, runner, g) for item in part.items]
        sizes = [sum(prod(s.shape[1:]) for s in statistics) for _, statistics, _ in found]
        counts = [len(n) for _, _, n in found]
        offsets, places = ([sum(v[:i]) for i in range(len(v))] for v in (sizes, counts))
        values = [v for _, _, n in found for v in n] or [0.0]
        codes.append(StageCode([op for op, _, _ in found], [total + o for o in offsets], places, values))
        tables += [s.reshape(len(x), -1) for _, statistics, _ in found for s in statistics]
        total += sum(sizes)
        block = np.ascontiguousarray(torch.cat(tables, 1).numpy().T).reshape(-1)
        code = programme.code(part, codes[g], runner.lanes)
        left = runner.stage(g, code, np.array(values), block, block, room)
    last = own[len(programme.plan.rules) - 1].reshape(len(x), -1).mean(1)
    return Statistics(torch.cat(tables, 1).numpy(), last.numpy() / 2, left[runner.lanes :].copy(), codes)


def _item(
    plan: LimitPlan, item: st.Item, own: dict[int, Tensor], x: Tensor, left: np.ndarray, runner: Runner, g: int
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    """Returns the instruction of one layer for compiled loops (operation, statistics, constants) and updates
    ``own``.
    """
    i = item.step
    if item.op == DATA:
        own[RAW_DATA if plan.data_rule.op.window is not None else i] = (x * x).mean(1)
        return DATA, ((x / (2 * x.shape[1]) ** 0.5).flatten(1),), ()
    rule = plan.rules[i]
    if item.op == FETCH:
        return FETCH, _enter(plan, item, own, left, runner, g), ()
    if item.op == FLAT or item.op == POOL:
        return item.op, (), (item.weight,)
    if isinstance(rule, DataRule):
        return _patches(rule, item, own)
    before = own[plan.program.steps[i].inputs[0]]
    if item.op == CONV:
        assert isinstance(rule, ConvRule)
        own[i] = after = _apply(plan, i, own)
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


def _patches(
    rule: DataRule, item: st.Item, own: dict[int, Tensor]
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    """Returns the instruction that averages the data over the window of the first convolution, without weights."""
    assert rule.op.window is not None
    mean = ConvRule(Conv(NO_WEIGHTS, rule.op.window), AffineConstants(1.0, 0.0, 0.0, 0.0))
    own[item.step] = mean.apply((KernelPair(own[RAW_DATA]),), RuleContext(1, False, False, None, None, None)).nngp
    return CONV, (own[RAW_DATA] / 2, torch.zeros_like(own[item.step])), (1 / prod(item.kernel), 0.0)


def _pointwise(
    plan: LimitPlan, item: st.Item, own: dict[int, Tensor], before: Tensor
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    i = item.step
    rule = plan.rules[i]
    if item.op == ADD:
        return ADD, (), (item.weight,)
    own[i] = _apply(plan, i, own)
    if item.op == KINK:
        made = activation(plan, i, before, own[i], SERIES_TERMS)
        if made is None:
            raise Uncovered
        return made
    if item.op == NORMALIZE:
        assert isinstance(rule, NormalizeRule)
        scale = rule.measure((before,))
        assert scale is not None  # The rule has computed this scale together with the variance.
        return NORMALIZE, (scale, before * scale / 2), ()
    if item.op == DROPOUT:
        assert isinstance(rule, DropoutRule)
        return DROPOUT, (before / 2,), (1 / rule.keep - 1,)
    return item.op, (), (item.weight,)


def _enter(
    plan: LimitPlan, item: st.Item, own: dict[int, Tensor], left: np.ndarray, runner: Runner, g: int
) -> tuple[Tensor, ...]:
    """Returns the variances of each image that enter a stage of the kernel computation."""
    i, (h, w) = item.step, item.before
    rule = plan.rules[i]
    if not isinstance(rule, MixRule):
        return ()
    at = runner.places[g - 1][0][item.store, (h - 1) * (2 * w - 1) + w - 1]
    distance = torch.from_numpy(left[at : at + h * w * runner.lanes].reshape(h * w, runner.lanes).T.copy())
    mean = own[plan.program.steps[i].inputs[0]]
    for axis, matrix in enumerate(rule.op.matrices):
        if matrix is not None:
            mean = torch.tensordot(mean, matrix.to(mean), dims=([1 + axis], [1])).movedim(-1, 1 + axis)
    own[i] = mean.reshape(len(mean), *plan.program.steps[i].grid) - distance.reshape(
        len(mean), *plan.program.steps[i].grid
    )
    return (distance / 2,)


def _apply(plan: LimitPlan, i: int, own: dict[int, Tensor]) -> Tensor:
    """Computes the variances of single images after layer i of the network from the variances before it."""
    rule = plan.rules[i]
    assert isinstance(rule, AbstractRule)  # Only the first step (the data) has another rule, and it has no inputs.
    selves = tuple(own[j] for j in plan.program.steps[i].inputs)
    measured = rule.measure(tuple(None if w is None else s for s, w in zip(selves, rule.watches(), strict=True)))
    return rule.apply(tuple(KernelPair(s) for s in selves), RuleContext(1, False, False, measured, measured, None)).nngp


def _pad(item: st.Item) -> int:
    """Returns the buffer size that a convolution needs in compiled loops: two padded images with one extra row each."""
    rows, width = (
        (a - 1) * s + (k - 1) * d + 1
        for a, s, k, d in zip(item.after, item.stride, item.kernel, item.dilation, strict=True)
    )
    return 2 * (rows + 1) * width
