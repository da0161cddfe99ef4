"""Computes upper and lower bounds of the Lipschitz constant of a network.

    |f(x) - f(z)|_2 <= L |x - z|_2                                                                            (1)
    product     L <= product of the operator norms of the affine blocks                                       (2)
    SeqLip      neighbors by their singular vectors, in chains of blocks; see `chain.seqlip`                   (3)
    refined     chains cut into single blocks, pairs and SeqLip chains so that the product is smallest             (4)
    from below  L >= the largest singular value of the Jacobian at any point                                  (5)

Hypotheses: affine layers, relu, leaky relu, max-pool, sums and joins of branches; eval mode.
Reference: [virmaux2018lipschitz] for (2) and (3) and on why the exact constant is hard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.checks import check_module, check_seed
from gnomon.core.inputs.source import as_input_source
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result, Value
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, PiecewiseLinearStep, read_piecewise_linear
from gnomon.robustness.lipschitz.chain import MatrixChain
from gnomon.robustness.lipschitz.operators import MAX_DENSE_INPUTS, matrix_of, operator_norm

__all__ = ["LipschitzBounds", "lipschitz_bounds", "pair_bounds"]

MAX_MULTIPLICATIONS = 2e11
"""Maximum number of multiplications in the search for steep points."""
POWER_ITERATIONS = 8
"""Power iterations for the slope at a point."""
MAX_POINTS = 64
"""Number of inputs at which the search evaluates the Jacobian first."""


@dataclass(frozen=True, slots=True)
class LipschitzBounds(Result):
    """Result: a lower bound and three upper bounds of the Euclidean Lipschitz constant of a network.

    ``layers`` are the operator norms of the affine blocks, by the name of their first layer; ``seqlip`` and ``refined``
    are equal to the product if the network is not a chain of blocks with small matrices.

    >>> found = LipschitzBounds(lower=3.0, refined=5.0, seqlip=5.5, product=6.0, layers={"0": 2.0, "2": 3.0})
    >>> found.upper
    5.0
    >>> print(found.verdict)
    An input that moves by 1 moves the outputs by at most 5, and at some point by 3.
    """

    lower: float
    refined: float
    seqlip: float
    product: float
    layers: dict[str, float]

    @property
    def upper(self) -> float:
        """Returns the smallest of the three upper bounds of the Lipschitz constant."""
        return min(self.refined, self.seqlip, self.product)

    @property
    def values(self) -> tuple[Value, ...]:
        """Returns the lower and the upper bounds of the Lipschitz constant, and how each was obtained."""
        return (
            Value("largest slope found", self.lower, obtained="lower bound"),
            Value("refined", self.refined, obtained="upper bound"),
            Value("SeqLip", self.seqlip, obtained="upper bound"),
            Value("product of operator norms", self.product, obtained="upper bound"),
        )

    @property
    def verdict(self) -> str:
        """States in one sentence how far outputs move at most, and at least at some point, if an input moves by 1."""
        most, least = f"at most {self.upper:.4g}", f"at some point by {self.lower:.4g}"
        return f"An input that moves by 1 moves the outputs by {most}, and {least}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the bounds of the Lipschitz constant, and the operator norm of each block of layers."""
        sides = Bars("Lipschitz constant", [v.name for v in self.values], [float(v.value) for v in self.values])
        blocks = Bars("operator norm", list(self.layers), list(self.layers.values()))
        return Plot("Lipschitz constant", (sides,), Axis("output change / input change"), caption=self.verdict), Plot(
            "Operator norms", (blocks,), Axis("output change / input change")
        )


