"""Computes a tangent kernel in tiles: blocks of examples whose activations and gradients fit into memory.

`gnomon.tangent.empirical` prepares the module, the inputs and the plan; each tile is a sum over the terms of the plan
(`gnomon.tangent.contract`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, prod
from time import monotonic

import torch
from torch import Tensor

from gnomon.core.errors import BudgetError
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes, free_bytes
from gnomon.core.machine.progress import Progress, is_terminal, progress_line
from gnomon.core.modules.pure import PureFunction
from gnomon.tangent.block import PIECE_BYTES, Block, unit
from gnomon.tangent.checks import check_batch_independence
from gnomon.tangent.contract import contract
from gnomon.tangent.jacobian import jacobian_rows
from gnomon.tangent.per_example import gated_kernel
from gnomon.tangent.plan import NTKPlan
from gnomon.tangent.sums import outer

STATED_SECONDS = 20.0
"""Kernels that take longer state their cost after the first backward pass."""
Shares = dict[str, Tensor]
"""The share of each layer in the kernel, by its path."""


@dataclass(frozen=True, slots=True)
class SmallBatch:
    """Outputs of the first examples computed in a small batch, to compare with their outputs in a larger batch."""

    second: bool
    outputs: Tensor


class Passes(Progress):
    """Counts backward rounds, draws a bar, and states the cost of a long kernel after the first round."""

    def __init__(self, tiles: int, rounds: int, outputs: int) -> None:
        super().__init__(tiles * rounds, "tangent kernel")
        self.outputs, self.start = outputs, monotonic()

    def step(self) -> None:
        """Counts one round; after the first one of a long kernel, prints how long all of them will take."""
        super().step()
        seconds = (monotonic() - self.start) * self.total
        if self.done == 1 and seconds > STATED_SECONDS and self.outputs > 1 and is_terminal():
            progress_line(
                f"The kernel of {self.outputs:,} outputs takes about {_duration(seconds)}, one backward pass for each "
                'output. outputs="pseudo" takes one pass; budget= limits the time.'
            )


def _duration(seconds: float) -> str:
    """Formats seconds with the unit that a person would use.

    >>> _duration(45.2), _duration(600), _duration(90_000), _duration(1e6)
    ('45 s', '10 minutes', '25 hours', '12 days')
    """
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


_Gates = dict[tuple[int, ...], tuple[list[Tensor], list[Tensor]]]
"""By the uses of a gated term: the gradients of its pooled values on both sides."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Sizes of one tile of a tangent kernel: examples per block, outputs per backward round, and workspace bytes."""

    block: int
    together: int
    workspace: int


