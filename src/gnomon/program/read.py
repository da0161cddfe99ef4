"""Reading: a torch.nn.Module becomes an immutable program, and nothing in it is left unread.

The traced graph is walked once. Every node runs on the meta device, which gives its shape without arithmetic, and is
described by the table: data stay data until the first affine layer; after it each value has a layout, a source step
and a pending elementwise expression. At the end every parameter has been accounted for, or the reading fails.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call

from gnomon.core.errors import GnomonError, InputError, ReadError, lesson
from gnomon.program.builder import MONTE_CARLO, Builder
from gnomon.program.steps import Program
from gnomon.program.table import describe, name_of
from gnomon.program.trace import trace
from gnomon.program.values import Call, Fixed, Parameter, Random

BATCH = 11  # of the shape run: a prime, so that no reshape takes it for a product of other sizes


def read(module: nn.Module, example: Tensor) -> Program:
    """Turn a module into a program, given one batch of inputs (only its shape is used).

    Hypotheses: ``forward`` takes one tensor with the batch first, is traceable by torch.fx, and uses the layers of
    docs/limits.md. The module is not run on data and not changed.
    Reference: the hypotheses that errors name are those of [yang2019tensor].
    Cost: one pass over the graph on the meta device; milliseconds.

    >>> net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
    >>> print(read(net, torch.zeros(5, 3)))
    %0   = Input()  channels 3, positions -  0
    %1   = Dense(%0)  channels 64, positions -  0
    %2   = Activation(%1)  channels 64, positions -  2
    %3   = Dense(%2)  channels 1, positions -  2
    """
    graph = trace(module)
    if example.dim() < 2:
        found = f"the example has shape {tuple(example.shape)}"
        raise InputError(lesson("read(module, example)", found, "a batch of inputs", "Add the batch dimension: x[None]"))
    builder = Builder(module, graph)
    shapes: dict[fx.Node, Any] = {}
    values: dict[fx.Node, Any] = {}
    for node in graph.nodes:
        if node.op == "output":
            _finish(builder, node, values)
            break
        _visit(builder, node, example, shapes, values)
    _prove_complete(builder)
    return Program(tuple(builder.steps), type(module).__name__, tuple(example.shape[1:]))


def _visit(b: Builder, node: fx.Node, example: Tensor, shapes: dict[fx.Node, Any], values: dict[fx.Node, Any]) -> None:
    """Find the shape and the description of one node."""
    if node.op == "placeholder":
        _placeholder(b, node, example, shapes, values)
        return
    if node.op == "get_attr":
        tensor = _fetch(b.root, str(node.target))
        if not isinstance(tensor, Tensor):
            shapes[node] = values[node] = tensor
            return
        shapes[node] = tensor.to("meta")
        parameter = isinstance(tensor, nn.Parameter)
        values[node] = Parameter(str(node.target), tensor) if parameter else Fixed(node, tuple(tensor.shape))
        return
    module = b.root.get_submodule(str(node.target)) if node.op == "call_module" else None
    where = str(node.target) if module is not None else _owner(node)
    function = _function(node, module)
    shapes[node] = result = _run_shape(b, node, where, function, shapes)
    args, options = fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
    call = Call(node, name_of(node, module), where, tuple(args), dict(options), module, result)
    if not _touches_tensor(result):
        values[node] = result
        return
    values[node] = describe(b, call, function)
    if _in_place(node, module) and node.all_input_nodes:
        values[node.all_input_nodes[0]] = values[node]


def _placeholder(b: Builder, node: fx.Node, example: Tensor, shapes: dict[fx.Node, Any], values: dict[fx.Node, Any]) -> None:
    if values and any(n.op == "placeholder" for n in values) and not node.args:
        raise ReadError(
            lesson(b.call, f"forward takes a second argument '{node.target}'", "forward takes one tensor", f"Wrap the module so that it takes one tensor, {MONTE_CARLO}")
        )
    if node.args:  # an optional argument: its default
        shapes[node] = values[node] = node.args[0]
        return
    shape = (BATCH, *example.shape[1:])
    shapes[node] = torch.empty(shape, dtype=example.dtype, device="meta")
    values[node] = Fixed(node, shape)


def _function(node: fx.Node, module: nn.Module | None) -> Callable[..., Any]:
    """The node as a function of tensors, with parameters of layers on the meta device."""
    if module is not None:
        state = {k: v.to("meta") for k, v in (*module.named_parameters(), *module.named_buffers())}
        return lambda *args, **options: functional_call(module, state, args, options)
    if node.op == "call_method":
        return getattr(torch.Tensor, str(node.target))  # type: ignore[no-any-return]
    return node.target  # type: ignore[return-value]


def _run_shape(b: Builder, node: fx.Node, where: str, function: Callable[..., Any], shapes: dict[fx.Node, Any]) -> Any:
    args, options = fx.node.map_arg((node.args, node.kwargs), shapes.__getitem__)
    try:
        with torch.no_grad():
            return function(*args, **options)
    except Exception as reason:
        text = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
        sizes = [tuple(shapes[n].shape[1:]) for n in node.all_input_nodes if isinstance(shapes[n], Tensor)]
        raise InputError(
            lesson(
                b.call,
                f"'{where}' ({node.target if not isinstance(node.target, Callable) else node.name}) cannot take inputs of shape (n, {', '.join(map(str, sizes[0])) if sizes else ''}): {text}",  # type: ignore[arg-type]
                "inputs have the shape that the module takes, batch first",
                "Check the feature size and the layout of x (vectors (n, d), images (n, c, h, w))",
            )
        ) from reason


def _finish(b: Builder, node: fx.Node, values: dict[fx.Node, Any]) -> None:
    """The output must be one random tensor; what is pending there is emitted."""
    result = fx.node.map_arg(node.args[0], values.__getitem__)
    call = Call(node, "output", "output", (result,), {}, None, None)
    if isinstance(result, Fixed):
        raise ReadError(lesson(b.call, "the output does not depend on any parameter", "a random network", "Pass a module with layers"))
    if not isinstance(result, Random):
        raise ReadError(
            lesson(b.call, f"forward returns {type(result).__name__}", "forward returns one tensor", "Wrap the module so that it returns one tensor")
        )
    last = b.flush(result, call)
    if last.source != len(b.steps) - 1:  # a later step that the output does not need would be dead code
        b.steps[:] = b.steps[: last.source + 1]


def _prove_complete(b: Builder) -> None:
    """Every parameter of the module has been read by some step."""
    missing = [name for name, _ in b.root.named_parameters() if name not in b.read]
    if missing:
        raise ReadError(
            lesson(
                b.call,
                f"parameter{'s' if len(missing) > 1 else ''} {', '.join(repr(m) for m in missing[:5])} {'are' if len(missing) > 1 else 'is'} not used by forward",
                "every parameter is accounted for",
                "Delete unused layers, or pass the part of the module that is used",
            )
        )


def _fetch(root: nn.Module, path: str) -> Any:
    owner: Any = root
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


def _owner(node: fx.Node) -> str:
    """The path of the module in whose forward a function is called."""
    stack = node.meta.get("nn_module_stack")
    path = list(stack.values())[-1][0] if stack else ""
    return f"{path}:{node.name}" if path else node.name


def _touches_tensor(result: Any) -> bool:
    return isinstance(result, Tensor) or (isinstance(result, tuple | list) and any(isinstance(r, Tensor) for r in result))


def _in_place(node: fx.Node, module: nn.Module | None) -> bool:
    if module is not None:
        return bool(getattr(module, "inplace", False))
    name = getattr(node.target, "__name__", str(node.target))
    inplace = name.startswith("i") and node.target.__module__ == "_operator" if callable(node.target) else False
    return bool(node.kwargs.get("inplace")) or (name.endswith("_") and not name.endswith("__")) or inplace


__all__ = ["GnomonError", "read"]
