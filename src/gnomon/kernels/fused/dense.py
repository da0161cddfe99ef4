"""Computes kernels of fully connected networks with compiled loops: affine layers, activations, normalizations, sums.

The lower triangle (or the whole rectangle) is cut into tiles; each tile is one matrix product of the data and one run
of the instructions. The result is written once, and nothing else of its size is allocated.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gnomon.core.machine.kept_loops import is_compiled_code_cached
from gnomon.core.machine.threads import run_in_threads
from gnomon.kernels.fused.background import LoopType
from gnomon.kernels.fused.base import DTYPES, CompiledPlan, arithmetic_of, empty_results, on_both_sides
from gnomon.kernels.fused.compile_time import CHAIN_LOOPS, chain_is_loaded, dense_compile_seconds
from gnomon.kernels.fused.instructions import Instruction, PointMoments, activation, is_piecewise_linear, moments
from gnomon.kernels.fused.joining import fuse_relu_with_affine
from gnomon.kernels.fused.opcodes import ADD, AFFINE, DROPOUT, NORMALIZE, SCALE
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.activation import ActivationRule, LineRule
from gnomon.kernels.rules.affine import DenseRule
from gnomon.kernels.rules.branches import WeightedRule
from gnomon.kernels.rules.data import DataRule
from gnomon.kernels.rules.normalization import DropoutRule, NormalizeRule
from gnomon.kernels.rules.positions import MoveRule

ROWS_PER_TILE = 256
"""Number of rows of a tile."""
COLUMNS_PER_TILE = 512
"""Number of columns of a tile."""
# If two points are closer than this, their distance is computed again from feature differences.
NEAR = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-9}
MIN_FLOAT32_VARIANCE = 1e-30
"""Products of smaller variances underflow in float32."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sets of points of a kernel matrix: scaled features, and statistics such as variances for each
    point.
    """

    features: np.ndarray
    table: np.ndarray


@dataclass(frozen=True, slots=True)
class ChainArrays:
    """The instructions of a network's kernel computation as arrays; ``arithmetic`` is the dtype of the compiled
    loops.
    """

    code: np.ndarray
    numbers: np.ndarray
    registers: int
    arithmetic: np.dtype
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class CompiledChain(CompiledPlan):
    """Compiled kernel loops for networks without positions: dense layers, activations, normalizations and sums."""

    plan: LimitPlan

    def run(  # noqa: D102
        self, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
    ) -> dict[str, Tensor] | None:
        with torch.no_grad():
            sides = on_both_sides(points, self.plan.data_rule.features)
            chain = lower(self.plan, sides, dtype)
            if chain is None:
                return None
            out = empty_results(points, kinds, dtype)
            bad = run(chain, (out.get("nngp"), out.get("ntk")), symmetric=sides[0] is sides[1])
        return None if bad else out

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:  # noqa: D102
        with torch.no_grad():
            data = self.plan.data_rule.features(sample)
            chain = lower(self.plan, (data, data), dtype)
        return None if chain is None else workspace(chain, count, torch.get_num_threads())

    def is_loaded(self, dtype: torch.dtype) -> bool:  # noqa: D102
        return chain_is_loaded(arithmetic_of(self.plan, dtype), DTYPES[dtype])

    def compile_seconds(self, dtype: torch.dtype) -> float:  # noqa: D102
        return dense_compile_seconds(arithmetic_of(self.plan, dtype), DTYPES[dtype])

    def is_compiled_code_cached(self) -> bool:  # noqa: D102
        return is_compiled_code_cached(CHAIN_LOOPS, "chain")

    def loops(self, dtype: torch.dtype) -> tuple[LoopType, ...]:  # noqa: D102
        return (("chain", arithmetic_of(self.plan, dtype).__name__, DTYPES[dtype].__name__),)


def covers(plan: LimitPlan) -> bool:
    """Whether the compiled loops support every layer of the network."""
    steps = plan.program.steps
    known = (DataRule, DenseRule, ActivationRule, LineRule, WeightedRule, DropoutRule, NormalizeRule, MoveRule)
    inputs = [i for i, rule in enumerate(plan.rules) if isinstance(rule, DataRule)]
    return inputs == [0] and all(isinstance(r, known) for r in plan.rules) and all(s.grid == () for s in steps)


def lower(plan: LimitPlan, data: tuple[Tensor, Tensor], dtype: torch.dtype) -> ChainArrays | None:
    """Converts a network to instructions for compiled kernel loops on two sets of features; None if a layer has no
    instruction.
    """
    symmetric = data[1] is data[0]
    found = moments(plan, data[0] if symmetric else torch.cat(data))
    instructions = _instructions(plan, found)
    if instructions is None:
        return None
    instructions = fuse_relu_with_affine(instructions)
    table = torch.stack([found.own[0] / 2, *(s for ins in instructions for s in ins.statistics), found.own[-1] / 2])
    arithmetic = _arithmetic(plan, table, dtype)
    code, numbers = _arrays(instructions, arithmetic)
    scale, n = data[0].shape[1] ** -0.5, len(data[0])
    parts = (table,) if symmetric else (table[:, :n], table[:, n:])
    sides = [
        Side(np.ascontiguousarray((x * scale).numpy(), arithmetic), np.ascontiguousarray(part.numpy(), arithmetic))
        for x, part in zip(data, parts, strict=False)
    ]
    return ChainArrays(code, numbers, 1 + max(i.target for i in instructions), arithmetic, (sides[0], sides[-1]))


def run(chain: ChainArrays, out: tuple[Tensor | None, Tensor | None], *, symmetric: bool) -> int:
    """Fills the kernel matrices ``out`` = (nngp, ntk) with compiled loops; returns the number of non-finite entries."""
    from gnomon.kernels.fused import chain_loops as loops

    left, right = chain.sides
    n, m = len(left.features), len(right.features)
    wanted = next(o.numpy().dtype for o in out if o is not None)
    # A kernel that is not wanted becomes an empty array of the same type, so that the loop is compiled only once.
    nngp, ntk = (np.empty((0, 0), wanted) if o is None else o.numpy() for o in out)
    constants = tuple(chain.arithmetic.type(v) for v in (0.0, 0.25, 0.5, 1.0))
    near = chain.arithmetic.type(NEAR[chain.arithmetic])
    last = left.table.shape[0] - 1
    tiles = [
        (i, min(ROWS_PER_TILE, n - i), j, min(COLUMNS_PER_TILE, m - j))
        for i in range(0, n, ROWS_PER_TILE)
        for j in range(0, min(m, i + ROWS_PER_TILE) if symmetric else m, COLUMNS_PER_TILE)
    ]

    def worker() -> tuple[np.ndarray, np.ndarray]:
        return np.empty(ROWS_PER_TILE * COLUMNS_PER_TILE, chain.arithmetic), loops.registers(
            chain.registers, chain.arithmetic.type
        )

    def tile(place: tuple[int, int, int, int], room: tuple[np.ndarray, np.ndarray]) -> int:
        i, rows, j, cols = place
        cols = min(cols, i + rows - j) if symmetric else cols
        gram = room[0][: rows * cols].reshape(rows, cols)
        np.matmul(left.features[i : i + rows], right.features[j : j + cols].T, out=gram)
        return loops.chain(
            chain.code,
            chain.numbers,
            constants,
            gram,
            left.table,
            right.table,
            left.features,
            right.features,
            near,
            (i, rows, j, cols, last),
            symmetric,
            room[1],
            nngp,
            ntk,
        )

    return sum(run_in_threads(tile, tiles, worker, "entries"))


def workspace(chain: ChainArrays, count: int, threads: int) -> int:
    """Returns the workspace in bytes for the kernel of ``count`` points: features, statistics, and buffers of all
    threads.
    """
    rows, width = len(chain.sides[0].table), chain.sides[0].features.shape[1]
    word = chain.arithmetic.itemsize
    room = ROWS_PER_TILE * COLUMNS_PER_TILE + 2 * 512 * (chain.registers + 2)
    return count * (8 * rows + word * (rows + width)) + threads * room * word


def _arithmetic(plan: LimitPlan, table: Tensor, dtype: torch.dtype) -> np.dtype:
    """Returns the float type for the kernel computation: float32 if it is requested and loses no accuracy, else
    float64.
    """
    single = dtype == torch.float32 and all(is_piecewise_linear(rule) for rule in plan.rules)
    if single:
        positive = table[table > 0]
        smallest = float(positive.min()) if len(positive) else 1.0
        single = smallest > MIN_FLOAT32_VARIANCE and float(table.abs().max()) < 1 / MIN_FLOAT32_VARIANCE
    return np.dtype(np.float32 if single else np.float64)


def _instructions(plan: LimitPlan, found: PointMoments) -> list[Instruction] | None:
    """Returns one instruction per layer of the network, using as few registers as possible; None if a layer
    has none.
    """
    instructions: list[Instruction] = []
    place: dict[int, int] = {0: 0}
    free: list[int] = []
    top = 1
    for i, step in enumerate(plan.program.steps):
        rule = plan.rules[i]
        if isinstance(rule, DataRule):
            continue
        sources = [place[j] for j in step.inputs]
        dying = [place[j] for j in dict.fromkeys(step.inputs) if plan.last_use[j] == i]
        if dying and (len(sources) == 1 or sources[0] in dying):
            target = sources[0]
        elif free:
            target = free.pop()
        else:
            target, top = top, top + 1
        made = _instruction(plan, i, sources, target, found)
        if made is None:
            return None
        instructions += made
        place[i] = target
        free += [r for r in dying if r != target]
    return instructions


def _instruction(
    plan: LimitPlan, i: int, sources: list[int], target: int, found: PointMoments
) -> list[Instruction] | None:
    rule, first = plan.rules[i], plan.program.steps[i].inputs[0]
    before, after, measured = found.own[first], found.own[i], found.measured[i]
    match rule:
        case DenseRule():
            t = rule.terms
            u = (t.weight_tangent * before + t.bias_tangent) / 2
            return [Instruction(AFFINE, target, sources[0], (u,), (t.weight, t.weight_tangent))]
        case ActivationRule() | LineRule():
            made = activation(plan, i, before, after, None)
            return None if made is None else [Instruction(made[0], target, sources[0], made[1], made[2])]
        case NormalizeRule():
            assert measured is not None  # A plan always measures the scale that a normalization needs.
            return [Instruction(NORMALIZE, target, sources[0], (measured, before * measured / 2))]
        case DropoutRule():
            return [Instruction(DROPOUT, target, sources[0], (before / 2,), (1 / rule.keep - 1,))]
        case WeightedRule():
            return _weigh(rule.weights, sources, target)
        case _:
            return [Instruction(SCALE, target, sources[0], (), (1.0,))]


def _weigh(weights: tuple[float, ...], sources: list[int], target: int) -> list[Instruction] | None:
    if target in sources[1:]:
        return None
    instructions = [Instruction(SCALE, target, sources[0], (), (weights[0],))]
    return instructions + [Instruction(ADD, target, s, (), (w,)) for s, w in zip(sources[1:], weights[1:], strict=True)]


def _arrays(instructions: list[Instruction], arithmetic: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    code: list[tuple[int, ...]] = []
    numbers: list[float] = []
    row = 1  # Row 0 of the table describes the data, so the steps start at row 1.
    for ins in instructions:
        code.append((ins.op, ins.target, ins.source, row, len(numbers)))
        numbers += ins.numbers
        row += len(ins.statistics)
    return np.array(code or [(SCALE, 0, 0, 0, 0)], np.int64).reshape(-1, 5), np.array(numbers or [1.0], arithmetic)
