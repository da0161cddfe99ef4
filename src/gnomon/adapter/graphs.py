"""Converts graphs of different sizes to zero-padded tensors with one row per graph, and back.

PyTorch Geometric joins the graphs of a batch into one large graph, in which no axis counts examples. `pad_graphs`
writes graphs as tensors with one row per graph, and `join_graphs` joins them exactly as PyTorch Geometric does, so that
padding never reaches a module.

>>> import torch
>>> from types import SimpleNamespace
>>> def graph(nodes):
...     parts = {"x": torch.ones(nodes, 2), "edge_index": torch.tensor([[0], [1]])}
...     return SimpleNamespace(num_nodes=nodes, to_dict=lambda: parts)
>>> graphs = [graph(2), graph(3)]
>>> roles = attribute_roles(graphs)
>>> padded = pad_graphs(graphs, roles)
>>> padded["x"].shape, padded["node_count"].tolist()
(torch.Size([2, 3, 2]), [2, 3])
>>> joined = join_graphs(padded, roles)
>>> joined["x"].shape, joined["edge_index"].tolist(), joined["batch"].tolist()
(torch.Size([5, 2]), [[0, 2], [1, 3]], [0, 0, 1, 1, 1])
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from gnomon.core.errors import InputError

__all__ = [
    "EDGE_COUNT",
    "NODE_COUNT",
    "GraphBatch",
    "GraphAttributeRoles",
    "attribute_roles",
    "list_graphs",
    "is_graph",
    "join_graphs",
    "node_mask",
    "pad_graphs",
    "pad_rows",
]

NODE_COUNT = "node_count"
"""Name of the tensor with the number of nodes of each graph."""
EDGE_COUNT = "edge_count"
"""Name of the tensor with the number of edges of each graph."""
INDEX_WORD = "index"
"""Attributes with this word in their name hold numbers of nodes, as in PyTorch Geometric."""
EDGE_WORD = "edge"
"""Attributes with this word in their name belong to edges, if they also have a row for each edge."""
NOT_INPUTS = ("y", "train_mask", "val_mask", "test_mask", "batch", "ptr")
"""Attributes that are targets, splits, or made when graphs are joined."""

Role = Literal["nodes", "edges", "index", "graph"]
GraphAttributeRoles = dict[str, Role]
"""What the rows of each attribute belong to; "index" attributes hold numbers of nodes in their columns."""


class GraphBatch(dict):
    """A batch of graphs joined into one large graph, with attributes accessible by name as in PyTorch Geometric.

    >>> GraphBatch(x=1).x
    1
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def is_graph(value: Any) -> bool:
    """Checks whether a value is a graph or a batch of graphs of PyTorch Geometric, or of a class with the same
    interface.

    >>> is_graph(torch.zeros(1))
    False
    """
    return hasattr(value, "num_nodes") and callable(getattr(value, "to_dict", None))


def list_graphs(data: Any) -> list[Any] | None:
    """Lists all graphs in a graph, a batch of graphs, a list or a data loader; returns None if the data contain no
    graphs.

    Cost: reading the data.

    >>> list_graphs([torch.zeros(1)]) is None
    True
    """
    if is_graph(data):
        return list(data.to_data_list()) if hasattr(data, "to_data_list") else [data]
    rows: Any = data.dataset if isinstance(data, DataLoader) else data
    if not isinstance(rows, list | Dataset) or not hasattr(rows, "__len__") or not hasattr(rows, "__getitem__"):
        return None
    if not len(rows) or not is_graph(rows[0]):
        return None
    return [graph for i in range(len(rows)) for graph in (list_graphs(rows[i]) or ())]


def attribute_roles(graphs: Sequence[Any]) -> GraphAttributeRoles:
    """Finds out for each tensor of the graphs whether its rows belong to nodes, to edges or to the whole graph.

    Cost: a look at the shapes.

    >>> attribute_roles([])
    Traceback (most recent call last):
        ...
    gnomon.core.errors.InputError: there are 0 graphs (expected at least one graph). Pass data with graphs.
    """
    if not graphs:
        raise InputError("there are 0 graphs", accepted="at least one graph", fix="Pass data with graphs")
    tables = [_attributes(graph) for graph in graphs]
    nodes, edges = [int(graph.num_nodes) for graph in graphs], [_edges(table) for table in tables]
    roles: GraphAttributeRoles = {}
    for name in tables[0]:
        if any(name not in table for table in tables):
            raise InputError(
                f"some graphs have the attribute {name!r} and others do not",
                accepted="graphs with the same attributes",
                fix="Give all graphs the same attributes",
            )
        rows = [table[name].shape[0] if table[name].dim() else 0 for table in tables]
        if INDEX_WORD in name:
            roles[name] = "index"
        elif rows == edges and (EDGE_WORD in name or rows != nodes):
            roles[name] = "edges"
        else:
            roles[name] = "nodes" if rows == nodes else "graph"
    return roles


