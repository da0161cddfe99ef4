"""The normalized graph Laplacian has eigenvalues from 0 to 2, and reaches 2 only on bipartite graphs.

    L = I - D^(-1/2) A D^(-1/2),   0 <= lambda <= 2,   2 <=> bipartite                                        (1)

A is the adjacency matrix, D the degrees, lambda an eigenvalue. Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import graph_spectrum
from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the smallest and largest eigenvalue on a bipartite graph, then 1: another graph stays below 2."""
    return [0.0, 2.0, 1.0]


def eigenvalues(inner, nodes, seed):
    """Returns the normalized eigenvalues of a random bipartite graph; ``inner`` adds an edge inside a class."""
    rng = np.random.default_rng(seed)
    half = nodes // 2
    a = np.zeros((nodes, nodes))
    a[:half, half:] = np.maximum(rng.uniform(size=(half, half)) < 0.5, np.eye(half))
    a[0, half:] = 1
    a[0, 1] = inner
    return graph_spectrum(torch.from_numpy(np.maximum(a, a.T))).normalized


def extremes(inner, nodes, seed):
    """Returns the extreme eigenvalues of one graph, then whether a graph that is not bipartite stays below 2."""
    found, other = eigenvalues(inner, nodes, seed), eigenvalues(1.0, nodes, seed)
    return [found[0], found[-1], float(-1e-12 < other[0] and other[-1] < 2 - 1e-6)]


observed = partial(extremes, inner=0.0)  # Bipartite.
control = partial(extremes, inner=1.0)  # Control: one edge inside a class makes the graph non-bipartite.

CLAIM = Claim(
    id="normalised-graph-laplacian",
    question="When is the largest eigenvalue of the normalized Laplacian two?",
    equation=r"\lambda_{\max}(I - D^{-1/2} A D^{-1/2}) = 2 \iff \text{bipartite}",
    axes=("smallest, largest, then another graph", "eigenvalue; 1 if below 2"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the graph is bipartite: two classes without inner edges"),),
    parameters={"nodes": 10},
    judge=equals(rounding=1e4),
)
