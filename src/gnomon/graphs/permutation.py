"""Whether a network sees the names of nodes: outputs must not depend on the order in which nodes are listed.

    nodes:  f(P X, P A P^T) = P f(X, A),      graphs:  f(P X, P A P^T) = f(X, A)                           (1)
    error = max over permutations P of |left - right| / |right|                                            (2)

It is sometimes printed as f(X, A) = P f(P X, P A P^T), which holds for exchanges of two nodes alone.
"""

import copy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, names_call
from gnomon.core.inputs.checks import check_module, integer
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.graphs.graph import call_on_graph

__all__ = ["PermutationError", "permutation_error"]

EQUIVARIANCE_TOLERANCE = 1e-4
"""Relative error that counts as none: float32 sums over neighbors in another order, layer after layer."""


@dataclass(frozen=True, slots=True)
class PermutationError(Result):
    """The largest error (2) over the permutations tried; ``kind`` says which law of (1) the output was held to.

    >>> PermutationError("nodes", 2e-7, 4).findings
    ()
    """

    kind: Literal["nodes", "graph"]
    error: float
    tried: int

    @property
    def verdict(self) -> str:
        """Whether the order of nodes counts."""
        law = "outputs of nodes change places with them" if self.kind == "nodes" else "outputs stay as they are"
        kept = "Under" if self.error <= EQUIVARIANCE_TOLERANCE else "They should, and do not: under"
        return f"{kept} {self.tried} permutations {law}, to a relative error of {self.error:.1e}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The order of nodes counts."""
        if self.error <= EQUIVARIANCE_TOLERANCE:
            return ()
        return (
            Finding(kinds.NODE_ORDER_COUNTS, "", {"error": self.error}, (Value("relative change", self.error),), 0.0),
        )

    def plots(self) -> tuple[Plot, ...]:
        """The error beside what is rounding."""
        bars = Bars("error", ["measured", "rounding"], [self.error, EQUIVARIANCE_TOLERANCE])
        return (Plot("Error under permutations", (bars,), Axis("relative error", log=True)),)


@names_call
def permutation_error(module: nn.Module, x: Tensor, graph: Any, *, permutations: int = 4) -> PermutationError:
    """How far outputs depend on the order of nodes; equation (2).

    Args:
        module: is called as ``module(x, graph)``, or as PyTorch Geometric does.
        x: features of the nodes, (nodes, channels).
        graph: a matrix, an edge list, or an object with ``edge_index``.
        permutations: that are tried, drawn with a fixed seed.

    Hypotheses: the output has a row for each node, or is that of the whole graph.
    Reference: [kipf2017semi].
    Cost: a forward pass for each permutation.

    >>> class Sum(nn.Module):
    ...     def forward(self, x, a):
    ...         return a @ x
    >>> permutation_error(Sum(), torch.randn(5, 2), torch.rand(5, 5).round()).findings
    ()
    """
    check_module(module)
    count = integer("permutations", permutations)
    generator = torch.Generator().manual_seed(0)
    with preserve(module, grad=False):
        plain = call_on_graph(module, x, graph)
        if not isinstance(plain, Tensor):
            found = f"the output is a {type(plain).__name__}"
            raise InputError(found, accepted="one tensor", fix="Wrap the module so that it returns one")
        rows = plain.dim() > 1 and plain.shape[0] == len(x)
        worst = 0.0
        for _ in range(count):
            order = torch.randperm(len(x), generator=generator)
            moved = call_on_graph(module, x[order], _move(graph, order)).double()
            meant = (plain[order] if rows else plain).double()
            worst = max(worst, float((moved - meant).norm() / meant.norm().clamp(min=1e-300)))  # (2)
    return PermutationError("nodes" if rows else "graph", worst, count)


def _move(graph: Any, order: Tensor) -> Any:
    """The graph with node i where order[i] was."""
    if hasattr(graph, "edge_index"):
        other = copy.copy(graph)
        other.edge_index = _move(graph.edge_index, order)
        return other
    if not graph.is_floating_point() and graph.shape[0] == 2 and (graph.shape[1] != 2 or int(graph.max()) > 1):
        return order.argsort()[graph]
    dense = graph.to_dense() if graph.layout is not torch.strided else graph
    return dense[order][:, order]
