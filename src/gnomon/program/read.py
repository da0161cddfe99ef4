"""Converts a torch.nn.Module to an immutable program (list of steps), and checks that every parameter is used.

The traced graph is walked once, and every node is described by the table: data stay data until the first affine layer;
after it each value has a layout, a source step and a pending elementwise expression. At the end every parameter has
been accounted for, or the reading fails.
"""

import inspect
from dataclasses import replace
from typing import Any

from torch import Tensor, fx, nn

from gnomon.core.errors import InputError, UnsupportedModuleError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_module_is_callable
from gnomon.program.builder import MONTE_CARLO, Builder
from gnomon.program.steps import Program, ProgramStep
from gnomon.program.table import describe, name_of
from gnomon.program.trace import attribute_at, function_of, trace, where
from gnomon.program.values import Call, Fixed, Parameter, Random

__all__ = ["read_program"]


@add_call_to_errors
def read_program(module: nn.Module, example: Tensor) -> Program:
    """Converts a module to a program (list of steps), given one batch of inputs, of which only the shape matters.

    Hypotheses: ``forward`` takes one tensor with the batch first, is traceable by torch.fx, and uses the layers of
    docs/limits.md. The module is not run on data and not changed.
    Reference: the hypotheses in errors come from [yang2019tensor].
    Cost: one pass over the graph on the meta device; milliseconds.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
    >>> print(read_program(net, torch.zeros(5, 3)))
    %0   = Input()  channels 3, positions -  0
    %1   = Dense(%0)  channels 64, positions -  0
    %2   = Activation(%1)  channels 64, positions -  1
    %3   = Dense(%2)  channels 1, positions -  2
    """
    check_module_is_callable(module)
    if not isinstance(example, Tensor):
        example = as_numbers(example, "the example")
    if example.dim() < 2:
        found = f"the example has shape {tuple(example.shape)}"
        raise InputError(found, accepted="a batch of inputs", fix="Add the batch dimension: x[None]")
    _check_arguments(module)
    graph = trace(module, example)
    builder = Builder(module, graph)
    values: dict[fx.Node, Any] = {}
    for node in graph.nodes:
        match node.op:
            case "placeholder":
                values[node] = _placeholder(builder, node, values)
            case "get_attr":
                values[node] = _attribute(builder, node)
            case "output":
                _finish(builder, node, values)
            case _:
                _visit(builder, node, values)
    _prove_complete(builder)
    return Program(_needed_steps(builder.steps), type(module).__name__, tuple(example.shape[1:]), tuple(builder.notes))


def _visit(b: Builder, node: fx.Node, values: dict[fx.Node, Any]) -> None:
    """Converts one call of the traced module to program steps and stores its result."""
    module = b.root.get_submodule(str(node.target)) if node.op == "call_module" else None
    args, options = fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
    result = node.meta["result"]
    call = Call(node, name_of(node, module), where(node), tuple(args), dict(options), module, result)
    if not _is_tensor(result):
        values[node] = result
        return
    values[node] = describe(b, call, function_of(node, b.root))
    if _in_place(node, module) and node.all_input_nodes:
        values[node.all_input_nodes[0]] = values[node]


def _placeholder(b: Builder, node: fx.Node, values: dict[fx.Node, Any]) -> Any:
    if values and node.args:  # An optional argument of the module's forward keeps its default.
        return node.args[0]
    return Fixed(node, tuple(node.meta["result"].shape))


def _check_arguments(module: nn.Module) -> None:
    """Raises an error unless the module's forward takes one tensor and its other arguments have defaults."""
    try:
        asked = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        return
    needed = [p.name for p in asked if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    leaf = type(module).__module__.startswith("torch.nn")  # Layers of torch.nn report missing arguments on their own.
    if len(needed) > 1 and not leaf:
        graph = any(word in needed[1] for word in ("edge", "adj", "graph", "matrix"))
        fix = (
            "Fix the graph: gnomon.models.ModuleOnGraph(net, graph)" if graph else "Wrap it so that it takes one tensor"
        )
        found = f"forward takes a second argument '{needed[1]}'"
        raise UnsupportedModuleError(found, reason="forward takes one tensor", fix=f"{fix}, {MONTE_CARLO}")


def _attribute(b: Builder, node: fx.Node) -> Any:
    value = attribute_at(b.root, str(node.target))
    if isinstance(value, nn.Parameter):
        return Parameter(str(node.target), value)
    return Fixed(node, tuple(value.shape)) if isinstance(value, Tensor) else value


def _finish(b: Builder, node: fx.Node, values: dict[fx.Node, Any]) -> None:
    """Checks that the module's output is one tensor that depends on parameters, and adds the last program step."""
    result = fx.node.map_arg(node.args[0], values.__getitem__)
    if isinstance(result, Fixed):
        found = "the output does not depend on any parameter"
        raise UnsupportedModuleError(found, reason="a random network", fix="Pass a module with Linear or Conv layers")
    if not isinstance(result, Random):
        found = f"forward returns a {type(result).__name__}"
        raise UnsupportedModuleError(
            found, reason="forward returns one tensor", fix="Wrap the module so that it returns one tensor"
        )
    last = b.flush(result, Call(node, "output", "output", (result,), {}, None, None))
    del b.steps[last.source + 1 :]


def _needed_steps(steps: list[ProgramStep]) -> tuple[ProgramStep, ...]:
    """Returns only the program steps on which the last step depends, with new indices."""
    needed = {len(steps) - 1}
    for i in range(len(steps) - 1, -1, -1):
        if i in needed:
            needed.update(steps[i].inputs)
    place = {old: new for new, old in enumerate(sorted(needed))}
    return tuple(replace(steps[i], inputs=tuple(place[j] for j in steps[i].inputs)) for i in sorted(needed))


def _prove_complete(b: Builder) -> None:
    """Raises an error unless every parameter of the module is used by a program step."""
    missing = [name for name, _ in b.root.named_parameters() if name not in b.read]
    if missing:
        raise UnsupportedModuleError(
            f"forward does not use the parameters {', '.join(repr(m) for m in missing[:5])}",
            reason="forward uses every parameter",
            fix="Delete unused layers, or pass the submodule that is used",
        )


def _is_tensor(result: Any) -> bool:
    several = isinstance(result, tuple | list) and any(isinstance(r, Tensor) for r in result)
    return isinstance(result, Tensor) or several


def _in_place(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a traced call overwrites its first argument, such as relu_(), x += y, or nn.ReLU(inplace=True)."""
    if module is not None:
        return bool(getattr(module, "inplace", False))
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    augmented = getattr(node.target, "__module__", "") == "_operator" and name in ("iadd", "isub", "imul", "itruediv")
    return bool(node.kwargs.get("inplace")) or (name.endswith("_") and not name.endswith("__")) or augmented
