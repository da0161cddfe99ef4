"""Measures how much the features of one node influence the output at another node of a graph.

    I[i, j] = |dh_i / dx_j|                                                                                (1)

I is zero if j is more hops away than the network has layers. I is small if many paths share few edges, because then the
effective resistance between i and j is large.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Finding, Image, Plot, Result, Scatter, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import structured as kinds
from gnomon.graphs.graph import adjacency, call_on_graph
from gnomon.graphs.spectrum import distances, effective_resistance

__all__ = ["NodeInfluence", "node_influence"]

MIN_RELATIVE_INFLUENCE = 1e-3
"""Influence relative to the influence of a node on itself below which learning is a thousand times slower."""


@dataclass(frozen=True, slots=True)
class NodeInfluence(Result):
    """Result: the influence of every node on every other node, with their distances in the graph.

    See equation (1) of the module docstring.

    >>> hops = torch.tensor([[0, 1], [1, 0]])
    >>> NodeInfluence(torch.tensor([[2.0, 0.5], [0.5, 2.0]]), hops, hops.double(), 1, 1, -1.0).faintest
    0.25
    """

    matrix: Tensor = field(metadata=HIDDEN_IN_JSON, repr=False)
    hops: Tensor = field(metadata=HIDDEN_IN_JSON, repr=False)
    resistance: Tensor = field(metadata=HIDDEN_IN_JSON, repr=False)
    reach: int
    diameter: int
    correlation: float

    @property
    def faintest(self) -> float:
        """Returns the median influence between nodes at the largest distance reached, relative to a node's own
        influence.
        """
        own = self.matrix.diag().median()
        return float(self.matrix[self.hops == self.reach].median() / own)

    @property
    def verdict(self) -> str:
        """States how many steps away in the graph nodes still influence each other."""
        return (
            f"Each node depends on nodes up to {self.reach} hops away (the graph has diameter {self.diameter}). At "
            f"that distance the influence of a node is "
            f"{self.faintest:.1e} of its influence on itself (rank correlation with resistance: "
            f"{self.correlation:.2f})."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about pairs of nodes with no, or hardly any, influence on each other."""
        if self.reach < self.diameter:
            evidence = (Value("reach", self.reach), Value("diameter", self.diameter))
            return (Finding(kinds.OUT_OF_REACH, "", {"reach": self.reach, "diameter": self.diameter}, evidence, 0.0),)
        if self.faintest < MIN_RELATIVE_INFLUENCE:
            values = {"reach": self.reach, "faintest": self.faintest}
            return (Finding(kinds.OVERSQUASHED, "", values, (Value("influence", self.faintest),)),)
        return ()

    def plots(self) -> tuple[Plot, ...]:
        """Plots the influence between all nodes, and the influence over their effective resistance (distance)."""
        pairs = (self.hops > 0) & torch.isfinite(self.resistance) & (self.matrix > 0)
        points = Scatter("pairs of nodes", self.resistance[pairs].tolist(), self.matrix[pairs].tolist())
        return (
            Plot("Influence", (Image("influence", self.matrix.tolist()),), Axis("of node"), Axis("on node")),
            Plot("Bottlenecks", (points,), Axis("effective resistance"), Axis("influence", log=True)),
        )


@add_call_to_errors
def node_influence(module: nn.Module, x: Tensor, graph: Any) -> NodeInfluence:
    """Measures the influence of the features of every node on the output at every other node.

    See equation (1) of the module docstring.

    Args:
        module: called as ``module(x, graph)`` or in the style of PyTorch Geometric; returns (nodes, outputs).
        x: features of the nodes, (nodes, channels).
        graph: the graph in the form that the module takes.

    Hypotheses: the output is differentiable in the features; one random direction of outputs represents all.
    Reference: [topping2022understanding], [black2023understanding].
    Cost: a backward pass for each node, and nodes^3 operations.

    >>> class Mean(nn.Module):
    ...     def forward(self, x, a):
    ...         return a @ x
    >>> path = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    >>> node_influence(Mean(), torch.randn(3, 2), path).reach
    1
    """
    check_module(module)
    with preserve(module, seed=0):
        seen = x.detach().clone().requires_grad_()
        out = call_on_graph(module, seen, graph)
        if not isinstance(out, Tensor) or out.shape[0] != len(x):
            raise InputError(
                "the output does not have one row per node",
                accepted="(nodes, outputs)",
                fix="Return one output row for each node",
            )
        flat = out.reshape(len(x), -1)
        values = (flat * torch.randn_like(flat[0])).sum(1)
        rows = [torch.autograd.grad(v, seen, retain_graph=True)[0].flatten(1).norm(dim=1) for v in values]
    matrix = torch.stack(rows).detach().double().cpu()  # (1)
    a = adjacency(graph, nodes=len(x))
    hops, resistance = distances(a), effective_resistance(a)
    finite = hops[torch.isfinite(hops)]
    met = hops[(matrix > 0) & torch.isfinite(hops)]
    pairs = (hops > 0) & torch.isfinite(hops) & (matrix > 0)
    reach = int(met.max()) if met.numel() else 0
    return NodeInfluence(
        matrix, hops, resistance, reach, int(finite.max()), _correlation(resistance[pairs], matrix[pairs])
    )


def _correlation(a: Tensor, b: Tensor) -> float:
    """Returns the rank correlation of two lists of numbers."""
    if len(a) < 3:
        return 0.0
    ranks = torch.stack([t.argsort().argsort().double() for t in (a, b)])
    found = torch.corrcoef(ranks)[0, 1]
    return float(found) if bool(torch.isfinite(found)) else 0.0
