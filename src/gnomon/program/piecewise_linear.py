"""Converts a piecewise linear network to a list of steps: affine maps, ReLU-like functions, max-pools, sums.

Certificates, Lipschitz bounds and linear regions need to know which steps a network takes, not only what it computes.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
>>> [step.kind for step in read_piecewise_linear(net, torch.zeros(1, 2)).steps]
['input', 'affine', 'relu', 'affine']
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from gnomon.core.errors import GnomonError, InputError, UnsupportedModuleError
from gnomon.core.inputs.checks import check_weights
from gnomon.core.modules.layer_classes import LINEAR_OR_CONVOLUTION
from gnomon.core.results.record import Record
from gnomon.program.trace import attribute_at, trace

__all__ = ["PiecewiseLinearGraph", "PiecewiseLinearStep", "read_piecewise_linear"]

Kind = Literal["input", "affine", "relu", "max"]
ZERO_PRESERVING = (
    nn.Flatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.Unflatten, nn.ZeroPad2d,
)  # fmt: skip
WEIGHTED = (*LINEAR_OR_CONVOLUTION, nn.modules.batchnorm._BatchNorm)
RESHAPED: set[Any] = {torch.flatten, "flatten", "view", "reshape", torch.reshape, "squeeze", "unsqueeze", torch.squeeze,
                      torch.unsqueeze}  # fmt: skip
SHAPED: set[Any] = {
    "mean", "sum", "permute", "transpose", "contiguous", torch.mean, torch.sum, torch.permute, torch.transpose,
    F.avg_pool2d, F.adaptive_avg_pool2d, F.avg_pool1d, F.adaptive_avg_pool1d, torch.cat,
}  # fmt: skip
PLAIN: dict[Any, Any] = {
    operator.add: operator.add, torch.add: operator.add, operator.iadd: operator.add, "add": operator.add,
    "add_": operator.add, operator.sub: operator.sub, torch.sub: operator.sub, operator.isub: operator.sub,
    "sub": operator.sub, operator.mul: operator.mul, torch.mul: operator.mul, operator.imul: operator.mul,
    "mul": operator.mul, operator.truediv: operator.truediv, torch.div: operator.truediv, "div": operator.truediv,
    operator.itruediv: operator.truediv,
}  # fmt: skip
"""Arithmetic functions and the plain operators that compute them out of place."""
RELU: set[Any] = {torch.relu, F.relu, "relu", "relu_", torch.relu_}
LEAKY: set[Any] = {F.leaky_relu}
IDLE: set[Any] = {F.dropout, F.dropout1d, F.dropout2d, torch.dropout}
SOFTMAX: set[Any] = {torch.softmax, F.softmax, F.log_softmax, torch.log_softmax, "softmax", "log_softmax"}


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseLinearStep(Record):
    """One step of a piecewise linear network: its kind, its input steps, its function, and the slope of a leaky ReLU.

    ``absolute`` maps the radii of boxes around the inputs of an affine step to the radius around its output; ``layer``
    is the module of the step, if it is a module.
    """

    kind: Kind
    inputs: tuple[int, ...]
    function: Callable[..., Tensor]
    absolute: Callable[..., Tensor] | None
    slope: float
    where: str
    layer: nn.Module | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseLinearGraph(Record):
    """A piecewise linear network as a list of steps in execution order; the first is the input, the last the output."""

    steps: tuple[PiecewiseLinearStep, ...]

    def values(self, x: Tensor, last: int | None = None) -> list[Tensor]:
        """Returns the outputs of all steps of the network for inputs x, up to step number ``last``.

        >>> graph = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 2))
        >>> graph.values(torch.tensor([[-1.0, 2.0]]))[-1].tolist()
        [[0.0, 2.0]]
        """
        found: list[Tensor] = []
        for step in self.steps if last is None else self.steps[: last + 1]:
            found.append(x if step.kind == "input" else step.function(*(found[i] for i in step.inputs)))
        return found


def read_piecewise_linear(module: nn.Module, example: Tensor, *, decisions: bool = False) -> PiecewiseLinearGraph:
    """Converts a network of affine maps, ReLU, leaky ReLU and max-pool to steps; names unsupported layers in the error.

    With ``decisions`` a last softmax or log-softmax, which changes no decision and no difference of log-scores, is left
    out.

    Cost: one symbolic pass.

    >>> read_piecewise_linear(nn.Sigmoid(), torch.zeros(1, 2))
    Traceback (most recent call last):
    gnomon.core.errors.UnsupportedModuleError: 'the module' is a Sigmoid; required: a piecewise linear network...
    """
    check_weights(module)
    if not example.is_floating_point():
        fix = "Pass x.float(); for tokens pass their embeddings"
        raise InputError(f"the inputs are {example.dtype}", accepted="floating-point inputs", fix=fix)
    try:
        graph = trace(module, example)
    except GnomonError as error:
        found = f"forward cannot be traced ({str(error.__cause__ or error)[:120]})"
        raise UnsupportedModuleError(found, reason="a forward without branches on data", fix=FIX) from error
    steps: list[PiecewiseLinearStep] = []
    places: dict[fx.Node, int] = {}
    reader = _Reader(module, places)
    for node in graph.nodes:
        if node.op == "output":
            last = node.args[0]
            if not isinstance(last, fx.Node) or places.get(last) != len(steps) - 1:
                raise UnsupportedModuleError(
                    "the output is not a single tensor", reason="one tensor of scores", fix=FIX
                )
            break
        if node.op == "get_attr" or not isinstance(node.meta.get("result"), Tensor):
            continue  # No step is needed: each reshape stores its sizes, and the steps that use constants read them.
        if decisions and reader.is_softmax(node):
            places[node] = places[node.all_input_nodes[0]]
            continue
        steps.append(reader.step(node))
        places[node] = len(steps) - 1
    if sum(step.kind == "input" for step in steps) != 1:
        raise UnsupportedModuleError("forward takes several inputs", reason="one tensor of inputs", fix=FIX)
    return PiecewiseLinearGraph(tuple(steps))


FIX = (
    "Use layers such as Linear, Conv2d, ReLU and MaxPool2d; for other networks, smoothed_radius proves a robust radius"
)


class _Reader:
    """Converts each call of a traced module to a step of a piecewise linear network."""

    def __init__(self, module: nn.Module, places: dict[fx.Node, int]) -> None:
        self.module, self.places = module, places

    def is_softmax(self, node: fx.Node) -> bool:
        """Whether a graph node is a softmax over classes whose result only the network's output uses."""
        if not all(user.op == "output" for user in node.users):
            return False
        if node.op == "call_module":
            return isinstance(self.module.get_submodule(str(node.target)), nn.Softmax | nn.LogSoftmax)
        return node.target in SOFTMAX

    def step(self, node: fx.Node) -> PiecewiseLinearStep:
        inputs = tuple(self.places[n] for n in node.all_input_nodes if n in self.places)
        if node.op == "placeholder":
            return PiecewiseLinearStep("input", (), lambda x: x, None, 0.0, node.name)
        if node.op == "call_module":
            name = str(node.target)
            return _layer(self.module.get_submodule(name), inputs, name or "the module")
        return self._function(node, inputs)

    def _function(self, node: fx.Node, inputs: tuple[int, ...]) -> PiecewiseLinearStep:
        where, target = node.name, node.target
        if target in RELU:
            return PiecewiseLinearStep("relu", inputs, F.relu, None, 0.0, where)
        if target in LEAKY:
            slope = float(_argument(node, 1, "negative_slope", 0.01))
            if 0 <= slope <= 1:
                return PiecewiseLinearStep("relu", inputs, lambda x: F.leaky_relu(x, slope), None, slope, where)
        if target in (F.max_pool1d, F.max_pool2d, torch.max_pool1d, torch.max_pool2d):
            pool = _pool(node, nn.MaxPool1d if target in (F.max_pool1d, torch.max_pool1d) else nn.MaxPool2d)
            return PiecewiseLinearStep("max", inputs, pool, None, 0.0, where, pool)
        if target in IDLE:
            return PiecewiseLinearStep("affine", inputs, _same, _same, 0.0, where)
        if target in RESHAPED and len(inputs) == 1:
            shape = tuple(node.meta["result"].shape[1:])

            def reshape_rows(v: Tensor) -> Tensor:
                return v.reshape(len(v), *shape)

            return PiecewiseLinearStep("affine", inputs, reshape_rows, reshape_rows, 0.0, where)
        rows = {n.meta["result"].shape[:1] for n in (node, *node.all_input_nodes) if n is node or n in self.places}
        if target in SHAPED and len(rows) == 1:
            function = self._bind(node, target)
            return PiecewiseLinearStep("affine", inputs, function, function, 0.0, where)
        if target in PLAIN and not node.kwargs and len(node.args) == 2:
            kind, moving = PLAIN[target], [n for n in node.args if isinstance(n, fx.Node) and n in self.places]
            if kind in (operator.add, operator.sub):
                return PiecewiseLinearStep(
                    "affine", inputs, self._bind(node, kind), self._radius_of_sum(node), 0.0, where
                )
            if len(moving) == 1 and (kind is operator.mul or moving[0] is node.args[0]):
                function = self._bind(node, kind)
                return PiecewiseLinearStep("affine", inputs, function, lambda r: function(r).abs(), 0.0, where)
        name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        raise UnsupportedModuleError(f"'{where}' calls {name}", reason="a piecewise linear network", fix=FIX)

    def _bind(self, node: fx.Node, target: Any) -> Callable[..., Tensor]:
        """Returns the operation of a graph node as a function of its tensor inputs, with constants filled in."""
        moving = [n for n in dict.fromkeys(node.all_input_nodes) if n in self.places]
        fixed = {n: attribute_at(self.module, str(n.target)) for n in node.all_input_nodes if n.op == "get_attr"}
        fixed = {n: v.detach() if isinstance(v, Tensor) else v for n, v in fixed.items()}

        def run(*tensors: Tensor) -> Tensor:
            known: dict[fx.Node, Any] = {**dict(zip(moving, tensors, strict=True)), **fixed}
            args, options = fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
            if isinstance(target, str):
                return getattr(args[0], target)(*args[1:], **options)
            return target(*args, **options)

        return run

    def _radius_of_sum(self, node: fx.Node) -> Callable[..., Tensor]:
        """Returns the function that adds the interval radii (half widths) of summands; constants have radius 0."""
        moving = [n for n in dict.fromkeys(node.all_input_nodes) if n in self.places]
        counts = [sum(arg is n for arg in node.args) for n in moving]
        shape = tuple(node.meta["result"].shape[1:])

        def run(*radii: Tensor) -> Tensor:
            total = radii[0].new_zeros(len(radii[0]), *shape)
            for count, radius in zip(counts, radii, strict=True):
                total = total + count * radius
            return total

        return run


