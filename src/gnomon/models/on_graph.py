"""Wraps a network of node features and a graph as a network on one fixed graph."""

from typing import Any

from torch import Tensor, nn

__all__ = ["OnGraph"]


class OnGraph(nn.Module):
    """A network on one fixed graph: turns f(x, graph) into a function of x, as `gnomon.limit` needs it.

        f(x) = net(x, graph)                                                                               (1)

    The graph is a buffer: an adjacency or coupling matrix for layers of `gnomon.models`, an edge list (2, edges) for
    layers of PyTorch Geometric. Inputs are (batch, nodes, channels): several sets of features on the one graph.
    Hypotheses: the network takes them.
    Reference: [kipf2017semi].
    Cost: one evaluation of the network.

    >>> import torch
    >>> from gnomon.models import GCNLayer
    >>> OnGraph(GCNLayer(2, 3), torch.eye(4))(torch.zeros(5, 4, 2)).shape
    torch.Size([5, 4, 3])
    """

    graph: Tensor

    def __init__(self, net: nn.Module, graph: Tensor) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("graph", graph)

    def forward(self, x: Tensor) -> Any:
        """Maps (batch, nodes, channels) to the output of the network."""
        return self.net(x, self.graph)  # (1)
