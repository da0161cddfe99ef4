"""Collects the program steps of a module, the parameters used so far, and which branches are independent.

Cross-covariances of two branches A and B vanish when a sign flip of A's last affine layers turns A into -A and
leaves B alone (or the other way round): the layers in ``tails`` of A are none of the ``layers`` that B went through.
"""

import copy
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.utils.parametrize import is_parametrized

from gnomon.core.errors import NoLimitError, UnsupportedModuleError
from gnomon.program import layout as lay
from gnomon.program.expression import Variable, words
from gnomon.program.linear import slope_and_intercept
from gnomon.program.steps import (
    Activation,
    Concat,
    Conv,
    ConvolutionWindow,
    DataPositionMap,
    Dense,
    DeterministicAttention,
    FixedPositionMap,
    Input,
    MultiheadAttention,
    Op,
    ProgramStep,
    Recurrence,
    Reorder,
    SharedWeightMap,
    Sum,
)  # fmt: skip
from gnomon.program.trace import attribute_at
from gnomon.program.values import Call, Fixed, Random, Value

TAKEN = ("graph", "code")
"""Attribute names that a traced module uses itself."""
MONTE_CARLO = "or estimate it: gnomon.sampled_limit(net, draws=64)"


@dataclass(slots=True)
class Builder:
    """Collects the program steps while a module is converted."""

    root: nn.Module
    graph: fx.Graph
    steps: list[ProgramStep] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)
    layers: list[frozenset[str]] = field(default_factory=list)
    tails: list[frozenset[str] | None] = field(default_factory=list)
    inputs: dict[tuple[fx.Node, int, ConvolutionWindow | None], int] = field(default_factory=dict)
    flushed: dict[tuple[Any, ...], list[tuple[Any, Random]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def emit(self, op: Op, inputs: tuple[int, ...], where: str, layout: lay.Layout, *, gaussian: bool) -> Random:
        """Adds a step to the program and returns the output of the step as a traced tensor."""
        self.steps.append(ProgramStep(op, inputs, where, lay.grid(layout), lay.channels(layout), gaussian))
        before = frozenset[str]().union(*(self.layers[i] for i in inputs))
        tails: frozenset[str] | None
        if isinstance(op, Dense | Conv | SharedWeightMap):
            self.layers.append(before | {op.weights.path})
            tails = frozenset({op.weights.path})
        else:
            self.layers.append(before | {op.weights.path} if isinstance(op, Recurrence) else before)
            nonlinear = isinstance(op, Input | Recurrence) or (
                isinstance(op, Activation) and slope_and_intercept(op.expression) is None
            )
            shifted = isinstance(op, Activation) and (slope_and_intercept(op.expression) or (1.0, 0.0))[1] != 0.0
            # An operation on data positions or an attention is linear only in its first input, so only this input is
            # checked.
            odd = (
                inputs[:1] if isinstance(op, DataPositionMap | DeterministicAttention | MultiheadAttention) else inputs
            )
            parts = [self.tails[i] for i in odd]
            if nonlinear or shifted or any(p is None for p in parts):
                tails = None
            else:
                tails = frozenset[str]().union(*(p for p in parts if p is not None))
        self.tails.append(tails)
        return Random(len(self.steps) - 1, layout)

    def account(self, path: str, where: str) -> None:
        """Records that a parameter is used at ``where``; raises an error if it was used before (shared weights)."""
        owner, _, own_name = path.rpartition(".")
        named = []
        # Names are checked first, because reading a parametrized weight, such as spectral norm, would run a power
        # iteration.
        if not is_parametrized(self.root.get_submodule(owner), own_name):
            tensor = attribute_at(self.root, path)
            # Modules with tied weights share one tensor, which has one name only.
            named = [name for name, p in self.root.named_parameters() if p is tensor]
        if not named:
            found = f"'{path}' is computed from other parameters (weight_norm, spectral_norm, parametrize)"
            fix = f"Remove the reparametrization, {MONTE_CARLO}"
            raise NoLimitError(found, reason="every weight is itself a parameter", fix=fix)
        path = named[0]
        if path in self.read:
            raise NoLimitError(
                f"parameter '{path}' is used at '{self.read[path]}' and again at '{where}'",
                reason="independent weights in every layer: no weight sharing across depth",
                fix=f"Give each use its own parameters, {MONTE_CARLO}",
            )
        self.read[path] = where

    @property
    def batch(self) -> int:
        """The batch size with which the module was traced."""
        return int(next(n.meta["result"].shape[0] for n in self.graph.nodes if n.op == "placeholder"))

    @property
    def call(self) -> str:
        """The call that error messages mention, such as "read(MyNetwork)"."""
        return f"read({type(self.root).__name__})"

    def refuse(self, call: Call, found: str, hypothesis: str, fix: str) -> NoLimitError:
        """Returns the error for a layer without closed-form infinite-width limit, with the violated assumption and a
        fix.
        """
        return NoLimitError(f"'{call.where}' ({call.name}) {found}", reason=hypothesis, fix=f"{fix}, {MONTE_CARLO}")

    def unread(self, call: Call, found: str) -> UnsupportedModuleError:
        """Returns the error for a layer that gnomon does not support."""
        return UnsupportedModuleError(
            f"'{call.where}' ({call.name}) {found}",
            reason="every node of the module is understood",
            fix=f"Rewrite it with the layers of docs/limits.md, {MONTE_CARLO}",
        )

    def enter(
        self,
        value: Fixed,
        channel: int,
        where: str,
        window: ConvolutionWindow | None = None,
        layout: lay.Layout | None = None,
    ) -> Random:
        """Adds a program step that makes data the input of a layer with weights, as channels or as patches."""
        key = (value.node, channel, window)
        layout = layout or lay.standard(value.shape, channel)
        if key not in self.inputs:
            function = extract(self.root, self.graph, value.node)
            self.inputs[key] = self.emit(Input(function, channel, window), (), where, layout, gaussian=False).source
        return Random(self.inputs[key], layout)

    def flush(self, value: Random, call: Call) -> Random:
        """Adds a program step for pending elementwise functions of a traced tensor, and returns the output of the
        step.
        """
        if isinstance(value.expression, Variable):
            return value
        key = (value.source, value.layout, value.trainable)
        for expression, made in self.flushed.get(key, ()):
            # Reuses the step of an equal value, so that sums of both are recognized as sums of the same branch.
            if expression is value.expression:
                return made
        made = self._flush(value, call)
        self.flushed.setdefault(key, []).append((value.expression, made))
        return made

    def _flush(self, value: Random, call: Call) -> Random:
        source = self.steps[value.source]
        straight = slope_and_intercept(value.expression)
        linear = straight is not None
        if not linear and isinstance(source.op, Concat):
            return self._through_concat(value, call)
        if not linear and not source.gaussian:
            raise self.refuse(
                call,
                f"needs {words(value.expression)} of the output of '{source.where}' ({type(source.op).__name__}), "
                "which is not Gaussian",
                "affine-before-activation: every nonlinearity receives sums of many independent units",
                "Put a Linear or Conv layer between them"
                if source.op.__class__ is not Input
                else "Apply that function to the data beforehand",
            )
        op = Activation(value.expression, value.trainable)
        if straight is not None and straight[1] != 0.0 and self.tails[value.source] is None:
            raise self.refuse(
                call,
                f"adds a constant to the output of '{source.where}', whose mean is not zero",
                "constants are added to centered channels: the output of affine layers",
                "Put the constant into the activation, or after a Linear or Conv layer",
            )
        centered = straight is not None and straight[1] == 0.0
        return self.emit(
            op, (value.source,), value.where or call.where, value.layout, gaussian=centered and source.gaussian
        )

    def _through_concat(self, value: Random, call: Call) -> Random:
        """Applies an activation to each branch of a concatenation of channels, and concatenates the results."""
        step = self.steps[value.source]
        parts = []
        for i in step.inputs:
            layout = lay.with_channels(value.layout, self.steps[i].channels)
            parts.append(self.flush(replace(value, source=i, layout=layout), call).source)
        return self.emit(step.op, tuple(parts), call.where, value.layout, gaussian=False)

    def settle(self, value: Random, layout: lay.Layout, where: str, index: Tensor | None = None) -> Random:
        """Returns a traced tensor in another layout, with an additional program step if positions move."""
        source = self.steps[value.source]
        if index is None and lay.grid(layout) == source.grid:
            return replace(value, layout=layout)
        if index is None:
            index = torch.arange(_size(source.grid))
        if isinstance(
            source.op, Concat
        ):  # Concatenated parts are moved one by one, so that a later activation still sees that they were concatenated
            parts = []
            for i in source.inputs:
                size = self.steps[i].channels
                part = Random(i, lay.with_channels(value.layout, size))
                parts.append(self.settle(part, lay.with_channels(layout, size), where, index).source)
            moved = self.emit(source.op, tuple(parts), where, layout, gaussian=False)
        else:
            moved = self.emit(
                Reorder(index, lay.grid(layout)), (value.source,), where, layout, gaussian=source.gaussian
            )
        return replace(value, source=moved.source, layout=layout)

    def combine(self, terms: list[tuple[float, Random]], call: Call) -> Random:
        """Adds a program step that sums branches; equal branches are merged, different ones must be uncorrelated."""
        total: dict[int, float] = {}
        for coefficient, value in terms:
            step = self.steps[value.source]
            inner = (
                zip(step.op.coefficients, step.inputs, strict=True)
                if isinstance(step.op, Sum)
                else ((1.0, value.source),)
            )
            for weight, source in inner:
                total[source] = total.get(source, 0.0) + coefficient * weight
        self._join_mixes(total, call)
        sources = tuple(total)
        self.require_uncorrelated(sources, call)
        gaussian = all(self.steps[s].gaussian for s in sources)
        layout = terms[0][1].layout
        return self.emit(Sum(tuple(total.values())), sources, call.where, layout, gaussian=gaussian)

    def _join_mixes(self, total: dict[int, float], call: Call) -> None:
        """Merges a h + b M h into one linear map a I + b M of the nodes or pixels of h, as in graph networks with
        self-loops.
        """
        groups: dict[tuple[int, int], list[int]] = {}
        for source in total:
            step = self.steps[source]
            if isinstance(step.op, FixedPositionMap) and self.steps[step.inputs[0]].grid == step.grid:
                axes = [i for i, m in enumerate(step.op.matrices) if m is not None]
                if len(axes) == 1:
                    groups.setdefault((step.inputs[0], axes[0]), []).append(source)
        for (base, axis), members in groups.items():
            if len(members) + (base in total) < 2:
                continue
            size = self.steps[base].grid[axis]
            joined = total.pop(base, 0.0) * torch.eye(size, dtype=torch.float64)
            for source in members:
                op = self.steps[source].op
                matrix = op.matrices[axis] if isinstance(op, FixedPositionMap) else None
                assert matrix is not None  # Every step in this group of positions has a matrix.
                joined = joined + total.pop(source) * matrix.double()
            step = self.steps[members[0]]
            matrices = tuple(joined if i == axis else None for i in range(len(step.grid)))
            self.steps.append(replace(step, op=FixedPositionMap(matrices), inputs=(base,), where=call.where))
            self.layers.append(self.layers[base])
            self.tails.append(self.tails[base])
            total[len(self.steps) - 1] = 1.0

    def require_uncorrelated(self, sources: tuple[int, ...], call: Call) -> None:
        """Raises an error unless the outputs of every two of these program steps are proven to be uncorrelated."""
        for a, b in combinations(sources, 2):
            if not self._are_uncorrelated(a, b):
                raise self.refuse(
                    call,
                    f"joins the outputs of '{self.steps[a].where}' and '{self.steps[b].where}', which are correlated",
                    "independent-branches: of two branches one ends in an affine layer that the other has not passed",
                    "End one branch with its own Linear or Conv layer",
                )

    def _are_uncorrelated(self, a: int, b: int) -> bool:
        return any(
            self.tails[i] is not None and not (self.tails[i] or frozenset()) & self.layers[j]
            for i, j in ((a, b), (b, a))
        )


def constant(value: Value, root: nn.Module) -> float | None:
    """Returns the number that a traced value holds if the value is a buffer with one element; None otherwise."""
    if isinstance(value, Fixed) and value.node.op == "get_attr":
        tensor = attribute_at(root, str(value.node.target))
        return float(tensor) if isinstance(tensor, Tensor) and tensor.numel() == 1 else None
    return None


def varies(value: Fixed) -> bool:
    """Whether a traced value without parameters is computed from the data, and not only from constants."""
    todo, seen = [value.node], set[fx.Node]()
    while todo:
        node = todo.pop()
        if node.op == "placeholder":
            return True
        if node not in seen:
            seen.add(node)
            todo.extend(node.all_input_nodes)
    return False


def constant_value(b: Builder, value: Fixed) -> Tensor:
    """Returns the tensor to which a traced value evaluates for every input, dense and in float64."""
    like = next(n.meta["result"] for n in b.graph.nodes if n.op == "placeholder")
    with torch.no_grad():
        found: Tensor = extract(b.root, b.graph, value.node)(torch.zeros(like.shape, dtype=like.dtype))
    return (found.to_dense() if found.layout is not torch.strided else found).double().detach()


def _size(grid: tuple[int, ...]) -> int:
    return int(torch.Size(grid).numel())


def extract(root: nn.Module, graph: fx.Graph, target: fx.Node) -> fx.GraphModule:
    """Returns a module that computes one node of a torch.fx graph from the network's inputs."""
    needed = {target}
    for node in reversed(graph.nodes):
        if node in needed:
            needed.update(node.all_input_nodes)
    part = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        if node in needed or node.op == "placeholder":
            copies[node] = part.node_copy(node, copies.__getitem__)
    part.output(copies[target])
    held: nn.Module | dict[str, Any] = root
    # fx.GraphModule itself has an attribute of such a name, for example "graph", so all names get the prefix "held.".
    if any(node.op == "get_attr" and node.target in TAKEN for node in part.nodes):
        held = {}
        for node in part.nodes:
            if node.op in ("get_attr", "call_module"):
                found = attribute_at(root, str(node.target))
                node.target = f"held.{node.target}"
                held[node.target] = found
    # A copy becomes float64, so that the buffers of the user's module keep their dtype.
    return copy.deepcopy(fx.GraphModule(held, part)).double()
