"""Divides the kernel computation of a convolutional network into stages that end at poolings, strides and flattenings.

Inside a stage every displacement plane goes its way alone. From the end of the program backwards, each stage learns
which displacements it must compute: a flattening needs only d = 0, a stride s only multiples of s, a pooling of k
positions all d with |d - k d'| < k for a wanted d'.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.fused.opcodes import ADD, AFFINE, CONV, DATA, DROPOUT, FETCH, FLAT, KINK, NORMALIZE, POOL, SCALE
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.activation import ActivationRule, LineRule
from gnomon.kernels.rules.affine import ConvRule, DenseRule
from gnomon.kernels.rules.base import AbstractRule
from gnomon.kernels.rules.branches import WeightedRule
from gnomon.kernels.rules.data import DataRule
from gnomon.kernels.rules.normalization import DropoutRule, NormalizeRule
from gnomon.kernels.rules.positions import MixRule, MoveRule
from gnomon.program.steps import ConvolutionWindow, ProgramStep

Grid = tuple[int, int]
ONE = (1, 1)


@dataclass(frozen=True, slots=True)
class Item:
    """One instruction of compiled loops for one layer; ``store`` is the array that the instruction reads or writes."""

    op: int
    step: int
    target: int
    source: int
    before: Grid
    after: Grid
    kernel: Grid = ONE
    stride: Grid = ONE
    dilation: Grid = ONE
    padding: Grid = (0, 0)
    store: int = -1
    weight: float = 1.0


@dataclass(slots=True)
class Stage:
    """One stage of a kernel computation: its instructions, the image sizes that enter it, and its number of
    registers.
    """

    items: list[Item] = field(default_factory=list)
    stores: list[Grid] = field(default_factory=list)
    registers: int = 0
    free: list[int] = field(default_factory=list)

    def register(self) -> int:
        """Returns the number of a free register (work array) of this stage of the kernel computation."""
        if self.free:
            return self.free.pop()
        self.registers += 1
        return self.registers - 1


@dataclass(frozen=True, slots=True)
class Stages:
    """All stages of the kernel computation of a network; ``wraps`` says that all convolutions are circular."""

    parts: tuple[Stage, ...]
    wraps: bool


def cut_into_stages(plan: LimitPlan) -> Stages | None:
    """Divides the kernel computation of a network into stages; returns None if a layer has no instruction."""
    steps = plan.program.steps
    if any(len(s.grid) > 2 for s in steps) or [i for i, r in enumerate(plan.rules) if isinstance(r, DataRule)] != [0]:
        return None
    wraps = _wraps(plan)
    if wraps is None or _grows(plan):
        return None
    maker = _StageBuilder(plan)
    for i in range(len(steps)):
        if not maker.add(i):
            return None
    maker.close(len(steps) - 1)
    return Stages(tuple(maker.stages), wraps)


def displacements(stages: Stages, *, alone: bool) -> list[np.ndarray]:
    """Returns the displacements between pixels for which each stage must compute covariances."""
    wanted: set[Grid] = {(0, 0)}
    result = []
    for stage in reversed(stages.parts):
        here: set[Grid] = set()
        for item in stage.items:
            here |= _needs(item, wanted, stages.wraps)
        wanted = here
        kept = {d for d in here if not alone or stages.wraps or d >= (0, 0)}
        result.append(np.array(sorted(kept), np.int64).reshape(-1, 2))
    return result[::-1]


def places(stage: Stage, planes: np.ndarray, lanes: int, *, wraps: bool) -> tuple[np.ndarray, int]:
    """Returns the index of each array of covariances that enters a stage, by (store, displacement), and
    their number.
    """
    width = max((2 * h - 1) * (2 * w - 1) for h, w in stage.stores)
    at, size = np.full((len(stage.stores), width), -1, np.int64), 0
    for b, (h, w) in enumerate(stage.stores):
        for dy, dx in planes:
            rows, cols = (h, w) if wraps else (h - abs(dy), w - abs(dx))
            if rows > 0 and cols > 0:
                at[b, (dy + h - 1) * (2 * w - 1) + dx + w - 1] = size
                size += 2 * rows * cols * lanes
    return at, int(size)


def grid_of(shape: tuple[int, ...]) -> Grid:
    """Returns the shape of a grid of positions with at most two axes as (height, width)."""
    return (1, 1, *shape)[-2], (1, 1, *shape)[-1]


class _StageBuilder:
    """Divides a network into stages of compiled loops; ``value`` holds the place of each layer's result."""

    def __init__(self, plan: LimitPlan) -> None:
        self.plan = plan
        self.stages = [Stage()]
        self.value: dict[int, tuple[int, int]] = {}
        # Grid of positions of each value. A flatten step keeps it, because only means over positions follow.
        self.grid: dict[int, Grid] = {}

    def add(self, i: int) -> bool:
        """Appends the instructions of layer i of the network; returns False if the layer has no instruction."""
        rule, step = self.plan.rules[i], self.plan.program.steps[i]
        if isinstance(rule, DataRule):
            self._data(i, rule)
            return True
        where = {self.value[j][0] for j in step.inputs}
        if len(where) != 1:
            return False
        made = self._place(i, where.pop(), self.grid[step.inputs[0]])
        for j in set(step.inputs):
            if made and self.plan.last_use[j] == i and self.value[j] != self.value[i]:
                stage, register = self.value[j]
                self.stages[stage].free.append(register)
        return made

    def _data(self, i: int, rule: DataRule) -> None:
        """Appends the instructions that load the images, and the first convolution if the plan stores image patches."""
        step, window = self.plan.program.steps[i], rule.op.window
        grid = grid_of(step.grid if window is None else raw_grid(self.plan))
        channels = step.channels if window is None else step.channels // prod(window.kernel)
        register = self.stages[0].register()
        self.stages[0].items.append(Item(DATA, i, register, 0, grid, (channels, 0)))
        self.value[i], self.grid[i] = (0, register), grid_of(step.grid)
        if window is not None:
            self._window(i, window, 0, register, grid, grid_of(step.grid))

    def close(self, last: int) -> None:
        """Appends the last instruction of the kernel computation: the mean over equal positions of the last layer."""
        stage, register = self.value[last]
        grid = self.grid[last]
        self.stages[stage].items.append(Item(FLAT, last, 0, register, grid, ONE, store=0, weight=1 / prod(grid)))

    def _place(self, i: int, stage: int, before: Grid) -> bool:
        rule, step = self.plan.rules[i], self.plan.program.steps[i]
        first = self.plan.program.steps[step.inputs[0]].grid
        after, source = grid_of(step.grid), self.value[step.inputs[0]][1]
        self.grid[i] = after if isinstance(rule, ConvRule | MixRule) or not step.grid else before
        match rule:
            case ConvRule() | MixRule() if before != grid_of(first):
                return False
            case ConvRule():
                return self._conv(i, rule, stage, source, before, after)
            case MixRule():
                kernel = _blocks(rule.op.matrices, before, after)
                if kernel is None:
                    return False
                self._leave(
                    Item(POOL, i, 0, source, before, after, kernel, weight=prod(kernel) ** -2.0), stage, corrected=True
                )
                return True
            case DenseRule() if rule.op.contracted and len(rule.op.contracted) == len(first):
                self._leave(Item(FLAT, i, 0, source, before, ONE, weight=1 / prod(before)), stage, corrected=False)
                stage, register = self.value[i]
                self.stages[stage].items.append(Item(AFFINE, i, register, register, ONE, ONE))
                return True
            case DenseRule() if not rule.op.contracted:
                return self._inside(i, AFFINE, stage, source, before)
            case ActivationRule() | LineRule():
                shared = all(t.shared for t in rule.trainable) or prod(before) == 1
                return shared and self._inside(i, KINK, stage, source, before)
            case NormalizeRule():
                return self._inside(i, NORMALIZE, stage, source, before)
            case DropoutRule():
                return self._inside(i, DROPOUT, stage, source, before)
            case WeightedRule():
                return self._sum(i, rule, stage, before)
            case MoveRule():
                index = rule.op.index
                same = len(index) == prod(before) and bool((index == torch.arange(len(index))).all())
                return same and self._inside(i, SCALE, stage, source, before)
        return False

    def _target(self, i: int, stage: int, source: int) -> int:
        dying = self.plan.last_use[self.plan.program.steps[i].inputs[0]] == i
        return source if dying else self.stages[stage].register()

    def _inside(self, i: int, op: int, stage: int, source: int, grid: Grid) -> bool:
        target = self._target(i, stage, source)
        self.stages[stage].items.append(Item(op, i, target, source, grid, grid))
        self.value[i] = (stage, target)
        return True

    def _sum(self, i: int, rule: WeightedRule, stage: int, grid: Grid) -> bool:
        inputs = self.plan.program.steps[i].inputs
        if len(set(inputs)) != len(inputs):
            return False
        first, *rest = (self.value[j][1] for j in inputs)
        target = self._target(i, stage, first)
        items = [Item(SCALE, i, target, first, grid, grid, weight=rule.weights[0])]
        items += [Item(ADD, i, target, s, grid, grid, weight=w) for s, w in zip(rest, rule.weights[1:], strict=True)]
        self.stages[stage].items += items
        self.value[i] = (stage, target)
        return True

    def _conv(self, i: int, rule: ConvRule, stage: int, source: int, before: Grid, after: Grid) -> bool:
        if rule.terms.weight == 0.0:
            return False
        self._window(i, rule.op.window, stage, source, before, after)
        return True

    def _window(self, i: int, window: ConvolutionWindow, stage: int, source: int, before: Grid, after: Grid) -> None:
        kernel, stride, dilation = (grid_of(v) for v in (window.kernel, window.stride, window.dilation))
        first = [0, *(p[0] for p in window.padding)]
        padding = (first[-2], first[-1])
        if stride != ONE:
            self._leave(
                Item(CONV, i, 0, source, before, after, kernel, stride, dilation, padding), stage, corrected=False
            )
            return
        target = self.stages[stage].register()
        self.stages[stage].items.append(Item(CONV, i, target, source, before, after, kernel, stride, dilation, padding))
        self.value[i] = (stage, target)

    def _leave(self, item: Item, stage: int, *, corrected: bool) -> None:
        """Ends the current stage of the computation, and passes the result of this instruction to the next stage."""
        if len(self.stages) == stage + 1:
            self.stages.append(Stage())
        after = self.stages[stage + 1]
        store, register = len(after.stores), after.register()
        after.stores.append(item.after)
        self.stages[stage].items.append(replace(item, store=store))
        after.items.append(Item(FETCH, item.step, register, 0, item.after, (int(corrected), 0), store=store))
        self.value[item.step] = (stage + 1, register)


