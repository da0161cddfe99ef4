"""A graph's Laplacian sums squared differences over edges; its zero eigenvalues count connected components.

    x.L x = sum over edges (x_i - x_j)^2,   L = D - A                                                         (1)

A is the adjacency matrix, D the degrees, x a signal on the nodes. Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.atlas.claims.graph_set.gcn_norm_bound import problem
from gnomon.graphs import graph_spectrum
from gnomon.lab import Claim, Premise, Source, equals


def predicted(nodes, seed):
    """Returns the sum of squared differences over edges, then 2, the number of components of a doubled graph."""
    a, x = problem(nodes, seed), np.random.default_rng(seed).normal(size=nodes)
    total = sum((x[i] - x[j]) ** 2 for i in range(nodes) for j in range(i) if a[i, j])
    return np.array([total, 2.0])


def form_and_components(directed, nodes, seed):
    """Returns the Laplacian form x.L x, then the number of zero eigenvalues for two copies of the graph."""
    a, x = problem(nodes, seed), np.random.default_rng(seed).normal(size=nodes)
    used = np.triu(a) if directed else a
    twice = torch.block_diag(torch.from_numpy(a), torch.from_numpy(a))
    return np.array([x @ (np.diag(used.sum(1)) - used) @ x, float(graph_spectrum(twice).components)])


observed = partial(form_and_components, directed=False)  # Undirected edges.
control = partial(form_and_components, directed=True)  # Directed edges.

CLAIM = Claim(
    id="graph-laplacian",
    question="What does the Laplacian of a graph measure?",
    equation=r"x^\top L x = \sum_{ij \in E} (x_i - x_j)^2",
    axes=("quadratic form, then number of components", "sum of squares; count"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the edges are undirected"),),
    parameters={"nodes": 10},
    judge=equals(rounding=1e4),
)
