"""Bounds of a piecewise linear network over a region of inputs: intervals, and linear bounds passed backwards (CROWN).

Intervals go forward: through an affine step by |A|, through a relu by its ends. Linear bounds go backward: a relu-like
function with slope s below zero whose argument lies in [l, u], l < 0 < u, is between two lines,

    a z  <=  relu(z)  <=  k z + (1 - k) u,     k = (u - s l) / (u - l),   a = 1 where u > -l, else s             (1)

and a positive coefficient takes the lower line, a negative one the upper. Replacing every such function by its line
leaves one linear function of the input below each output, whose least value over the region is known.

Hypotheses: affine steps, relu, leaky relu and max-pool; eval mode.
Reference: [zhang2018efficient] for (1), [gowal2019scalable] for intervals.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.pure import evaluating, undisturbed
from gnomon.core.record import Record
from gnomon.geometry.attacks.run import check_bounds
from gnomon.geometry.attacks.threat import Threat
from gnomon.geometry.certificates.region import Region
from gnomon.geometry.graph import Graph, GraphStep, read_graph

__all__ = ["Bounds", "interval_bounds", "linear_bounds", "output_bounds"]

DEAREST = 4096
"""Open units of a step up to which each has linear bounds; above, the step keeps its intervals, or it took hours."""
NUMBERS = 2**25
"""Coefficients that are held at once."""
Box = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds(Record):
    """The least and the largest value of every output over the region of each example, (n, k).

    >>> found = Bounds(low=torch.tensor([[1.0, -1.0]]), high=torch.tensor([[2.0, 0.5]]))
    >>> bool((found.low[:, 0] > found.high[:, 1]).all())                # so class 0 wins everywhere in the region
    True
    """

    low: Tensor
    high: Tensor


def output_bounds(
    module: nn.Module, x: Tensor, eps: float, *, norm: str = "inf", bounds: tuple[float, float] = (0, 1)
) -> Bounds:
    """Bounds of the outputs within eps of each input, by linear bounds (1) passed backwards.

    Cost: one backward pass for each unit whose sign is not certain.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, -2.0]]))
    >>> found = output_bounds(net, torch.full((1, 2), 0.5), 0.1)                # affine: exact, -0.5 -+ 3 eps
    >>> round(float(found.low), 4), round(float(found.high), 4)
    (-0.8, -0.2)
    """
    call = "output_bounds(module, x, eps)"
    check_bounds(x, Threat.of(eps, norm, bounds, call), call)
    with undisturbed(module), evaluating(module):
        graph = read_graph(module, x[:1], call=call)
        region = Region.of(x, torch.full((len(x),), float(eps), dtype=x.dtype, device=x.device), norm, bounds)
        low, high = linear_bounds(graph, region)[-1]
    return Bounds(low, high)


@torch.no_grad()
def interval_bounds(graph: Graph, region: Region) -> list[Box]:
    """The box around what every step gives, step by step.

    Cost: two forward passes.

    >>> graph = read_graph(nn.ReLU(), torch.zeros(1, 1), call="f()")
    >>> region = Region.of(torch.zeros(1, 1), torch.ones(1), "inf", (-9.0, 9.0))
    >>> [float(end) for end in interval_bounds(graph, region)[-1]]
    [0.0, 1.0]
    """
    boxes: list[Box] = []
    for step in graph.steps:
        boxes.append(_forward(step, [boxes[i] for i in step.inputs], region))
    return boxes


def _forward(step: GraphStep, boxes: list[Box], region: Region) -> Box:
    if step.kind == "input":
        return region.low, region.high
    if step.kind in ("relu", "max"):
        return step.function(boxes[0][0]), step.function(boxes[0][1])
    center = step.function(*((low + high) / 2 for low, high in boxes))
    assert step.absolute is not None
    radius = step.absolute(*((high - low) / 2 for low, high in boxes))
    return center - radius, center + radius


@torch.no_grad()
def linear_bounds(graph: Graph, region: Region) -> list[Box]:
    """The box around what every step gives, those before a relu and the last one by (1), the others by intervals.

    Steps with more than 4,096 units whose sign intervals do not tell keep their intervals.

    Cost: a backward pass for each unit whose sign intervals do not tell, for every example.

    >>> graph = read_graph(nn.Linear(1, 1), torch.zeros(1, 1), call="f()")
    >>> region = Region.of(torch.zeros(1, 1), torch.ones(1), "inf", (-9.0, 9.0))
    >>> low, high = linear_bounds(graph, region)[-1]
    >>> bool(low <= high)
    True
    """
    boxes: list[Box] = []
    used = {i for step in graph.steps if step.kind in ("relu", "max") for i in step.inputs} | {len(graph.steps) - 1}
    for number, step in enumerate(graph.steps):
        box = _forward(step, [boxes[i] for i in step.inputs], region)
        boxes.append(box)
        if number in used and step.kind != "input":
            boxes[number] = _tightened(graph, region, boxes, number, last=number == len(graph.steps) - 1)
    return boxes


def _tightened(graph: Graph, region: Region, boxes: list[Box], number: int, *, last: bool) -> Box:
    low, high = (end.flatten(1).clone() for end in boxes[number])
    open_units = torch.ones(low.shape[1], dtype=torch.bool) if last else ((low < 0) & (high > 0)).any(0)
    if any(step.kind == "max" and number in step.inputs for step in graph.steps):
        open_units[:] = True
    units = open_units.nonzero()[:, 0]
    if len(units) > DEAREST and not last:
        return boxes[number]
    n, m = low.shape
    size = max(1, NUMBERS // (n * max(int(b[0][0].numel()) for b in boxes)))
    for part in units.split(size):
        rows = torch.zeros(n, len(part), m).to(low)
        rows[:, torch.arange(len(part)), part] = 1
        shape = (n, len(part), *boxes[number][0].shape[1:])
        low[:, part] = torch.maximum(low[:, part], lowest(graph, region, boxes, number, rows.reshape(shape)))
        high[:, part] = torch.minimum(high[:, part], -lowest(graph, region, boxes, number, -rows.reshape(shape)))
    shape = boxes[number][0].shape
    return low.reshape(shape), torch.maximum(low, high).reshape(shape)


@torch.no_grad()
def lowest(graph: Graph, region: Region, boxes: list[Box], number: int, rows: Tensor) -> Tensor:
    """A lower bound of <row, what a step gives> over the region, for rows (n, s, ...); (n, s)."""
    coefficients: dict[int, Tensor] = {number: rows}
    total = torch.zeros(rows.shape[:2]).to(rows)
    for i in range(number, 0, -1):
        if i not in coefficients:
            continue
        a, step = coefficients.pop(i), graph.steps[i]
        if step.kind == "affine":
            pulled, shift = _pulled(step, a, [boxes[j][0] for j in step.inputs])
        elif step.kind == "relu":
            pulled, shift = _relu(step.slope, a, boxes[step.inputs[0]])
        else:
            pulled, shift = _max(step, a, boxes[step.inputs[0]], boxes[i])
        total = total + shift
        for j, part in zip(step.inputs, pulled, strict=True):
            coefficients[j] = coefficients[j] + part if j in coefficients else part
    return total + region.least(coefficients[0]) if 0 in coefficients else total


def _pulled(step: GraphStep, a: Tensor, like: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """a A for each input, and <a, b>, of an affine step A z + b."""
    n, s = a.shape[:2]
    with torch.enable_grad():
        zeros = [torch.zeros(n * s, *v.shape[1:]).to(v).requires_grad_() for v in like]
        output = step.function(*zeros)
        pulled = torch.autograd.grad(output, zeros, a.reshape(n * s, *a.shape[2:]))
    shift = (output.detach().reshape(a.shape) * a).flatten(2).sum(2)
    return [p.reshape(n, s, *p.shape[1:]) for p in pulled], shift


def _relu(slope: float, a: Tensor, box: Box) -> tuple[list[Tensor], Tensor]:
    low, high = box[0][:, None], box[1][:, None]
    crossing = (low < 0) & (high > 0)
    k = torch.where(crossing, (high - slope * low) / (high - low).clamp_min(1e-30), torch.where(low >= 0, 1.0, slope))
    below = torch.where(crossing, torch.where(high > -low, 1.0, slope), k)
    positive, negative = a.clamp_min(0), a.clamp_max(0)
    shift = (negative * torch.where(crossing, (1 - k) * high, 0.0)).flatten(2).sum(2)
    return [positive * below + negative * k], shift  # (1)


def _max(step: GraphStep, a: Tensor, box: Box, outer: Box) -> tuple[list[Tensor], Tensor]:
    """max z_j >= z_best for the input with the largest lower end; <= its upper end, or z_best where that is certain."""
    layer = step.layer
    assert isinstance(layer, nn.MaxPool1d | nn.MaxPool2d)
    pool = nn.functional.max_pool1d if isinstance(layer, nn.MaxPool1d) else nn.functional.max_pool2d
    options = (layer.kernel_size, layer.stride, layer.padding, layer.dilation, layer.ceil_mode)
    best, index = pool(box[0], *options, return_indices=True)
    flat = box[1].flatten(2).clone()
    winner = flat.gather(2, index.flatten(2)).reshape(index.shape)
    others = _largest_other(box[1], index, pool, options)
    certain = (best >= others)[:, None]
    to_best = torch.where(certain, a, a.clamp_min(0))
    shift = (torch.where(certain, 0.0, a.clamp_max(0)) * torch.maximum(winner, others)[:, None]).flatten(2).sum(2)
    pulled = torch.zeros(*a.shape[:3], flat.shape[2]).to(a)
    spread = index.flatten(2)[:, None].expand(*a.shape[:3], -1)
    pulled.scatter_add_(3, spread, to_best.flatten(3))
    return [pulled.reshape(*a.shape[:2], *box[0].shape[1:])], shift


def _largest_other(high: Tensor, index: Tensor, pool: Any, options: tuple[Any, ...]) -> Tensor:
    """The largest upper end in each window among the inputs that are not its winner; overlapping windows are safe."""
    top, where = pool(high, *options, return_indices=True)
    masked = high.flatten(2).clone()
    masked.scatter_(2, index.flatten(2), float("-inf"))
    second = pool(masked.reshape(high.shape), *options)
    overlap = options[0] != options[1]
    return torch.where(where == index, top if overlap else second, top)
