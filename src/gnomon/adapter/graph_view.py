"""Wraps graph networks so that the batch dimension of inputs and outputs counts graphs, or the nodes of one large
graph.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter.graphs import (
    EDGE_COUNT,
    NODE_COUNT,
    GraphAttributeRoles,
    GraphBatch,
    attribute_roles,
    join_graphs,
    list_graphs,
    node_mask,
    pad_graphs,
    pad_rows,
)
from gnomon.adapter.losses import IGNORED_LABEL
from gnomon.adapter.typed_graphs import adapt_typed_graph
from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve

__all__ = ["adapt_graph_network"]

NODE = "node"
"""Name of the input that holds the number of each node."""
FEATURES = "x"
"""Attribute with the features of nodes, as in PyTorch Geometric."""


class ReadBatch(GraphBatch):
    """A batch of graphs that records which of its attributes the network reads."""

    def __init__(self, batch: GraphBatch) -> None:
        super().__init__(batch)
        object.__setattr__(self, "read", set())

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getattr__(name)

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.read.add(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an attribute of the batch of graphs by name, or the default if the batch has no such attribute."""
        return self[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        self.read.update(self.keys())
        return super().__iter__()

    def items(self) -> Any:
        """Returns names and values of all attributes of the batch of graphs."""
        self.read.update(self.keys())
        return super().items()


class GraphView(ModuleView):
    """Wraps a graph network: takes zero-padded graphs and returns one row of outputs per graph."""

    def __init__(self, module: nn.Module, roles: GraphAttributeRoles) -> None:
        super().__init__(module)
        self.roles = roles

    def forward(self, **padded: Tensor) -> Tensor:
        """Runs the wrapped network on zero-padded graphs; returns one row per graph: its output, or the padded outputs
        of its nodes.
        """
        counts = padded[NODE_COUNT]
        found = output_tensor(_call(self.module_of_view, join_graphs(padded, self.roles)))
        if len(found) == len(counts):
            return found
        mask = node_mask(counts, _most_nodes(padded, self.roles))
        rows = found.new_zeros(*mask.shape, *found.shape[1:])
        return rows.masked_scatter(mask.reshape(*mask.shape, *(1,) * (rows.dim() - 2)), found)


class NodeView(ModuleView):
    """Wraps a graph network for one large graph so that each node is an example: takes indices and features of nodes,
    returns their outputs.

    The other nodes of the graph keep their features.
    """

    def __init__(self, module: nn.Module, graph: GraphBatch) -> None:
        super().__init__(module)
        object.__setattr__(self, "graph", graph)

    def forward(self, node: Tensor, x: Tensor | None = None) -> Tensor:
        """Runs the wrapped network on the whole graph after replacing the features of some nodes; returns the outputs
        of these nodes.
        """
        graph = GraphBatch(vars(self)["graph"])
        if x is not None:
            graph[FEATURES] = graph[FEATURES].to(x).index_put((node,), x)
        return output_tensor(_call(self.module_of_view, graph))[node]


def adapt_graph_network(module: nn.Module, *data: Any) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Converts a graph network and its data to one row per graph, or per node of one large graph; None if the data
    contain no graphs.

    Data are pairs (inputs, targets), or inputs alone if graphs have no attribute ``y``.
    Cost: a copy of the data in memory.

    >>> adapt_graph_network(nn.Linear(1, 1), torch.zeros(2, 1)) is None
    True
    """
    if (typed := adapt_typed_graph(module, *data)) is not None:
        return typed
    if not data or (first := list_graphs(data[0])) is None:
        return None
    if len(first) == 1 and _has_masks(first[0]):
        return _nodes(module, first[0], data)
    roles = attribute_roles(first)
    roles = _used_roles(module, roles, pad_graphs(first[:2], roles))
    parts = [None if part is None else list_graphs(part) for part in data]
    # Training and test graphs are padded together, so that both get the same padded size.
    padded = pad_graphs([graph for part in parts for graph in part or ()], roles)
    found: list[Any] = []
    start = 0
    for part in parts:
        if part is None:
            found.append(None)
            continue
        x = {name: t[start : start + len(part)] for name, t in padded.items()}
        found.append(_with_targets(x, part, roles))
        start += len(part)
    return GraphView(module, roles), *found


def _used_roles(module: nn.Module, roles: GraphAttributeRoles, padded: Mapping[str, Tensor]) -> GraphAttributeRoles:
    """Returns which attributes of the graphs the network uses: those named in its ``forward``, or those read from the
    batch.
    """
    batch = ReadBatch(join_graphs(padded, roles))
    try:
        with preserve(module, grad=False, seed=0):
            _call(module, batch)
    except Exception:  # The function that uses the module reports the error.
        return roles
    used: GraphAttributeRoles = {name: role for name, role in roles.items() if name in batch.read}
    return used or roles


def _nodes(module: nn.Module, graph: Any, data: tuple[Any, ...]) -> tuple[nn.Module, *tuple[Any, ...]]:
    """Splits the nodes of one graph into training and test examples by its masks ``train_mask`` and ``test_mask``."""
    table = {name: t for name, t in graph.to_dict().items() if isinstance(t, Tensor)}
    joined = GraphBatch({name: t for name, t in table.items() if name != "y"})
    joined["num_nodes"], joined["num_graphs"] = int(graph.num_nodes), 1
    parts: list[Any] = []
    for name, part in zip(("train_mask", "test_mask"), (*data, None), strict=False):
        source = table if part is None else (list_graphs(part) or [graph])[0].to_dict()
        node = source[name].nonzero().flatten() if name in source else None
        if node is None or not len(node):
            parts.append(None)
            continue
        x = {NODE: node} | ({FEATURES: source[FEATURES][node]} if FEATURES in source else {})
        parts.append((x, source["y"][node]))
    return NodeView(module, joined), *parts[: max(len(data), 2)]


def _has_masks(graph: Any) -> bool:
    return "train_mask" in graph.to_dict() and "y" in graph.to_dict()


def _with_targets(x: dict[str, Tensor], graphs: list[Any], roles: GraphAttributeRoles) -> Any:
    y = [graph.to_dict().get("y") for graph in graphs]
    if any(one is None for one in y):
        return x
    nodes = [int(graph.num_nodes) for graph in graphs]
    if all(one.dim() and len(one) == count for one, count in zip(y, nodes, strict=True)) and set(nodes) != {1}:
        if y[0].is_floating_point() and len(set(nodes)) > 1:
            problem = "the targets are one number per node, and the graphs differ in their number of nodes"
            raise InputError(problem, accepted="one class per node, or one target per graph", fix="Pass loss=")
        fill = 0 if y[0].is_floating_point() else IGNORED_LABEL
        rows = pad_rows(y, fill)
        # pad further if the largest graph is in another part (train or test) of the data
        more = _most_nodes(x, roles) - rows.shape[1]
        return x, nn.functional.pad(rows, (0, 0) * (rows.dim() - 2) + (0, more), value=fill)
    return x, torch.cat([one.reshape(1) if one.dim() == 0 else one for one in y])


def _most_nodes(padded: Mapping[str, Tensor], roles: GraphAttributeRoles) -> int:
    """Returns the number of nodes of the largest graph in a padded batch."""
    per_node = next((name for name, role in roles.items() if role == "nodes"), None)
    return int(padded[NODE_COUNT].max()) if per_node is None else padded[per_node].shape[1]


def _call(module: nn.Module, batch: GraphBatch) -> Any:
    """Calls a graph network with the whole batch, or with separate attributes such as ``edge_index`` if its ``forward``
    names them.
    """
    parameters = inspect.signature(module.forward).parameters
    known = set(batch.keys()) - {EDGE_COUNT, NODE_COUNT}
    named = {name: batch[name] for name in parameters if name in known}
    others = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [p for p in parameters.values() if p.default is p.empty and p.kind not in others]
    if all(p.name in named for p in required) and named:
        return module(**named)
    if len(required) == 1:
        return module(batch)
    missing = next(p.name for p in required if p.name not in named)
    problem = f"forward takes {missing!r}, and the graphs have {', '.join(name for name in batch)}"
    accepted = "graphs with the attributes that forward takes"
    raise InputError(problem, accepted=accepted, fix=f"Add {missing!r} to the graphs")