@dataclass(frozen=True, slots=True)
class TiledKernel:
    """Computes a tangent kernel tile by tile, as a plan says; ``mode`` says how outputs are combined."""

    f: PureFunction
    plan: NTKPlan
    mode: str
    memory: int | None
    progress: Callable[[int, int], None] | None
    small: SmallBatch | None

    def between(self, first: Inputs, second: Inputs | None) -> Shares:
        """Returns the tangent kernel between two sets of examples (or one with itself), as one contribution per
        layer.
        """
        n, m = count_examples(first), count_examples(first if second is None else second)
        k = self.plan.outputs
        sizes = self._tile_sizes(n, m, k, second is None)
        result: Shares = {}
        steps = list(_tiles(n, m, sizes.block, second is None))
        held: tuple[int, Block] | None = None
        passes = Passes(len(steps), self._rounds(k, sizes), k if self.mode != "pseudo" else 1)
        with passes:
            for done, (i, j) in enumerate(steps):
                if held is None or held[0] != i:
                    held = None  # Frees the memory of the last block of rows before the next one is computed.
                    held = (i, self._block(first, i, sizes.block, self.small is not None and not self.small.second))
                one, other = held[1], first if second is None else second
                checked = self.small is not None and self.small.second and i == 0
                two = one if second is None and i == j else self._block(other, j, sizes.block, checked)
                for layer, tile in self._tile(one, two, k, sizes, passes).items():
                    if layer not in result:
                        result[layer] = tile.new_zeros(_shape(self.mode, n, m, k))
                    _write(result[layer], tile, i, j, self.mode, second is None)
                if self.progress is not None:
                    self.progress(done + 1, len(steps))
        return self._finish(result, n, m, k)

    def _rounds(self, k: int, sizes: _Sizes) -> int:
        """Returns the number of backward rounds for one tile; one round takes the gradients of several outputs."""
        return 1 if self.mode == "pseudo" else ceil(k / sizes.together)

    def _block(self, x: Inputs, start: int, size: int, checked: bool) -> Block:
        block = Block(self.f, take_examples(x, slice(start, start + size)), self.plan, start)
        if checked and start == 0 and self.small is not None:
            check_batch_independence(self.f, x, self.small.outputs, block.pieces[0].outputs.detach())
        return block

    @torch.no_grad()
    def _tile(self, one: Block, two: Block, k: int, sizes: _Sizes, passes: "Passes") -> Shares:
        """Returns the contribution of each layer to one tile of the tangent kernel."""
        tile: Shares = {}
        like = one.pieces[0].outputs.detach()
        gates: _Gates = {term.uses: ([], []) for term in self.plan.terms if term.gated}
        for round_ in range(self._rounds(k, sizes)):
            start = round_ * sizes.together
            # made in each round, because a language model has millions of outputs
            outputs = range(start, min(start + sizes.together, k))
            cotangents = [like.new_ones(k)] if self.mode == "pseudo" else [unit(k, o, like) for o in outputs]
            for layer, share in self._shares(one, two, cotangents, gates, sizes.workspace):
                if self.mode == "diagonal":
                    tile.setdefault(layer, share.new_zeros(k, *share.shape[1:]))[start : start + len(share)] += share
                else:
                    tile[layer] = tile[layer].add_(share) if layer in tile else share
            passes.step()
        for term in self.plan.terms:
            if term.gated:
                share = gated_kernel(term, one, two, *gates[term.uses], self.mode, sizes.workspace)
                tile[term.layer] = tile[term.layer].add_(share) if term.layer in tile else share
        return tile

    def _shares(
        self, one: Block, two: Block, cotangents: list[Tensor], gates: _Gates, workspace: int
    ) -> Iterator[tuple[str, Tensor]]:
        first = [one.gradients(v) for v in cotangents]
        second = first if two is one else [two.gradients(v) for v in cotangents]
        for term in self.plan.terms:
            # Collects only pooled gradients here. The other factor is the same for all outputs and is added at the end.
            if term.gated:
                for side, block, gradients in zip(gates[term.uses], (one, two), (first, second), strict=True):
                    side.extend(block.gates(term, g) for g in gradients)
                continue
            yield term.layer, contract(term, one, two, first, second, self.mode, workspace)
        for layer, names in self.plan.others.items():
            with torch.enable_grad():
                left = jacobian_rows(self.f, names, one.x, cotangents, workspace)
                right = left if two is one else jacobian_rows(self.f, names, two.x, cotangents, workspace)
            yield layer, outer(self.mode, left, right)

    def _tile_sizes(self, n: int, m: int, k: int, symmetric: bool) -> _Sizes:
        budget = int(SHARE_OF_FREE_MEMORY * free_bytes()) if self.memory is None else self.memory
        layers = max(1, len({t.layer for t in self.plan.terms} | set(self.plan.others)))
        item = next(iter(self.f.leaves.values())).element_size()
        result = prod(_shape(self.mode, n, m, k)) * item * layers
        left = budget - result
        least = 1 if self.mode != "full" else k
        one = self.plan.activations + least * self.plan.gradients
        if left < 4 * one:
            what = (
                f"{format_bytes(budget)} cannot hold the result ({format_bytes(result)}) and two examples "
                f"({format_bytes(2 * one)})"
            )
            fix = "Raise memory=, ask for outputs='trace', or split the inputs"
            raise BudgetError(what, accepted="a result and one tile that fit in memory", fix=fix)
        room = left * 3 // 4
        for together in sorted({k, max(1, k // 2), max(1, k // 4), 1} if self.mode != "full" else {k}, reverse=True):
            per_example = self.plan.activations + together * self.plan.gradients
            examples = n if symmetric else n + m
            far = examples * together * self.plan.gradients > 2 * PIECE_BYTES and together > least
            if examples * per_example <= room and not far:
                return _Sizes(max(n, m), together, left // 4)
        return _Sizes(max(1, room // (2 * per_example)), together, left // 4)

    def _finish(self, result: dict[str, Tensor], n: int, m: int, k: int) -> Shares:
        if not result:  # The outputs depend on none of the chosen parameters, so the tangent kernel is zero.
            like = next(iter(self.f.leaves.values()))
            result = {"": like.detach().new_zeros(_shape(self.mode, n, m, k))}
        order = {"full": (1, 3, 0, 2), "diagonal": (1, 2, 0)}.get(self.mode, (0, 1))
        scale = k if self.mode == "trace" else 1
        return {layer: (value.div_(scale) if scale > 1 else value).permute(order) for layer, value in result.items()}


def _shape(mode: str, n: int, m: int, k: int) -> tuple[int, ...]:
    return {"full": (k, n, k, m), "diagonal": (k, n, m)}.get(mode, (n, m))


def _tiles(n: int, m: int, size: int, symmetric: bool) -> Iterator[tuple[int, int]]:
    for i in range(0, n, size):
        for j in range(0, min(m, i + 1) if symmetric else m, size):
            yield i, j


def _write(result: Tensor, tile: Tensor, i: int, j: int, mode: str, symmetric: bool) -> None:
    """Writes a tile into the kernel matrix and, for a symmetric kernel, also its mirror image."""
    rows, columns = tile.shape[1 if mode in ("full", "diagonal") else 0], tile.shape[-1]
    a, b = slice(i, i + rows), slice(j, j + columns)
    if mode == "full":
        result[:, a, :, b] = _symmetric(tile, mode) if symmetric and i == j else tile
        if symmetric and i != j:
            result[:, b, :, a] = tile.permute(2, 3, 0, 1)
        return
    result[..., a, b] = _symmetric(tile, mode) if symmetric and i == j else tile
    if symmetric and i != j:
        result[..., b, a] = tile.mT


def _symmetric(tile: Tensor, mode: str) -> Tensor:
    if mode == "full":
        k, n = tile.shape[:2]
        return _symmetric(tile.reshape(k * n, k * n), "").reshape(tile.shape)
    return tile.tril() + tile.tril(-1).mT