@add_call_to_errors
def lipschitz_bounds(module: nn.Module, data: Any, *, search: int = 30, seed: int = 0) -> LipschitzBounds:
    """Computes lower and upper bounds of the Lipschitz constant of a network over all inputs.

    See equations (1) to (5) of the module docstring.

    Args:
        module: a network of the layers below, read in eval mode and left as it was.
        data: inputs; they set the shape, and the search for steep points starts there.
        search: number of rounds of the search for steeper points.
        seed: random seed for the search.

    Attention, sigmoid gates and similar layers raise an error, because their bound is infinite or not implemented.

    Hypotheses: affine layers, relu, leaky relu, max-pool, sums; Euclidean norms on both sides.
    Reference: [virmaux2018lipschitz].
    Cost: an operator norm for each block, and ``search`` Jacobians of 64 inputs, fewer of both
    if they would take more than 2e11 multiplications, about a minute.

    >>> net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 2, bias=False))
    >>> with torch.no_grad():
    ...     _ = net[0].weight.copy_(torch.eye(2)), net[2].weight.copy_(3 * torch.eye(2))
    >>> found = lipschitz_bounds(net, torch.randn(5, 2))
    >>> round(found.lower, 3), round(found.upper, 3)
    (3.0, 3.0)
    """
    check_module(module)
    seed = check_seed(seed)
    inputs = as_input_source(data, module).first(MAX_POINTS).x
    copy = copy_module(module).double().eval().requires_grad_(requires_grad=False)
    if not isinstance(inputs, Tensor):
        found = f"x is a {type(inputs).__name__}"
        raise InputError(found, accepted="one tensor of inputs", fix="Wrap the model in one that takes one tensor")
    if not all(bool(p.isfinite().all()) for p in copy.parameters()):
        raise NotFiniteError("weights are not finite", accepted="finite weights", fix="Look for NaN in the weights")
    points = inputs.detach().double().cpu()
    with preserve(copy):
        graph = read_piecewise_linear(copy, points[:1])
        blocks = _blocks(graph, points[:1])
        product = _propagate(graph, blocks)
        chain, refined = _chain(graph, blocks)
        lower = _steepest(copy, *_affordable(graph, points, search), seed)
    return LipschitzBounds(
        lower, min(refined, chain, product), min(chain, product), product, {b.where: b.norm for b in blocks}
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """A chain of affine layers that is treated as one layer, with its norm and, if it is small, its matrix."""

    start: int
    end: int
    where: str
    norm: float
    matrix: Tensor | None


def _blocks(graph: PiecewiseLinearGraph, x: Tensor) -> list[_Block]:
    """Returns the longest chains of affine layers in which only the next layer uses each intermediate value."""
    readers = [sum(i in step.inputs for step in graph.steps) for i in range(len(graph.steps))]
    values, blocks, done = graph.values(x), [], set()
    for i, step in with_progress_bar(list(enumerate(graph.steps)), "steps"):
        if i in done or step.kind != "affine" or len(step.inputs) != 1:
            continue
        chain = [i]
        while readers[chain[-1]] == 1 and chain[-1] + 1 < len(graph.steps):
            after = graph.steps[chain[-1] + 1]
            if after.kind != "affine" or after.inputs != (chain[-1],):
                break
            chain.append(chain[-1] + 1)
        done |= set(chain)
        steps, shape = [graph.steps[j] for j in chain], values[step.inputs[0]].shape[1:]
        function = _compose(steps)
        small = max(shape.numel(), values[chain[-1]].shape[1:].numel()) <= MAX_DENSE_INPUTS
        matrix = matrix_of(function, shape) if small else None
        norm = float(torch.linalg.matrix_norm(matrix, 2)) if matrix is not None else operator_norm(function, shape)
        where = next(
            (s.where for s in steps if s.layer is not None and any(True for _ in s.layer.parameters())), steps[0].where
        )
        blocks.append(_Block(i, chain[-1], where, norm, matrix))
    return blocks


def _compose(steps: Sequence[PiecewiseLinearStep]) -> Any:
    def run(x: Tensor) -> Tensor:
        for step in steps:
            x = step.function(x)
        return x

    return run


def _propagate(graph: PiecewiseLinearGraph, blocks: list[_Block]) -> float:
    """Bounds the Lipschitz constant of a network from layer to layer, including sums and concatenations."""
    ends = {b.end: b for b in blocks}
    inside = {j for b in blocks for j in range(b.start, b.end)}
    known: dict[int, float] = {}
    for i, step in enumerate(graph.steps):
        before = [known.get(j, 1.0) for j in step.inputs]
        if step.kind == "input":
            known[i] = 1.0
        elif step.kind == "relu":
            known[i] = before[0] * max(1.0, step.slope)
        elif step.kind == "max":
            known[i] = before[0] * _overlap(step.layer)
        elif i in inside:
            known[i] = before[0]
        elif i in ends:
            known[i] = (before[0] if ends[i].start == i else known[graph.steps[ends[i].start].inputs[0]]) * ends[
                i
            ].norm  # (2)
        else:
            # If a step sums or concatenates several branches, their Lipschitz constants are added.
            known[i] = sum(before) if len(before) > 1 else inf
    return known[len(graph.steps) - 1]


def _overlap(layer: nn.Module | None) -> float:
    """Returns the Lipschitz constant of a max-pool: the square root of the number of windows that contain an input."""
    assert isinstance(layer, nn.MaxPool1d | nn.MaxPool2d)
    axes = 1 if isinstance(layer, nn.MaxPool1d) else 2

    def each(value: Any) -> tuple[int, ...]:
        return tuple(value) if isinstance(value, tuple) else (int(value),) * axes

    windows = 1
    for kernel, stride in zip(each(layer.kernel_size), each(layer.stride), strict=True):
        windows *= -(-kernel // stride)
    return sqrt(windows)


def _chain(graph: PiecewiseLinearGraph, blocks: list[_Block]) -> tuple[float, float]:
    """Returns two bounds for a network that is a plain chain: SeqLip, and the smallest product over ways to
    split it.
    """
    plain = all(step.inputs == (i - 1,) for i, step in enumerate(graph.steps) if i)
    if not plain or any(step.kind == "max" for step in graph.steps):
        return inf, inf
    slopes = [max(graph.steps[j].slope for j in range(a.end + 1, b.start)) for a, b in pairwise(blocks)]
    runs = _runs(blocks, slopes)
    best = [1.0]
    for i, block in enumerate(blocks):
        options = [best[i] * block.norm]
        start, chain = runs[i] if i in runs else (i, None)
        for first in range(start, i):
            if chain is not None:
                options.append(best[first] * chain.seqlip(first - start, i - start))
        if chain is not None and start < i:
            options.append(best[i - 1] * chain.pair(i - 1 - start))
        best.append(min(options))  # (4)
    last = len(blocks) - 1
    whole = runs[last][1].seqlip(0, last) if last in runs and runs[last][0] == 0 else inf  # (3)
    return whole, best[-1]


def _runs(blocks: list[_Block], slopes: list[float]) -> dict[int, tuple[int, MatrixChain]]:
    """Groups consecutive blocks of layers with small matrices into chains; returns the chain of each block."""
    found: dict[int, tuple[int, MatrixChain]] = {}
    start = 0
    while start < len(blocks):
        end = start
        while end < len(blocks) and blocks[end].matrix is not None:
            end += 1
        known = [m for m in (b.matrix for b in blocks[start:end]) if m is not None]
        chain = MatrixChain(known, slopes[start : max(start, end - 1)])
        found |= {i: (start, chain) for i in range(start, end)}
        start = end + 1
    return found


def _affordable(graph: PiecewiseLinearGraph, points: Tensor, rounds: int) -> tuple[Tensor, int]:
    """Returns how many points and rounds the search for the steepest input may use within a limit on
    multiplications.
    """
    values, work = graph.values(points[:1]), 1.0
    for step, value in zip(graph.steps, values, strict=True):
        weight = getattr(step.layer, "weight", None)
        if isinstance(weight, Tensor) and weight.dim() > 1:
            work += weight.numel() * value[0].numel() / weight.shape[0]
    each = 4 * POWER_ITERATIONS * work  # Each power iteration runs one forward pass and two backward passes.
    kept = points[: max(1, int(MAX_MULTIPLICATIONS / (each * (rounds + 1))))]
    return kept, min(rounds, max(1, int(MAX_MULTIPLICATIONS / (each * len(kept)))))


def _steepest(module: nn.Module, x: Tensor, rounds: int, seed: int) -> float:
    """Searches for the input at which the network's Jacobian has the largest singular value.

    See equation (5) of the module docstring.
    """
    generator = torch.Generator().manual_seed(seed)
    points, found, width = x, _slopes(module, x), float(x.std()) if x.numel() > 1 else 1.0
    width = width or 1.0
    for k in range(rounds):
        near = width * 2.0 ** (1 - 8 * k / max(1, rounds))
        tried = points + near * torch.randn(points.shape, generator=generator, dtype=points.dtype)
        slopes = _slopes(module, tried)
        better = slopes > found
        points = torch.where(better.reshape(-1, *[1] * (x.dim() - 1)), tried, points)
        found = torch.maximum(found, slopes)
    return float(found.max())


def _slopes(module: nn.Module, x: Tensor, steps: int = POWER_ITERATIONS) -> Tensor:
    """Returns the largest singular value of the network's Jacobian at each point, by power iteration."""
    leaf = x.detach().requires_grad_()
    f = module(leaf)
    f = f.reshape(len(f), -1)
    w = torch.zeros_like(f, requires_grad=True)
    (pulled,) = torch.autograd.grad(f, leaf, w, create_graph=True)
    u = torch.ones_like(f) + torch.arange(f.shape[1], dtype=f.dtype) / (1 + f.shape[1])
    size = torch.zeros(len(x), dtype=x.dtype)
    for _ in range(steps):
        u = u / u.norm(dim=1, keepdim=True).clamp_min(1e-30)
        (v,) = torch.autograd.grad(f, leaf, u, retain_graph=True)
        size = torch.maximum(size, v.flatten(1).norm(dim=1))
        (u,) = torch.autograd.grad(pulled, w, v, retain_graph=True)
    return size


def pair_bounds(module: nn.Module, x: Tensor) -> Tensor:
    """Bounds the Lipschitz constant of the score difference f_i - f_j for all pairs of outputs, (k, k).

    Cost: as for the operator norms.

    >>> net = nn.Linear(2, 2, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.eye(2))
    >>> pair_bounds(net, torch.zeros(1, 2))
    tensor([[0.0000, 1.4142],
            [1.4142, 0.0000]], dtype=torch.float64)
    """
    copy = copy_module(module).double().eval().requires_grad_(requires_grad=False)
    point = x[:1].detach().double().cpu()
    with preserve(copy, mode=None):
        graph = read_piecewise_linear(copy, point, decisions=True)
        blocks = _blocks(graph, point)
        k = graph.values(point)[-1].shape[1]
        whole = min(_propagate(graph, blocks), *_chain(graph, blocks))
        last = blocks[-1] if blocks else None
        if last is None or last.end != len(graph.steps) - 1 or last.matrix is None:
            return torch.full((k, k), sqrt(2) * whole, dtype=torch.float64).fill_diagonal_(0)
        differences = last.matrix[:, None] - last.matrix[None]
        before = _propagate(PiecewiseLinearGraph(graph.steps[: last.start]), blocks[:-1])
        return (differences.norm(dim=2) * before).clamp(max=sqrt(2) * whole).fill_diagonal_(0)
