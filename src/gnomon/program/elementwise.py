"""Converts elementwise calls to program steps; consecutive calls on one tensor merge into one expression."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.core.errors import NoLimitError
from gnomon.program import layout as lay
from gnomon.program.branches import add
from gnomon.program.builder import Builder, constant
from gnomon.program.expression import Apply, Expression
from gnomon.program.linear import slope_and_intercept
from gnomon.program.mixing import scale_by_data
from gnomon.program.steps import TrainableActivationParameter
from gnomon.program.tokens import position_table
from gnomon.program.values import Call, Fixed, Parameter, Random

COMPARISONS = frozenset("eq ne ge gt le lt logical_and logical_or logical_not".split())
ARITHMETIC = frozenset("add sub mul div neg rsub".split())

FUNCTIONS = frozenset(
    """abs acos acosh arctan asin asinh atan atanh celu clamp clamp_max clamp_min clip cos cosh digamma elu eq erf erfc
    erfinv exp exp2 expm1 fix floor frac ge gelu gt hardshrink hardsigmoid hardswish hardtanh heaviside le leaky_relu
    lgamma log log10 log1p log2 logical_and logical_not logical_or logsigmoid lt maximum minimum mish nan_to_num ne
    positive pow reciprocal relu relu6 round rrelu rsqrt selu sgn sigmoid sign silu sin sinc sinh softplus softshrink
    softsign sqrt square tan tanh tanhshrink threshold trunc where xlogy""".split()
)

MODULES: tuple[type[nn.Module], ...] = (
    nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.LeakyReLU, nn.LogSigmoid,
    nn.Mish, nn.RReLU, nn.ReLU, nn.ReLU6, nn.SELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.Softshrink, nn.Softsign,
    nn.Tanh, nn.Tanhshrink, nn.Threshold,
)  # fmt: skip

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "neg": torch.neg, "pow": torch.pow,
}  # fmt: skip


def elementwise(b: Builder, call: Call) -> Random | Fixed:
    """Converts a call of a function that acts on each entry separately, or arithmetic between branches."""
    random = [a for a in _operands(call) if isinstance(a, Random)]
    parameters = [a for a in _operands(call) if isinstance(a, Parameter)]
    if not random and not parameters:
        return _of_data(b, call)
    if parameters:
        return _with_parameter(b, call)
    call = _inline_constants(b, call)
    fixed = [a for a in _operands(call) if isinstance(a, Fixed)]
    one_source = all(r.source == random[0].source and r.layout == random[0].layout for r in random)
    if one_source and not fixed:
        trainable = _merge(b, call, random)
        return Random(random[0].source, random[0].layout, _tree(call), trainable, call.where)
    if call.name in ("add", "sub"):
        return add(b, call)
    times = call.name == "mul" or (call.name == "div" and call.args[0] is random[0])
    if times and len(random) == 1 == len(fixed):
        made = scale_by_data(b, call, random[0], fixed[0], inverse=call.name == "div")
        if made is not None:
            return made
    raise b.refuse(
        call,
        f"combines {len(random) + len(fixed)} different branches by '{call.name}'",
        "branches are added or concatenated; products and other functions of several branches are not Gaussian",
        "Write the network without that product",
    )


def activation_module(b: Builder, call: Call) -> Random | Fixed:
    """Converts an activation module of torch.nn to its functional form."""
    assert call.module is not None
    if isinstance(call.module, nn.RReLU) and call.module.training:
        raise b.refuse(
            call,
            "draws random slopes at every call in training mode",
            "the network is a function of its input",
            "Call net.eval(); then the slope is the mean of both bounds",
        )
    name, options = _functional(call.module)
    return elementwise(b, Call(call.node, name, call.where, call.args, options, None, call.result))


def prelu(b: Builder, call: Call) -> Random:
    """Converts nn.PReLU, a leaky ReLU with a trainable slope, to an activation expression."""
    module, value = call.module, call.args[0]
    assert isinstance(module, nn.PReLU)
    slope = uniform(b, call, module.weight, "slope")
    path = f"{call.where}.weight"
    b.account(path, call.where)
    if isinstance(value, Fixed):
        raise _nonlinear_data(b, call)
    value = b.flush(value, call)
    tree = Apply("leaky_relu", torch.nn.functional.leaky_relu, (value.expression,), (("negative_slope", slope),))
    trainable = (TrainableActivationParameter(path, "slope"),) if module.weight.requires_grad else ()
    return b.flush(Random(value.source, value.layout, tree, trainable, call.where), call)


def gain(
    b: Builder,
    call: Call,
    value: Random,
    scale: float,
    shift: float,
    trainable: tuple[TrainableActivationParameter, ...],
) -> Random:
    """Converts scale * x + shift with trainable parameters to an expression that becomes part of the next
    activation.
    """
    biases = all(t.kind == "bias" for t in trainable) and scale == 1.0
    # A bias that directly follows its gain becomes part of the same expression.
    joins = biases and bool(value.trainable) and slope_and_intercept(value.expression) is not None
    if not joins:
        value = b.flush(value, call)
    tree: Expression = Apply("mul", torch.mul, (value.expression, scale))
    if shift != 0.0:
        tree = Apply("add", torch.add, (tree, shift))
    slope = (slope_and_intercept(tree) or (1.0, 0.0))[0]
    records = value.trainable + tuple(replace(t, scale=slope) for t in trainable)
    result = Random(value.source, value.layout, tree, records, call.where)
    return b.flush(result, call) if slope == 0.0 else result


def _with_parameter(b: Builder, call: Call) -> Random:
    """Converts x * g and x + b to a trainable gain or bias, if all entries of the parameter g or b are equal."""
    pair = call.args[:2]
    random = next((a for a in pair if isinstance(a, Random)), None)
    parameter = next((a for a in pair if isinstance(a, Parameter)), None)
    if random is None or parameter is None or call.name not in ("mul", "add"):
        raise b.unread(call, "computes with a parameter in a way that is neither an affine layer nor a gain")
    if lay.shape_of(random.layout) != call.shape:
        raise b.unread(call, "broadcasts a value against a larger parameter")
    positions = prod_positions(parameter.tensor, random)
    if call.name == "add" and positions > 1 and not is_uniform(parameter.tensor):
        random = b.flush(random, call)
        branch = position_table(b, call, parameter, positions, lay.channels(random.layout))
        return add(b, Call(call.node, "add", call.where, (random, branch), {}, None, call.result))
    value = uniform(b, call, parameter.tensor, "gain or bias")
    b.account(parameter.path, call.where)
    kind: Literal["gain", "bias"] = "gain" if call.name == "mul" else "bias"
    trained = (TrainableActivationParameter(parameter.path, kind, shared=positions == 1),)
    scale, shift = (value, 0.0) if kind == "gain" else (1.0, value)
    return gain(b, call, random, scale, shift, trained if parameter.tensor.requires_grad else ())


def prod_positions(tensor: Tensor, value: Random) -> int:
    """Returns for how many positions (pixels, tokens) an elementwise parameter has entries of its own."""
    channel = lay.channel_dimension(value.layout)
    rank = len(value.layout)
    sizes = [1] * (rank - tensor.dim()) + list(tensor.shape)
    return int(torch.Size(s for i, s in enumerate(sizes) if i != channel).numel())


def uniform(b: Builder, call: Call, tensor: Tensor, what: str) -> float:
    """Returns the common value of all entries of a parameter; raises an error if entries differ."""
    first = float(tensor.detach().reshape(-1)[0])
    if not is_uniform(tensor):
        raise b.refuse(
            call,
            f"has a {what} that differs between channels",
            "channels are exchangeable: equal elementwise parameters at initialization",
            "Read the freshly constructed module",
        )
    return first


def is_uniform(tensor: Tensor) -> bool:
    """Whether all entries of a tensor are equal."""
    flat = tensor.detach().reshape(-1)
    return bool((flat == flat[0]).all())


def _of_data(b: Builder, call: Call) -> Fixed:
    """Converts a call on data without parameters: linear functions and masks are allowed, nonlinear functions raise an
    error.
    """
    # Integer tensors, such as lengths and token ids, may go through any function.
    counts = isinstance(call.result, Tensor) and not call.result.is_floating_point()
    if call.name not in ARITHMETIC and call.name not in COMPARISONS and not counts:
        raise _nonlinear_data(b, call)
    return Fixed(call.node, call.shape)


def _nonlinear_data(b: Builder, call: Call) -> NoLimitError:
    return b.refuse(
        call,
        "is a nonlinearity applied to the data, before any affine layer",
        "affine-before-activation: every nonlinearity receives sums of many independent units",
        "Put a Linear or Conv layer before it, or apply it to the data yourself and pass the result",
    )


def _merge(b: Builder, call: Call, random: list[Random]) -> tuple[TrainableActivationParameter, ...]:
    """Returns the trainable parameters that all operands of an elementwise call share; raises an error if they
    differ.
    """
    held = [r for r in random if r.trainable]
    if not held:
        return ()
    if all(r.trainable == held[0].trainable for r in random):
        return held[0].trainable  # All parts are functions of one g u + b, as in x * sigmoid(x) after a normalization.
    raise b.unread(call, "uses a trainable gain and the same branch without it in one elementwise function")


def _operands(call: Call) -> list[Any]:
    return [*call.args, *call.options.values()]


def _inline_constants(b: Builder, call: Call) -> Call:
    """Returns a traced call in which buffers with one element are replaced by numbers."""

    def value(a: Any) -> Any:
        number = constant(a, b.root) if isinstance(a, Fixed) else None
        return a if number is None else number

    args = tuple(value(a) for a in call.args)
    options = {k: value(v) for k, v in call.options.items()}
    return Call(call.node, call.name, call.where, args, options, call.module, call.result)


def _tree(call: Call) -> Apply:
    args = tuple(a.expression if isinstance(a, Random) else a for a in call.args)
    name, options = call.name, {k: v for k, v in call.options.items() if k not in ("inplace", "out")}
    if name == "rsub":
        name, args = "sub", (args[1], args[0])
    function = _OPERATORS.get(name) or _resolve(name)
    return Apply(name, function, args, tuple(sorted(options.items())))


def _resolve(name: str) -> Callable[..., Any]:
    for home in (torch, torch.nn.functional, operator, torch.Tensor):
        if hasattr(home, name):
            return getattr(home, name)
    raise KeyError(name)


def _functional(module: nn.Module) -> tuple[str, dict[str, Any]]:
    """Returns the name and options of the function that an activation module computes."""
    match module:
        case nn.RReLU():  # in eval mode
            return "leaky_relu", {"negative_slope": (module.lower + module.upper) / 2}
        case nn.LeakyReLU():
            return "leaky_relu", {"negative_slope": module.negative_slope}
        case nn.ELU() | nn.CELU():
            return type(module).__name__.lower(), {"alpha": module.alpha}
        case nn.GELU():
            return "gelu", {"approximate": module.approximate}
        case nn.Softplus():
            return "softplus", {"beta": module.beta, "threshold": module.threshold}
        case nn.Hardshrink() | nn.Softshrink():
            return type(module).__name__.lower(), {"lambd": module.lambd}
        case nn.Threshold():
            return "threshold", {"threshold": module.threshold, "value": module.value}
        case nn.ReLU6():
            return "relu6", {}
        case nn.Hardtanh():
            return "hardtanh", {"min_val": module.min_val, "max_val": module.max_val}
        case _:
            return type(module).__name__.lower(), {}
