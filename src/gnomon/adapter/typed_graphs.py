"""Adapts networks for one graph with several types of nodes; each node that has a class is an example.

PyTorch Geometric passes such a graph as dicts by type: ``model(data.x_dict, data.edge_index_dict)``. Nodes of one type
have classes and masks for training and test.

>>> import torch
>>> from types import SimpleNamespace
>>> class Net(nn.Linear):
...     def forward(self, x_dict):
...         return super().forward(x_dict["paper"])
>>> papers = {"x": torch.eye(3), "y": torch.tensor([0, 1, 0]), "train_mask": torch.tensor([True, False, True])}
>>> graph = SimpleNamespace(node_types=["paper"], node_stores=[papers], x_dict={"paper": papers["x"]})
>>> view, train, test = adapt_typed_graph(Net(3, 2), graph, None)
>>> train[0]["node"].tolist(), view(**train[0]).shape, test
([0, 2], torch.Size([2, 2]), None)
"""

import inspect
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.modules.outputs import output_tensor

__all__ = ["adapt_typed_graph"]

FEATURES = "x_dict"
"""Attribute with the features of nodes by type, as in PyTorch Geometric."""
MASKS = ("train_mask", "test_mask")
"""Attributes that say which nodes are for training and for test."""


class TypedNodeView(ModuleView):
    """Wraps a network for one graph with several types of nodes: takes numbers and features of nodes of one type.

    All other nodes keep their features. If the network returns a dict by type, the outputs of this type are used.
    """

    def __init__(self, module: nn.Module, graph: Any, kind: str) -> None:
        super().__init__(module)
        vars(self)["graph"], vars(self)["kind"] = graph, kind

    def forward(self, node: Tensor, x: Tensor | None = None) -> Tensor:
        """Runs the wrapped network on the whole graph with changed features of some nodes; returns their outputs."""
        graph, kind = vars(self)["graph"], vars(self)["kind"]
        changed = {}
        if x is not None:
            features = dict(graph.x_dict)
            changed = {FEATURES: features | {kind: features[kind].to(x).index_put((node,), x)}}
        returned = _call(self.module_of_view, graph, changed)
        found = returned[kind] if isinstance(returned, Mapping) and kind in returned else output_tensor(returned)
        return found[node]


def adapt_typed_graph(module: nn.Module, *data: Any) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Converts a network and one graph with several types of nodes to rows of nodes; None for other data.

    Cost: a copy of the features.

    >>> import torch
    >>> adapt_typed_graph(nn.Linear(1, 1), torch.zeros(2, 1)) is None
    True
    """
    graph = data[0] if data else None
    kind = _wanted_kind(graph)
    if kind is None:
        return None
    parts: list[Any] = []
    for mask, part in zip(MASKS, (*data, None), strict=False):
        source = graph if part is None else part
        store = _stores(source)[kind]
        node = store[mask].nonzero().flatten() if mask in store else None
        if node is None or not len(node):
            parts.append(None)
            continue
        x = {"node": node} | ({"x": store["x"][node]} if "x" in store else {})
        parts.append((x, store["y"][node]))
    return TypedNodeView(module, graph, kind), *parts[: max(len(data), 2)]


def _stores(graph: Any) -> dict[str, Mapping[str, Any]]:
    return dict(zip(graph.node_types, graph.node_stores, strict=True))


def _wanted_kind(graph: Any) -> str | None:
    """Returns the type of nodes that have targets and a mask for training; None for data without such a type."""
    if not hasattr(graph, "node_types") or not hasattr(graph, "node_stores"):
        return None
    return next((kind for kind, store in _stores(graph).items() if "y" in store and MASKS[0] in store), None)


def _call(module: nn.Module, graph: Any, changed: dict[str, Any]) -> Any:
    """Calls a network with those attributes of the graph that its ``forward`` names."""
    parameters = inspect.signature(module.forward).parameters.values()
    named = {p.name: changed.get(p.name, getattr(graph, p.name, None)) for p in parameters if p.name != "kwargs"}
    missing = next((p.name for p in parameters if p.default is p.empty and named.get(p.name) is None), None)
    if missing is not None:
        problem = f"forward takes {missing!r}, which the graph does not have"
        accepted = "a forward whose arguments are attributes of the graph, such as x_dict and edge_index_dict"
        raise InputError(
            problem, accepted=accepted, fix=f"Name the argument like the graph's attribute, not {missing!r}"
        )
    return module(**{name: value for name, value in named.items() if value is not None})
