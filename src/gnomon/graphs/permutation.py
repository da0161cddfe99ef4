"""Measures whether the output of a graph network depends on the order in which nodes are listed.

    nodes:  f(P X, P A P^T) = P f(X, A),      graphs:  f(P X, P A P^T) = f(X, A)                           (1)
    error = max over permutations P of |left - right| / |right|                                            (2)

It is sometimes printed as f(X, A) = P f(P X, P A P^T), which holds only for swaps of two nodes.
"""

import copy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.graphs.graph import call_on_graph

__all__ = ["PermutationError", "permutation_error"]

EQUIVARIANCE_TOLERANCE = 1e-4
"""Relative error that counts as zero: float32 sums over neighbors in another order, layer after layer."""


@dataclass(frozen=True, slots=True)
class PermutationError(Result):
    """Result: the largest error of a graph network over several reorderings of the nodes.

    See equation (2) of the module docstring.

    >>> PermutationError("nodes", 2e-7, 4).findings
    ()
    """

    kind: Literal["nodes", "graph"]
    error: float
    tried: int

    @property
    def verdict(self) -> str:
        """Says whether the order in which nodes are listed changes the output."""
        rule = (
            "the outputs should be permuted like the nodes" if self.kind == "nodes" else "the output should not change"
        )
        kept = "and they are" if self.kind == "nodes" else "and it does not"
        kept = kept if self.error <= EQUIVARIANCE_TOLERANCE else "but this fails"
        return f"Under {self.tried} permutations {rule}, {kept} (relative error {self.error:.1e})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the output depends on the order in which nodes are listed."""
        if self.error <= EQUIVARIANCE_TOLERANCE:
            return ()
        return (
            Finding(kinds.NODE_ORDER_COUNTS, "", {"error": self.error}, (Value("relative change", self.error),), 0.0),
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the error of the output under reordered nodes next to the size of rounding errors."""
        bars = Bars("error", ["measured", "rounding"], [self.error, EQUIVARIANCE_TOLERANCE])
        return (Plot("Error under permutations", (bars,), Axis("relative error", log=True)),)


@add_call_to_errors
def permutation_error(module: nn.Module, x: Tensor, graph: Any, *, permutations: int = 4) -> PermutationError:
    """Measures how much the outputs of a graph network depend on the order in which nodes are listed.

    See equation (2) of the module docstring.

    Args:
        module: called as ``module(x, graph)`` or in the style of PyTorch Geometric.
        x: features of the nodes, (nodes, channels).
        graph: a matrix, an edge list, or an object with ``edge_index``.
        permutations: the number of permutations, drawn with a fixed seed.

    Hypotheses: the output has one row for each node, or is one output for the whole graph.
    Reference: [kipf2017semi].
    Cost: a forward pass for each permutation.

    >>> class Sum(nn.Module):
    ...     def forward(self, x, a):
    ...         return a @ x
    >>> permutation_error(Sum(), torch.randn(5, 2), torch.rand(5, 5).round()).findings
    ()
    """
    check_module(module)
    count = check_integer("permutations", permutations)
    generator = torch.Generator().manual_seed(0)
    with preserve(module, grad=False):
        plain = call_on_graph(module, x, graph)
        if not isinstance(plain, Tensor):
            found = f"the output is a {type(plain).__name__}"
            raise InputError(found, accepted="one tensor", fix="Wrap the module so that it returns one tensor")
        rows = plain.dim() > 1 and plain.shape[0] == len(x)
        worst = 0.0
        for _ in range(count):
            order = torch.randperm(len(x), generator=generator)
            moved = call_on_graph(module, x[order], _move(graph, order)).double()
            meant = (plain[order] if rows else plain).double()
            worst = max(worst, float((moved - meant).norm() / meant.norm().clamp(min=1e-300)))  # (2)
    return PermutationError("nodes" if rows else "graph", worst, count)


def _move(graph: Any, order: Tensor) -> Any:
    """Returns the graph with node i moved to position order[i]."""
    if hasattr(graph, "edge_index"):
        other = copy.copy(graph)
        other.edge_index = _move(graph.edge_index, order)
        return other
    if not graph.is_floating_point() and graph.shape[0] == 2 and (graph.shape[1] != 2 or int(graph.max()) > 1):
        return order.argsort()[graph]
    dense = graph.to_dense() if graph.layout is not torch.strided else graph
    return dense[order][:, order]
