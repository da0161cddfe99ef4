"""If a graph's nodes are renumbered, a graph convolution's outputs are renumbered equally, and their sum stays.

    f(P X, P A P^T) = P f(X, A),    sum over nodes unchanged                                                  (1)

X are features, A is the adjacency matrix, P a permutation of the nodes. Reference: [kipf2017semi].
"""

from functools import partial

import numpy as np
import torch

from gnomon.atlas.claims.graph_set.gcn_norm_bound import problem
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GCNLayer, gcn_matrix


def predicted():
    """Returns 0 twice: renumbering nodes changes neither the renumbered outputs nor the sums over nodes."""
    return np.zeros(2)


def difference(rename_edges, nodes, seed):
    """Returns the largest difference between renumbered outputs and outputs of the renumbered graph."""
    torch.manual_seed(seed)
    a, x = torch.from_numpy(problem(nodes, seed)), torch.randn(nodes, 3).double()
    layer, order = GCNLayer(3, 4).double(), torch.randperm(nodes)
    moved = a[order][:, order] if rename_edges else a
    with torch.no_grad():
        first, second = layer(x, gcn_matrix(a))[order], layer(x[order], gcn_matrix(moved))
        return np.array([float((first - second).abs().max()), float((first.sum(0) - second.sum(0)).abs().max())])


observed = partial(difference, rename_edges=True)  # The test renumbers both features and edges of the graph.
control = partial(difference, rename_edges=False)  # Control: only features are renumbered, the edges are not.

CLAIM = Claim(
    id="graph-equivariance",
    question="Do graph networks depend on how nodes are numbered?",
    equation=r"f(P X, P A P^\top) = P f(X, A)",
    axes=("nodes, then sum over nodes", "largest difference"),
    source=Source("theorem", "kipf2017semi"),
    premises=(Premise("features and adjacency matrix are renumbered together"),),
    parameters={"nodes": 8},
    covers=("graph-invariance",),
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
