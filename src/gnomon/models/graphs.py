"""Implements graph layers on node features (..., nodes, channels), with a dense or sparse adjacency matrix."""

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors

__all__ = ["GATLayer", "GCNLayer", "GINLayer", "chebyshev_filter", "gcn_matrix"]


@add_call_to_errors
def gcn_matrix(adjacency: Tensor) -> Tensor:
    """Returns the normalized adjacency matrix of graph convolutional networks (GCN), symmetric and with norm one.

        M = D^(-1/2) (A + I) D^(-1/2),   d_i = 1 + sum_j a_ij                                              (1)

    Hypotheses: an undirected graph, a_ij = a_ji >= 0, without loops. Its largest eigenvalue is 1, with eigenvector
    D^(1/2) 1.
    Reference: [kipf2017semi].
    Cost: one pass.

    >>> gcn_matrix(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    loops = adjacency + torch.eye(adjacency.shape[-1], dtype=adjacency.dtype, device=adjacency.device)
    scale = loops.sum(-1).rsqrt()
    return scale.unsqueeze(-1) * loops * scale.unsqueeze(-2)  # (1)


class GCNLayer(nn.Module):
    """One graph convolution (GCN layer): a linear map of the node features, then an average over neighbors.

        H' = M (H W + b)                                                                                   (1)

    with M from `gcn_matrix` (dense or sparse).
    Hypotheses: none.
    Reference: [kipf2017semi].
    Cost: edges x channels + nodes x channels^2.

    >>> GCNLayer(2, 3)(torch.randn(4, 2), torch.eye(4)).shape
    torch.Size([4, 3])
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        """Applies the graph convolution to node features (..., nodes, channels) with a normalized adjacency matrix."""
        return matrix @ self.linear(x)  # (1)


class GINLayer(nn.Module):
    """A layer of a graph isomorphism network (GIN), which distinguishes neighborhoods as well as message passing can.

        h_i' = MLP((1 + eps) h_i + sum over neighbors j of h_j)                                            (1)

    Hypotheses: none; eps trains from 0.
    Reference: [xu2019powerful].
    Cost: edges x channels + nodes x channels^2.

    >>> GINLayer(2, 3)(torch.randn(4, 2), torch.zeros(4, 4)).shape
    torch.Size([4, 3])
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(()))
        self.mlp = nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Applies the graph isomorphism layer to node features (..., nodes, channels) with an adjacency matrix."""
        found: Tensor = self.mlp((1 + self.eps) * x + adjacency @ x)  # (1)
        return found


class GATLayer(nn.Module):
    """A graph attention layer (GAT) over neighbors, with one head.

        q_ij = softmax over neighbors j of leaky(u.V x_i + w.V x_j),   h_i' = sum_j q_ij V x_j             (1)

    The order of the neighbors by q_ij is the same for all i: this attention is static.
    Hypotheses: every node has a neighbor (give it a loop).
    Reference: [velickovic2018graph].
    Cost: nodes^2 x channels on a dense adjacency.

    >>> layer = GATLayer(2, 3)
    >>> bool((layer.attention(torch.randn(4, 2), torch.ones(4, 4)).sum(-1) - 1).abs().max() < 1e-6)
    True
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.value = nn.Linear(inputs, outputs, bias=False)
        self.own, self.other = nn.Linear(outputs, 1, bias=False), nn.Linear(outputs, 1, bias=False)

    def attention(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Returns the attention weights, of shape (..., nodes, nodes), zero without an edge."""
        v = self.value(x)
        logits = nn.functional.leaky_relu(self.own(v) + self.other(v).transpose(-1, -2), 0.2)
        return torch.softmax(logits.masked_fill(adjacency == 0, float("-inf")), -1)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Applies graph attention to node features (..., nodes, channels) with an adjacency matrix."""
        found: Tensor = self.attention(x, adjacency) @ self.value(x)  # (1)
        return found


def chebyshev_filter(x: Tensor, laplacian: Tensor, coefficients: Tensor, *, largest: float = 2.0) -> Tensor:
    """Applies a polynomial of the graph Laplacian to x by Chebyshev's recursion, without computing eigenvectors.

        y = sum_k c_k T_k(2 L / largest - I) x,   T_k = 2 z T_{k-1} - T_{k-2}                              (1)

    Hypotheses: eigenvalues of L in [0, largest]; 2 is an upper bound for the normalized Laplacian.
    Reference: [defferrard2016convolutional].
    Cost: K products of L with x.

    >>> path = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    >>> chebyshev_filter(torch.tensor([1.0, 0.0]), path, torch.tensor([0.0, 1.0]))  # (L - I) x
    tensor([ 0., -1.])
    """
    before, now = x, (2 / largest) * (laplacian @ x) - x
    total = coefficients[0] * before
    for c in coefficients[1:]:
        total = total + c * now
        before, now = now, 2 * ((2 / largest) * (laplacian @ now) - now) - before
    return total  # (1)
