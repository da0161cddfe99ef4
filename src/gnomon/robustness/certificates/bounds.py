"""Bounds the outputs of a piecewise linear network over a region of inputs, by intervals and linear bounds (CROWN).

Intervals go forward: through an affine step by |A|, through a relu by its ends. Linear bounds go backward: a relu-like
function with slope s below zero whose argument lies in [l, u], l < 0 < u, is between two lines,

    a z  <=  relu(z)  <=  k z + (1 - k) u,     k = (u - s l) / (u - l),   a = 1 if u > -l, else s             (1)

and a positive coefficient takes the lower line, a negative one the upper. Replacing every such function by its line
leaves one linear function of the input below each output, whose least value over the region is known.

Hypotheses: affine steps, relu, leaky relu and max-pool; eval mode.
Reference: [zhang2018efficient] for (1), [gowal2019scalable] for intervals.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import BudgetError, InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.inputs.source import all_inputs
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes, free_bytes
from gnomon.core.machine.progress import Progress
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.saved_bytes import examples_that_fit
from gnomon.core.results.record import Record
from gnomon.program.piecewise_linear import PiecewiseLinearGraph, PiecewiseLinearStep, read_piecewise_linear
from gnomon.robustness.attacks.run import check_bounds
from gnomon.robustness.attacks.threat import ThreatModel
from gnomon.robustness.certificates.backward import Box, lower_bounds
from gnomon.robustness.certificates.region import PerturbationRegion

__all__ = [
    "MAX_LINEARLY_BOUNDED_UNITS",
    "StepBounds",
    "examples_at_once",
    "interval_bounds",
    "linear_bounds",
    "output_bounds",
]

MAX_LINEARLY_BOUNDED_UNITS = 4096
"""Undecided units of a layer up to which each gets linear bounds; with more, the layer keeps its intervals."""
MAX_COEFFICIENTS = 2**22
"""Coefficients of a layer that are held at once: more do not save time."""
TABLES_IN_MEMORY = 8
"""Tables of that size in memory at once: of a layer, the previous layer, residual sums, and temporaries."""


@dataclass(frozen=True, slots=True, eq=False)
class StepBounds(Record):
    """Smallest and largest possible value of every output over the region around each example, of shape (n, k).

    >>> found = StepBounds(low=torch.tensor([[1.0, -1.0]]), high=torch.tensor([[2.0, 0.5]]))
    >>> bool((found.low[:, 0] > found.high[:, 1]).all())                # so class 0 wins everywhere in the region
    True
    """

    low: Tensor
    high: Tensor


@add_call_to_errors
def output_bounds(
    module: nn.Module,
    data: Any,
    eps: float,
    *,
    norm: str = "inf",
    bounds: tuple[float, float] = (0, 1),
    max_linear_units: int = MAX_LINEARLY_BOUNDED_UNITS,
) -> StepBounds:
    """Bounds the outputs of a network for all inputs within eps of each example, by linear bounds.

    See equation (1) of the module docstring.
    ``max_linear_units`` limits the units of undecided sign in a step that get linear bounds; a step with more keeps its
    intervals. A smaller number is faster and looser; 0 uses intervals everywhere except for the outputs.

    Hypotheses: see the module. Reference: [zhang2018efficient].
    Cost: for each example two backward passes for each unit whose sign is not certain. Memory: at most half of what is
    free, examples and units in pieces that fit. A terminal shows the progress.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0, -2.0]]))
    >>> found = output_bounds(net, torch.full((1, 2), 0.5), 0.1)                # affine: exact, -0.5 -+ 3 eps
    >>> round(float(found.low), 4), round(float(found.high), 4)
    (-0.8, -0.2)
    """
    x = all_inputs(data, module)
    if not isinstance(x, Tensor):
        raise InputError(
            "the inputs are several tensors", accepted="one tensor", fix="Wrap the module in one that takes it"
        )
    if x.is_complex():
        raise InputError("the inputs are complex", accepted="one tensor of real numbers", fix="Pass x.real")
    check_bounds(x, ThreatModel.of(eps, norm, bounds))
    max_linear_units = check_integer("max_linear_units", max_linear_units, least=0)
    with preserve(module):
        graph = read_piecewise_linear(module, x[:1])
        ends = []
        for part in x.split(examples_at_once(graph, x)):
            region = PerturbationRegion.of(part, part.new_full((len(part),), float(eps)), norm, bounds)
            ends.append(linear_bounds(graph, region, max_linear_units)[-1])
    return StepBounds(torch.cat([low for low, _ in ends]), torch.cat([high for _, high in ends]))


@torch.no_grad()
def examples_at_once(graph: PiecewiseLinearGraph, x: Tensor) -> int:
    """Returns how many examples fit in half of the free memory at once. Raises an error if none fits.

    Cost: a forward pass of one example.

    >>> examples_at_once(read_piecewise_linear(nn.ReLU(), torch.zeros(1, 1)), torch.zeros(5, 1))
    5
    """
    each = TABLES_IN_MEMORY * x.element_size() * max(value.numel() for value in graph.values(x[:1]))
    if each > SHARE_OF_FREE_MEMORY * free_bytes():
        found = f"the coefficients of one unit take {format_bytes(each)}, and {format_bytes(free_bytes())} are free"
        raise BudgetError(found, accepted="a row of coefficients that fits", fix="Pass smaller inputs")
    return examples_that_fit(each, len(x))


@torch.no_grad()
def interval_bounds(graph: PiecewiseLinearGraph, region: PerturbationRegion) -> list[Box]:
    """Returns intervals that contain the output of every layer over a region of inputs, computed layer by layer.

    Cost: two forward passes.

    >>> graph = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 1))
    >>> region = PerturbationRegion.of(torch.zeros(1, 1), torch.ones(1), "inf", (-9.0, 9.0))
    >>> [float(end) for end in interval_bounds(graph, region)[-1]]
    [0.0, 1.0]
    """
    boxes: list[Box] = []
    for step in graph.steps:
        boxes.append(_forward(step, [boxes[i] for i in step.inputs], region))
    return boxes


def _forward(step: PiecewiseLinearStep, boxes: list[Box], region: PerturbationRegion) -> Box:
    if step.kind == "input":
        return region.low, region.high
    if step.kind in ("relu", "max"):
        return step.function(boxes[0][0]), step.function(boxes[0][1])
    center = step.function(*((low + high) / 2 for low, high in boxes))
    assert step.absolute is not None
    radius = step.absolute(*((high - low) / 2 for low, high in boxes))
    return center - radius, center + radius


@torch.no_grad()
def linear_bounds(
    graph: PiecewiseLinearGraph, region: PerturbationRegion, max_linear_units: int = MAX_LINEARLY_BOUNDED_UNITS
) -> list[Box]:
    """Returns bounds of every layer's output over a region: linear bounds before a ReLU and at the end, else intervals.

    Steps with more than ``max_linear_units`` units of undecided sign keep their intervals.

    Cost: a backward pass for each unit of undecided sign, for every example.

    >>> graph = read_piecewise_linear(nn.Linear(1, 1), torch.zeros(1, 1))
    >>> region = PerturbationRegion.of(torch.zeros(1, 1), torch.ones(1), "inf", (-9.0, 9.0))
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
            last = number == len(graph.steps) - 1
            units = _undecided_units(graph, boxes, number, last=last)
            if len(units) <= max_linear_units or last:
                boxes[number] = _tighten(graph, region, boxes, number, units)
    return boxes


