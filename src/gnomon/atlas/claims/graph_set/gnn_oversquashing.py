"""Under graph convolutions, a leaf's influence on the root of a binary tree falls to a quarter with each level.

    |dh_i / dx_j| = (M^k)_ij |W_1 ... W_k|   for k linear graph convolutions,  M = D^(-1/2) (A + I) D^(-1/2)   (1)
    (M^k)_root,leaf = 4^(2 - k) / sqrt(96)   for a binary tree with k >= 2 levels                              (2)

x_j is the input of node j, h_i the output of node i after k layers with weights W, A the adjacency matrix, D the
degrees of A + I: 3 at the root, 4 inside, 2 at leaves. Reference: [topping2022understanding], [alon2021bottleneck].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import node_influence
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GCNLayer, gcn_matrix


def data(levels):
    """Returns the adjacency matrix of a binary tree."""
    nodes = 2 ** (levels + 1) - 1
    a = torch.zeros(nodes, nodes)
    for i in range(1, nodes):
        a[i, (i - 1) // 2] = a[(i - 1) // 2, i] = 1.0
    return a


def predicted(levels):
    """Returns the root's row of the k-layer propagation matrix M^k, then the leaf weights 4^(2 - k) / sqrt(96)."""
    a = data(levels).numpy().astype(float) + np.eye(2 ** (levels + 1) - 1)
    scale = a.sum(1) ** -0.5
    row = np.linalg.matrix_power(scale[:, None] * a * scale, levels)[0]
    return np.r_[row, 4.0 ** (2 - np.arange(2, levels + 1)) / 96**0.5]


class Layers(torch.nn.Module):
    """A stack of linear graph convolutions."""

    def __init__(self, levels):
        super().__init__()
        self.layers = torch.nn.ModuleList(GCNLayer(4, 4) for _ in range(levels))

    def forward(self, x, matrix):
        """Returns the features after all linear graph convolutions, applied in order."""
        for layer in self.layers:
            x = layer(x, matrix)
        return x


def influence_on_root(linked, levels, seed):
    """Returns each node's influence on the root, then a leaf's influence in smaller trees, by gradients."""
    torch.manual_seed(seed)
    rows = {}
    for k in range(2, levels + 1):
        net, a = Layers(k).double(), data(k)
        if linked:
            a[0, 1:] = a[1:, 0] = 1.0
        x, alone = torch.randn(len(a), 4).double(), torch.eye(len(a)).double()
        tree, own = (node_influence(net, x, m).matrix[0].numpy() for m in (gcn_matrix(a.double()), alone))
        rows[k] = tree / own[0]
    return np.r_[rows[levels], [row[-1] for row in rows.values()]]


observed = partial(influence_on_root, linked=False)  # On the tree.
control = partial(influence_on_root, linked=True)  # Control: every node has an edge to the root, so nothing is lost.

CLAIM = Claim(
    id="gnn-oversquashing",
    question="How much does a leaf of a tree influence its root?",
    equation=r"|\partial h_i / \partial x_j| \propto (M^k)_{i j}, "
    r"\quad (M^k)_{\text{root}, \text{leaf}} = 4^{2 - k} / \sqrt{96}",
    axes=("node of the tree, then a leaf at depth 2, 3, ...", "influence on the root"),
    source=Source("theorem", "topping2022understanding"),
    premises=(Premise("messages pass only along the edges of the tree"),),
    parameters={"levels": 4},
    full={"levels": 6},
    judge=equals(rounding=1e5),
)
