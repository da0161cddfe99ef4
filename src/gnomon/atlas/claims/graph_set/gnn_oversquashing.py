"""The influence of a leaf on the root of a tree is the weight of the paths between them, and shrinks with depth.

    |dh_i / dx_j| = (M^k)_ij |W_1 ... W_k|   for k linear graph convolutions,  M = D^(-1/2) (A + I) D^(-1/2)   (1)

x_j is the input of node j, h_i the output of node i after k layers with weights W, A the adjacency matrix, D the
degrees of A + I. Reference: [topping2022understanding], [alon2021bottleneck].
"""

import numpy as np
import torch

from gnomon.graphs import influence
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GCNLayer, gcn_matrix


def data(levels):
    """A binary tree."""
    nodes = 2 ** (levels + 1) - 1
    a = torch.zeros(nodes, nodes)
    for i in range(1, nodes):
        a[i, (i - 1) // 2] = a[(i - 1) // 2, i] = 1.0
    return a


def predicted(levels):
    """The root's row in the power of the matrix, relative to the root itself, by numpy."""
    a = data(levels).numpy().astype(float) + np.eye(2 ** (levels + 1) - 1)
    scale = a.sum(1) ** -0.5
    row = np.linalg.matrix_power(scale[:, None] * a * scale, levels)[0]
    return row / row[0]


class Layers(torch.nn.Module):
    """Linear graph convolutions."""

    def __init__(self, levels):
        super().__init__()
        self.layers = torch.nn.ModuleList(GCNLayer(4, 4) for _ in range(levels))

    def forward(self, x, matrix):
        """Applies all layers."""
        for layer in self.layers:
            x = layer(x, matrix)
        return x


def influence_on_root(a, levels, seed):
    """Influence of all nodes on the root, by gradients."""
    torch.manual_seed(seed)
    m = gcn_matrix(a.double())
    row = influence(Layers(levels).double(), torch.randn(len(a), 4).double(), m).matrix[0].numpy()
    return row / row[0]


def observed(levels, seed):
    """On the tree."""
    return influence_on_root(data(levels), levels, seed)


def control(levels, seed):
    """With an edge from the root to every node."""
    a = data(levels)
    a[0, 1:] = a[1:, 0] = 1.0
    return influence_on_root(a, levels, seed)


CLAIM = Claim(
    id="gnn-oversquashing",
    question="How much does a leaf of a tree influence its root?",
    equation=r"|\partial h_i / \partial x_j| \propto (M^k)_{i j}",
    axes=("node of the tree", "influence on the root, relative to its own"),
    source=Source("theorem", "topping2022understanding"),
    premises=(Premise("messages pass only along the edges of the tree"),),
    parameters={"levels": 4},
    full={"levels": 6},
    judge=equals(rounding=1e5),
)