def _undecided_units(graph: PiecewiseLinearGraph, boxes: list[Box], number: int, *, last: bool) -> Tensor:
    """Returns the indices of units that need linear bounds, such as ReLU inputs that intervals leave undecided in
    sign.
    """
    low, high = (end.flatten(1) for end in boxes[number])
    if last or any(step.kind == "max" and number in step.inputs for step in graph.steps):
        return torch.arange(low.shape[1], device=low.device)
    return ((low < 0) & (high > 0)).any(0).nonzero()[:, 0]


def _tighten(
    graph: PiecewiseLinearGraph, region: PerturbationRegion, boxes: list[Box], number: int, units: Tensor
) -> Box:
    low, high = (end.flatten(1).clone() for end in boxes[number])
    n, m = low.shape
    memory_per_unit = n * max(int(b[0][0].numel()) for b in boxes)
    at_once = examples_that_fit(
        TABLES_IN_MEMORY * low.element_size() * memory_per_unit, max(1, MAX_COEFFICIENTS // memory_per_unit)
    )
    with Progress(len(units), f"units of step {number} of {len(graph.steps)}") as progress:
        for part in units.split(at_once):
            rows = torch.zeros(n, len(part), m).to(low)
            rows[:, torch.arange(len(part)), part] = 1
            rows = rows.reshape(n, len(part), *boxes[number][0].shape[1:])
            low[:, part] = torch.maximum(low[:, part], lower_bounds(graph, region, boxes, number, rows))
            high[:, part] = torch.minimum(high[:, part], -lower_bounds(graph, region, boxes, number, -rows))
            progress.advance(len(part))
            progress.show()
    shape = boxes[number][0].shape
    return low.reshape(shape), torch.maximum(low, high).reshape(shape)
