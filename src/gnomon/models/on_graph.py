"""Wraps a network that takes node features and a graph as a network on one fixed graph."""

from typing import Any

from torch import Tensor, nn

__all__ = ["ModuleOnGraph"]


class ModuleOnGraph(nn.Module):
    """Wraps a network of node features and a graph as a function of node features alone, on one fixed graph.

        f(x) = net(x, graph)                                                                               (1)

    The graph is a buffer: an adjacency or coupling matrix for layers of `gnomon.models`, an edge list (2, edges) for
    layers of PyTorch Geometric. Inputs are (batch, nodes, channels): several sets of features on the one graph.
    Hypotheses: the network takes them.
    Reference: [kipf2017semi].
    Cost: one evaluation of the network.

    >>> import torch
    >>> from gnomon.models import GCNLayer
    >>> ModuleOnGraph(GCNLayer(2, 3), torch.eye(4))(torch.zeros(5, 4, 2)).shape
    torch.Size([5, 4, 3])
    """

    graph: Tensor

    def __init__(self, net: nn.Module, graph: Tensor) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("graph", graph)

    def forward(self, x: Tensor) -> Any:
        """Runs the network on node features (batch, nodes, channels) with the fixed graph."""
        return self.net(x, self.graph)  # (1)
