"""Reads graphs from a dense or sparse adjacency matrix, an edge list, or an object with ``edge_index``."""

import copy
import inspect
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors

__all__ = ["adjacency", "call_on_graph"]


@add_call_to_errors
def adjacency(graph: Any, *, nodes: int | None = None) -> Tensor:
    """Returns the symmetric adjacency matrix of an undirected graph, without self-loops, in float64.

    Args:
        graph: a square matrix, dense or sparse; an edge list (2, edges) of integers; or an object with
            ``edge_index``, such as Data of PyTorch Geometric.
        nodes: the number of nodes; needed if an edge list leaves out the last ones.

    Cost: one pass, and nodes^2 numbers.

    >>> adjacency(torch.tensor([[0, 1], [1, 2]]))
    tensor([[0., 1., 0.],
            [1., 0., 1.],
            [0., 1., 0.]], dtype=torch.float64)
    """
    if hasattr(graph, "edge_index"):
        nodes = nodes if nodes is not None else getattr(graph, "num_nodes", None)
        graph = graph.edge_index
    if not isinstance(graph, Tensor) or graph.dim() != 2:
        found = f"the graph is a {type(graph).__name__}"
        raise InputError(
            found, accepted="an adjacency matrix or an edge list (2, edges)", fix="Pass one of these as a tensor"
        )
    if not graph.is_floating_point() and len(graph) == 2 and (graph.shape[1] != 2 or int(graph.max()) > 1):
        size = max(int(graph.max()) + 1 if graph.numel() else 0, nodes or 0)
        matrix = torch.zeros(size, size, dtype=torch.float64)
        matrix[graph[0].cpu(), graph[1].cpu()] = 1.0
    else:
        matrix = (graph.to_dense() if graph.layout is not torch.strided else graph).detach().cpu().double()
        if matrix.shape[0] != matrix.shape[1]:
            found = f"the matrix has shape {tuple(matrix.shape)}"
            raise InputError(found, accepted="a square adjacency matrix", fix="Pass one row and one column per node")
    matrix = torch.maximum(matrix, matrix.T)
    return matrix - matrix.diag().diag()


def call_on_graph(module: nn.Module, x: Tensor, graph: Any) -> Any:
    """Calls a network on node features and a graph, with the arguments that its forward method expects.

    An object with ``edge_index`` (Data of PyTorch Geometric) is passed whole, with these features, if forward takes one
    argument, and as ``module(x, edge_index)`` otherwise.

    Cost: one call of the network.

    >>> class Sum(nn.Module):
    ...     def forward(self, data):
    ...         return data.x.sum(0)
    >>> from types import SimpleNamespace
    >>> call_on_graph(Sum(), torch.ones(3, 2), SimpleNamespace(x=None, edge_index=torch.zeros(2, 0).long()))
    tensor([3., 3.])
    """
    if not hasattr(graph, "edge_index"):
        return module(x, graph)
    asked = inspect.signature(module.forward).parameters.values()
    needed = [p for p in asked if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(needed) > 1:
        return module(x, graph.edge_index)
    whole = copy.copy(graph)
    whole.x = x
    return module(whole)