def pad_graphs(graphs: Sequence[Any], roles: GraphAttributeRoles) -> dict[str, Tensor]:
    """Stacks graphs of different sizes into tensors with one row per graph; fills missing nodes and edges with zeros.

    Attributes of nodes are (graphs, most nodes, ...), of edges (graphs, most edges, ...), numbers of nodes
    (graphs, k, most edges); attributes of whole graphs are stacked.
    Cost: a copy of the data, as large as if all graphs were as large as the largest one.

    >>> from types import SimpleNamespace
    >>> graph = SimpleNamespace(num_nodes=2, to_dict=lambda: {"x": torch.ones(2, 3)})
    >>> {name: tuple(t.shape) for name, t in pad_graphs([graph], {"x": "nodes"}).items()}
    {'x': (1, 2, 3), 'node_count': (1,)}
    """
    tables = [_attributes(graph) for graph in graphs]
    found: dict[str, Tensor] = {}
    for name, role in roles.items():
        parts = [table[name] for table in tables]
        if role == "index":
            found[name] = pad_rows([part.T for part in parts]).transpose(1, 2).contiguous()
        else:
            found[name] = torch.stack(parts) if role == "graph" else pad_rows(parts)
    found[NODE_COUNT] = torch.tensor([int(graph.num_nodes) for graph in graphs])
    if "index" in roles.values():
        found[EDGE_COUNT] = torch.tensor([_edges(table) for table in tables])
    return found


def join_graphs(padded: Mapping[str, Tensor], roles: GraphAttributeRoles) -> GraphBatch:
    """Joins padded graphs into one large graph; the tensor ``batch`` of the result says to which graph each node
    belongs.

    Cost: a copy of the data.

    >>> padded = {"x": torch.arange(4).reshape(2, 2), "node_count": torch.tensor([1, 2])}
    >>> join_graphs(padded, {"x": "nodes"})["x"].tolist()
    [0, 2, 3]
    """
    nodes, edges = padded[NODE_COUNT], padded.get(EDGE_COUNT)
    before = nodes.cumsum(0) - nodes
    made = GraphBatch()
    for name, role in roles.items():
        t = padded[name]
        if role == "graph":
            made[name] = t.flatten(0, 1) if t.dim() > 1 else t
        elif role == "nodes" or edges is None:
            made[name] = t[node_mask(nodes, t.shape[1])]
        elif role == "edges":
            made[name] = t[node_mask(edges, t.shape[1])]
        else:
            moved = (t + before[:, None, None]).transpose(1, 2)
            made[name] = moved[node_mask(edges, t.shape[2])].T
    made["batch"] = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), nodes)
    made["ptr"] = torch.cat((nodes.new_zeros(1), nodes.cumsum(0)))
    made["num_nodes"], made["num_graphs"] = len(made["batch"]), len(nodes)
    return made


def node_mask(counts: Tensor, most: int) -> Tensor:
    """Returns a boolean mask of shape (graphs, largest number of nodes): True for real nodes, False for padding.

    >>> node_mask(torch.tensor([1, 2]), 2).tolist()
    [[True, False], [True, True]]
    """
    return torch.arange(most, device=counts.device) < counts[:, None]


def pad_rows(parts: Sequence[Tensor], value: float = 0) -> Tensor:
    """Pads tensors of different lengths to the largest length and stacks them along a new first dimension.

    >>> pad_rows([torch.ones(1), torch.ones(2)], 7).tolist()
    [[1.0, 7.0], [1.0, 1.0]]
    """
    return torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True, padding_value=value)


def _attributes(graph: Any) -> dict[str, Tensor]:
    """Returns the input tensors of a graph by name; leaves out targets and masks."""
    return {
        name: t for name, t in graph.to_dict().items() if isinstance(t, Tensor) and t.dim() and name not in NOT_INPUTS
    }


def _edges(table: Mapping[str, Tensor]) -> int:
    return next((t.shape[-1] for name, t in table.items() if INDEX_WORD in name), 0)
