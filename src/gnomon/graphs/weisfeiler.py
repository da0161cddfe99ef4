"""Computes which graphs message passing networks can distinguish, by the Weisfeiler-Leman test.

    color_{l+1}(i) = name of (color_l(i), multiset of color_l over the neighbors of i)                     (1)

Two graphs whose multisets of colors agree give equal outputs in every message-passing network with equal features.
The reverse does not hold: such graphs need not be isomorphic.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import structured as kinds
from gnomon.graphs.graph import adjacency

__all__ = ["WeisfeilerLehmanClasses", "graph_classes", "weisfeiler_leman_colors"]

OUTPUT_TOLERANCE = 1e-5
"""Relative difference of outputs that counts as zero: float32 sums in another order."""


@add_call_to_errors
def weisfeiler_leman_colors(graphs: Sequence[Any]) -> list[tuple[int, ...]]:
    """Returns a label (color) for each node of every graph; message passing cannot distinguish nodes of equal color.

        color_{l+1}(i) = name of (color_l(i), multiset of color_l over the neighbors of i)                 (1)

    Hypotheses: graphs are undirected and without node features.
    Reference: [morris2019weisfeiler].
    Cost: edges x rounds, with at most one round for each node.

    >>> import torch
    >>> path, star = torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([[0, 0, 0], [1, 2, 3]])
    >>> [sorted(Counter(c).values()) for c in weisfeiler_leman_colors([path, star])]
    [[2, 2], [1, 3]]
    """
    around = [[row.nonzero()[:, 0].tolist() for row in adjacency(g)] for g in graphs]
    colors = [(0,) * len(a) for a in around]
    while True:  # Ends after at most n rounds (n nodes), because every round except the last adds a color.
        names: dict[Any, int] = {}
        refined = []
        for near, old in zip(around, colors, strict=True):
            keys = [(old[i], tuple(sorted(old[j] for j in nodes))) for i, nodes in enumerate(near)]
            refined.append(tuple(names.setdefault(key, len(names)) for key in keys))  # (1)
        before = len({c for row in colors for c in row})
        colors = refined
        if len(names) == before:
            return colors


@dataclass(frozen=True, slots=True)
class WeisfeilerLehmanClasses(Result):
    """Result: classes of graphs that message passing can distinguish, and classes that a given network distinguishes.

    ``missed`` are pairs that colors distinguish and the network does not.

    >>> WeisfeilerLehmanClasses((0, 1, 0)).verdict
    'Message passing can distinguish 2 classes among 3 graphs.'
    """

    by_colors: tuple[int, ...]
    by_network: tuple[int, ...] | None = None
    missed: tuple[tuple[int, int], ...] = ()

    @property
    def verdict(self) -> str:
        """States how many classes of graphs message passing and the network distinguish."""
        text = f"Message passing can distinguish {len(set(self.by_colors))} classes among {len(self.by_colors)} graphs"
        if self.by_network is None:
            return f"{text}."
        return f"{text}; the network distinguishes {len(set(self.by_network))}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the network does not distinguish graphs that message passing could."""
        if not self.missed:
            return ()
        i, j = self.missed[0]
        values = {"one": i, "other": j, "more": len(self.missed) - 1}
        return (Finding(kinds.GRAPHS_NOT_TOLD_APART, "", values, (Value("pairs", len(self.missed)),)),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the number of graphs in each class that message passing cannot distinguish."""
        sizes = Counter(self.by_colors)
        return (Plot("Classes", (Bars("graphs", [str(k) for k in sizes], list(sizes.values())),), Axis("graphs")),)


@add_call_to_errors
def graph_classes(graphs: Sequence[Any], network: Callable[[Tensor], Tensor] | None = None) -> WeisfeilerLehmanClasses:
    """Returns the classes of graphs that message passing can distinguish, and whether a network distinguishes them.

    Args:
        graphs: matrices, edge lists or objects with ``edge_index``.
        network: a function of an adjacency matrix (float32), such as a GIN on constant features with a readout.

    Hypotheses: the network passes messages and starts from equal features.
    Reference: [morris2019weisfeiler], [xu2019powerful].
    Cost: edges x rounds, and one call for each graph.

    >>> import torch
    >>> six = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)
    >>> triangle = torch.ones(3, 3) - torch.eye(3)
    >>> len(set(graph_classes([six, torch.block_diag(triangle, triangle)]).by_colors))  # not isomorphic, and one class
    1
    """
    colors = weisfeiler_leman_colors(graphs)
    labels = _labels([tuple(sorted(Counter(c).items())) for c in colors])
    if network is None:
        return WeisfeilerLehmanClasses(labels)
    module = network if isinstance(network, nn.Module) else nn.Identity()
    with preserve(module, grad=False):
        outputs = [network(adjacency(g).float()).double().flatten() for g in graphs]
    size = max(float(o.abs().max()) for o in outputs) or 1.0
    same = [[bool((a - b).abs().max() <= OUTPUT_TOLERANCE * size) for b in outputs] for a in outputs]
    seen = tuple(row.index(True) for row in same)
    pairs = [(i, j) for i in range(len(graphs)) for j in range(i) if same[i][j] and labels[i] != labels[j]]
    return WeisfeilerLehmanClasses(labels, seen, tuple(pairs))


def _labels(keys: list[Any]) -> tuple[int, ...]:
    names: dict[Any, int] = {}
    return tuple(names.setdefault(key, len(names)) for key in keys)