def _wraps(plan: LimitPlan) -> bool | None:
    """Whether all convolutions of the network are circular; None if circular and other padding are mixed."""
    steps, windows = plan.program.steps, _windows(plan)
    if not any(window.mode == "circular" and any(map(sum, window.padding)) for window, _, _ in windows):
        return False
    for window, before, after in windows:
        padded = any(map(sum, window.padding))
        smaller = any(b != a * s for b, a, s in zip(before, after, window.stride, strict=True))
        if (padded and window.mode != "circular") or smaller:
            return None
    for rule, step in _steps(plan):
        if isinstance(rule, MixRule) and any(
            b % a for b, a in zip(steps[step.inputs[0]].grid, step.grid, strict=False)
        ):
            return None
    return True


def _grows(plan: LimitPlan) -> bool:
    """Whether a convolution pads so much that two of its outputs can be farther apart than any two inputs."""
    return any(
        (a - 1) * stride >= b
        for window, before, after in _windows(plan)
        for b, a, stride in zip(before, after, window.stride, strict=True)
    )


def _windows(plan: LimitPlan) -> list[tuple[ConvolutionWindow, tuple[int, ...], tuple[int, ...]]]:
    """Returns the kernel window, the input grid and the output grid of every convolution in the network."""
    steps = plan.program.steps
    found = [(r.op.window, steps[s.inputs[0]].grid, s.grid) for r, s in _steps(plan) if isinstance(r, ConvRule)]
    data = plan.data_rule.op.window
    return found if data is None else [*found, (data, raw_grid(plan), steps[0].grid)]


