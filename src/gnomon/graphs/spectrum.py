"""Computes the Laplacian spectrum of a graph, its connected components, and the distances between its nodes.

L = D - A,   x.L x = sum over edges (x_i - x_j)^2,   N = I - D^(-1/2) A D^(-1/2)                       (1)
R_ij = (e_i - e_j).L^+ (e_i - e_j)                                                                     (2)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.graphs.graph import adjacency

__all__ = ["GraphSpectrum", "distances", "effective_resistance", "graph_spectrum"]

ZERO_EIGENVALUE_SHARE = 1e-9
"""Share of the largest eigenvalue that counts as zero."""


@dataclass(frozen=True, slots=True)
class GraphSpectrum(Result):
    """Result: eigenvalues of a graph's Laplacian and of its normalized Laplacian, in increasing order.

    See equation (1) of the module docstring.

    >>> GraphSpectrum((0.0, 2.0), (0.0, 2.0)).bipartite
    True
    """

    laplacian: tuple[float, ...]
    normalized: tuple[float, ...]

    @property
    def components(self) -> int:
        """Returns the number of connected components of the graph, which is the number of zero eigenvalues."""
        return sum(v <= ZERO_EIGENVALUE_SHARE * max(self.laplacian[-1], 1.0) for v in self.laplacian)

    @property
    def bipartite(self) -> bool:
        """Returns whether a connected component of the graph is bipartite, so that 2 is an eigenvalue."""
        return self.normalized[-1] >= 2 - 1e-9

    @property
    def verdict(self) -> str:
        """States the number of connected components of the graph, and the spectral gap (smallest nonzero
        eigenvalue).
        """
        gap = next((v for v in self.normalized if v > ZERO_EIGENVALUE_SHARE), 0.0)
        return f"{len(self.laplacian)} nodes in {self.components} connected components; spectral gap {gap:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the eigenvalues of the graph's Laplacian and normalized Laplacian."""
        ranks = list(range(len(self.laplacian)))
        lines = (Line("L", ranks, list(self.laplacian)), Line("normalized", ranks, list(self.normalized)))
        return (Plot("Frequencies of the graph", lines, Axis("rank"), Axis("eigenvalue")),)


@add_call_to_errors
def graph_spectrum(graph: Any) -> GraphSpectrum:
    """Returns the eigenvalues of the Laplacian of an undirected graph.

    See equation (1) of the module docstring.
    Hypotheses: weights are not negative. Nodes without edges count as parts of their own.
    Reference: [defferrard2016convolutional].
    Cost: nodes^3.

    >>> ring = torch.eye(4).roll(1, 0) + torch.eye(4).roll(-1, 0)
    >>> [round(v, 9) + 0.0 for v in graph_spectrum(ring).laplacian]             # 2 - 2 cos(2 pi k / 4)
    [0.0, 2.0, 2.0, 4.0]
    """
    a = adjacency(graph)
    degree = a.sum(1)
    scale = torch.where(degree > 0, degree.clamp(min=1e-300).rsqrt(), torch.zeros_like(degree))
    own = (degree > 0).double().diag()
    return GraphSpectrum(
        tuple(torch.linalg.eigvalsh(degree.diag() - a).clamp(min=0.0).tolist()),  # (1)
        tuple(torch.linalg.eigvalsh(own - scale[:, None] * a * scale).clamp(min=0.0).tolist()),
    )


@add_call_to_errors
def effective_resistance(graph: Any) -> Tensor:
    """Returns the effective resistance between all pairs of nodes, a distance that counts parallel paths.

        R_ij = (e_i - e_j).L^+ (e_i - e_j)                                                                 (1)

    An edge of weight w is a wire of resistance 1 / w. The resistance between unconnected parts is infinite.
    Hypotheses: weights are not negative.
    Reference: [black2023understanding].
    Cost: nodes^3.

    >>> effective_resistance(torch.tensor([[0, 1], [1, 2]]))[0]       # two wires in a row
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    a = adjacency(graph)
    inverse = torch.linalg.pinv(a.sum(1).diag() - a, hermitian=True)
    own = inverse.diag()
    found = (own[:, None] + own[None] - 2 * inverse).clamp(min=0.0)  # (1)
    found = torch.where(torch.isinf(distances(a)), torch.full_like(found, torch.inf), found)
    return found.mul(1e12).round().div(1e12) * (1 - torch.eye(len(a), dtype=torch.float64))


@add_call_to_errors
def distances(graph: Any) -> Tensor:
    """Returns the number of edges on the shortest path between all pairs of nodes; infinite if there is none.

    Cost: nodes^2 times the diameter.

    >>> distances(torch.tensor([[0, 1], [1, 2]]))[0]
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    a = adjacency(graph) > 0
    size = len(a)
    found = torch.full((size, size), torch.inf, dtype=torch.float64)
    reached = torch.eye(size, dtype=torch.bool)
    found[reached] = 0.0
    for hop in range(1, size):
        further = (reached.double() @ a.double() > 0) & torch.isinf(found)
        if not bool(further.any()):
            break
        found[further] = float(hop)
        reached = further
    return found
