"""A piecewise linear network as a list of steps: affine maps, relu-like functions, max-pools, sums.

Certificates, Lipschitz bounds and linear regions need to know which steps a network takes, not only what it computes.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
>>> [step.kind for step in read_graph(net, torch.zeros(1, 2), call="certify(module, data)").steps]
['input', 'affine', 'relu', 'affine']
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from gnomon.core.errors import ReadError, lesson
from gnomon.core.record import Record

__all__ = ["Graph", "GraphStep", "read_graph"]

Kind = Literal["input", "affine", "relu", "max"]
ZERO_PRESERVING = (
    nn.Flatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.Unflatten, nn.ZeroPad2d,
)  # fmt: skip
WEIGHTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.modules.batchnorm._BatchNorm)
SHAPED: set[Any] = {torch.flatten, "flatten", "view", "reshape", "mean", "sum", "permute", "transpose", "unsqueeze",
                    "squeeze", "contiguous", torch.mean, torch.sum, F.avg_pool2d, F.adaptive_avg_pool2d}  # fmt: skip
ADDED: set[Any] = {operator.add, torch.add, operator.iadd, operator.sub, torch.sub, torch.cat, operator.mul,
                   operator.truediv, torch.mul}  # fmt: skip
RELU: set[Any] = {torch.relu, F.relu, "relu", "relu_", torch.relu_}


@dataclass(frozen=True, slots=True, eq=False)
class GraphStep(Record):
    """One step: its kind, the numbers of the steps it takes, what computes it, the slope below zero of a relu.

    ``absolute`` maps the radii of boxes around the inputs of an affine step to the radius around its output; ``layer``
    is the module of the step, where it is one.
    """

    kind: Kind
    inputs: tuple[int, ...]
    function: Callable[..., Tensor]
    absolute: Callable[..., Tensor] | None
    slope: float
    where: str
    layer: nn.Module | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Graph(Record):
    """The steps in the order in which they run; the first is the input, the last the output."""

    steps: tuple[GraphStep, ...]

    def values(self, x: Tensor) -> list[Tensor]:
        """What every step gives for x.

        >>> graph = read_graph(nn.ReLU(), torch.zeros(1, 2), call="certify(module, data)")
        >>> graph.values(torch.tensor([[-1.0, 2.0]]))[-1].tolist()
        [[0.0, 2.0]]
        """
        found: list[Tensor] = []
        for step in self.steps:
            found.append(x if step.kind == "input" else step.function(*(found[i] for i in step.inputs)))
        return found


def read_graph(module: nn.Module, example: Tensor, *, call: str) -> Graph:
    """The steps of a network of affine maps, relu, leaky relu and max-pool, in eval mode; others are refused by name.

    Cost: one symbolic pass.

    >>> read_graph(nn.Sigmoid(), torch.zeros(1, 2), call="certify(module, data)")
    Traceback (most recent call last):
    gnomon.core.errors.ReadError: certify(module, data): 'the module' is a Sigmoid [H: a piecewise linear network]...
    """
    tracer = _Tracer()
    try:
        graph = tracer.trace(module)
    except Exception as error:
        found = f"forward cannot be followed ({type(error).__name__}: {str(error)[:80]})"
        raise ReadError(lesson(call, found, "a forward without branches on data", CURE)) from error
    steps: list[GraphStep] = []
    places: dict[fx.Node, int] = {}
    for node in graph.nodes:
        if node.op == "output":
            last = node.args[0]
            if not isinstance(last, fx.Node) or places.get(last) != len(steps) - 1:
                raise ReadError(lesson(call, "the output is no single tensor", "one tensor of scores", CURE))
            break
        if node.op == "get_attr":
            continue
        steps.append(_step(node, module, places, call))
        places[node] = len(steps) - 1
    if sum(step.kind == "input" for step in steps) != 1:
        raise ReadError(lesson(call, "forward takes several inputs", "one tensor of inputs", CURE))
    return Graph(tuple(steps))


CURE = "Use smoothed_radius, which takes any model, or layers such as Linear, Conv2d, ReLU and MaxPool2d"


class _Tracer(fx.Tracer):
    """Layers of torch stay whole; all else is followed, a layer as the module itself included."""

    def trace(self, root: Any, concrete_args: Any = None) -> fx.Graph:
        if type(root).__module__.startswith("torch.nn") and not isinstance(root, nn.Sequential):
            root = nn.Sequential(root)
        self.owner = root
        return super().trace(root, concrete_args)


def _step(node: fx.Node, module: nn.Module, places: dict[fx.Node, int], call: str) -> GraphStep:
    inputs = tuple(places[n] for n in node.all_input_nodes if n in places)
    if node.op == "placeholder":
        return GraphStep("input", (), lambda x: x, None, 0.0, node.name)
    if node.op == "call_module":
        leaf = type(module).__module__.startswith("torch.nn") and not isinstance(module, nn.Sequential)
        layer = module if leaf else module.get_submodule(str(node.target))
        return _layer(layer, inputs, "the module" if leaf else str(node.target), call)
    return _function(node, inputs, call)


def _layer(layer: nn.Module, inputs: tuple[int, ...], where: str, call: str) -> GraphStep:
    if isinstance(layer, nn.ReLU):
        return GraphStep("relu", inputs, F.relu, None, 0.0, where)
    if isinstance(layer, nn.LeakyReLU):
        slope = float(layer.negative_slope)
        if 0 <= slope <= 1:
            return GraphStep("relu", inputs, lambda x: F.leaky_relu(x, slope), None, slope, where)
    if isinstance(layer, nn.MaxPool1d | nn.MaxPool2d) and not layer.return_indices:
        return GraphStep("max", inputs, layer, None, 0.0, where, layer)
    if isinstance(layer, ZERO_PRESERVING):
        return GraphStep("affine", inputs, layer, layer, 0.0, where, layer)
    zeros = getattr(layer, "padding_mode", "zeros") == "zeros" or isinstance(layer, nn.modules.conv._ConvNd)
    if isinstance(layer, WEIGHTED) and zeros:
        return GraphStep("affine", inputs, layer, _absolute(layer), 0.0, where, layer)
    what = f"'{where}' is a {type(layer).__name__}"
    raise ReadError(lesson(call, what, "a piecewise linear network", CURE))


def _absolute(layer: nn.Module) -> Callable[..., Tensor]:
    """|A| r of a layer A x + b."""
    if isinstance(layer, nn.Linear):
        return lambda r: F.linear(r, layer.weight.abs())
    if isinstance(layer, nn.modules.conv._ConvNd):
        conv: Any = layer
        return lambda r: conv._conv_forward(r, conv.weight.abs(), None)

    def scaled(r: Tensor) -> Tensor:
        zero = torch.zeros_like(r[:1])
        return r * (layer(zero + 1) - layer(zero)).abs()

    return scaled


def _function(node: fx.Node, inputs: tuple[int, ...], call: str) -> GraphStep:
    where, target = node.name, node.target
    if target in RELU:
        return GraphStep("relu", inputs, F.relu, None, 0.0, where)
    scaled = target in (operator.mul, operator.truediv, torch.mul)
    if (target in SHAPED or target in ADDED) and not (scaled and len(inputs) != 1):
        return GraphStep("affine", inputs, _called(node, inputs, 1.0), _called(node, inputs, -1.0), 0.0, where)
    name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    raise ReadError(lesson(call, f"'{where}' calls {name}", "a piecewise linear network", CURE))


def _called(node: fx.Node, inputs: tuple[int, ...], sign: float) -> Callable[..., Tensor]:
    """The function of a node of its tensor inputs; with sign -1 that of radii: differences become sums."""
    ordered = list(dict.fromkeys(node.all_input_nodes))
    subtracts = node.target in (operator.sub, torch.sub)

    def run(*values: Tensor) -> Tensor:
        known = dict(zip(ordered, values, strict=True))
        args, options = fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
        if sign < 0:
            if subtracts:
                return torch.stack(torch.broadcast_tensors(*(v for v in args if isinstance(v, Tensor)))).sum(0)
            if node.target not in SHAPED:
                args = tuple(0.0 if isinstance(a, int | float) and node.target in ADDS else _size(a) for a in args)
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **options)
        function: Any = node.target
        return function(*args, **options)

    return run


ADDS = (operator.add, operator.iadd, torch.add)


def _size(value: Any) -> Any:
    return abs(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