def raw_grid(plan: LimitPlan) -> tuple[int, ...]:
    """Returns the height and width of the images before the first convolution, which the plan stores as patches."""
    op = plan.data_rule.op
    shape = op.function(torch.empty((1, *plan.program.input_shape), dtype=torch.float64, device="meta"))
    return tuple(shape.movedim(op.channel, 1).shape[2:])


def _steps(plan: LimitPlan) -> Iterator[tuple[AbstractRule | DataRule, ProgramStep]]:
    return zip(plan.rules, plan.program.steps, strict=True)


def _blocks(matrices: tuple[Tensor | None, ...], before: Grid, after: Grid) -> Grid | None:
    """Returns the block sizes if the matrices are an average pooling over pixels; None for any other linear map."""
    sizes = []
    padded: tuple[Tensor | None, ...] = (None, *matrices)
    for matrix, b, a in zip(padded[-2:], before, after, strict=True):
        if matrix is None:
            sizes.append(1)
            continue
        rows, k = matrix.shape[0], int((matrix[0] != 0).sum())
        expected = torch.zeros(rows, b, dtype=matrix.dtype)
        if k == 0 or rows * k > b:
            return None
        for r in range(rows):
            expected[r, r * k : (r + 1) * k] = 1 / k
        if rows != a or not torch.allclose(matrix, expected, rtol=1e-12, atol=0.0):
            return None
        sizes.append(k)
    return sizes[0], sizes[1]


def _needs(item: Item, wanted: set[Grid], wraps: bool) -> set[Grid]:
    """Returns the displacements between pixels that a stage must compute so that the next stage can run."""
    (h, w), (ky, kx), (sy, sx) = item.before, item.kernel, item.stride
    if item.op == FLAT:
        return {(0, 0)}
    if item.op == CONV and item.store >= 0:
        found = {(sy * dy, sx * dx) for dy, dx in wanted}
    elif item.op == POOL:
        found = {(ky * dy + a, kx * dx + b) for dy, dx in wanted for a in range(1 - ky, ky) for b in range(1 - kx, kx)}
    else:
        return set()
    if wraps:
        return {(dy % h, dx % w) for dy, dx in found}
    return {(dy, dx) for dy, dx in found if abs(dy) < h and abs(dx) < w}