def _same(x: Tensor) -> Tensor:
    return x


def _argument(node: fx.Node, place: int, name: str, default: Any) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def _pool(node: fx.Node, kind: type[nn.MaxPool1d] | type[nn.MaxPool2d]) -> nn.Module:
    size = _argument(node, 1, "kernel_size", 2)
    names = (("stride", None), ("padding", 0), ("dilation", 1))
    stride, padding, dilation = (_argument(node, 2 + i, name, default) for i, (name, default) in enumerate(names))
    return kind(size, stride or size, padding, dilation, ceil_mode=bool(_argument(node, 5, "ceil_mode", False)))


def _layer(layer: nn.Module, inputs: tuple[int, ...], where: str) -> PiecewiseLinearStep:
    if isinstance(layer, nn.ReLU):
        return PiecewiseLinearStep("relu", inputs, F.relu, None, 0.0, where)
    if isinstance(layer, nn.LeakyReLU) or isinstance(layer, nn.PReLU) and layer.num_parameters == 1:
        slope = float(layer.negative_slope if isinstance(layer, nn.LeakyReLU) else layer.weight.detach())
        if 0 <= slope <= 1:
            return PiecewiseLinearStep("relu", inputs, lambda x: F.leaky_relu(x, slope), None, slope, where)
    if isinstance(layer, nn.MaxPool1d | nn.MaxPool2d) and not layer.return_indices:
        return PiecewiseLinearStep("max", inputs, layer, None, 0.0, where, layer)
    if isinstance(layer, ZERO_PRESERVING):
        return PiecewiseLinearStep("affine", inputs, layer, layer, 0.0, where, layer)
    zeros = getattr(layer, "padding_mode", "zeros") == "zeros" or isinstance(layer, nn.modules.conv._ConvNd)
    if isinstance(layer, WEIGHTED) and zeros:
        return PiecewiseLinearStep("affine", inputs, layer, _absolute(layer), 0.0, where, layer)
    what = f"'{where}' is a {type(layer).__name__}"
    raise UnsupportedModuleError(what, reason="a piecewise linear network", fix=FIX)


def _absolute(layer: nn.Module) -> Callable[..., Tensor]:
    """Returns the function r -> |A| r of an affine layer A x + b, which maps half widths of input intervals to output
    ones.
    """
    if isinstance(layer, nn.Linear):
        return lambda r: F.linear(r, layer.weight.abs())
    if isinstance(layer, nn.modules.conv._ConvNd):
        conv: Any = layer
        return lambda r: conv._conv_forward(r, conv.weight.abs(), None)

    def scale(r: Tensor) -> Tensor:
        zero = torch.zeros_like(r[:1])
        return r * (layer(zero + 1) - layer(zero)).abs()

    return scale
