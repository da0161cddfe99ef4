"""The Laplacian of a graph measures differences over edges; its zeros count the connected parts.

    x.L x = sum over edges (x_i - x_j)^2,   L = D - A                                                         (1)

Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import graph_spectrum
from gnomon.lab import Claim, Premise, Source, equals


def problem(nodes, seed):
    """A connected graph: a ring with chords."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < 0.2, 2)
    return ((a + a.T) > 0).astype(float)  # the chord from the first node to the last is an edge of the ring


def predicted(nodes, seed):
    """The sum over edges, and two parts of two copies of the graph."""
    a, x = problem(nodes, seed), np.random.default_rng(seed).normal(size=nodes)
    total = sum((x[i] - x[j]) ** 2 for i in range(nodes) for j in range(i) if a[i, j])
    return np.array([total, 2.0])


def measured(directed, nodes, seed):
    """The quadratic form, and the zeros of two copies."""
    a, x = problem(nodes, seed), np.random.default_rng(seed).normal(size=nodes)
    used = np.triu(a) if directed else a
    twice = torch.block_diag(torch.from_numpy(a), torch.from_numpy(a))
    return np.array([x @ (np.diag(used.sum(1)) - used) @ x, float(graph_spectrum(twice).components)])


observed = partial(measured, directed=False)  # Edges both ways.
control = partial(measured, directed=True)  # Edges one way.

CLAIM = Claim(
    id="graph-laplacian",
    title="The Laplacian sums squared differences over edges, and has a zero for each connected part",
    equation=r"x^\top L x = \sum_{ij \in E} (x_i - x_j)^2",
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("edges go both ways"),),
    parameters={"nodes": 10},
    judge=equals(rounding=1e4),
)
