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
    """Returns 2, the largest eigenvalue on a bipartite graph."""
    return 2.0


def largest_eigenvalue(inner, nodes, seed):
    """Returns the largest eigenvalue for a random bipartite graph; ``inner`` adds an edge inside a class."""
    rng = np.random.default_rng(seed)
    half = nodes // 2
    a = np.zeros((nodes, nodes))
    a[:half, half:] = np.maximum(rng.uniform(size=(half, half)) < 0.5, np.eye(half))
    a[0, half:] = 1
    a[0, 1] = inner
    return graph_spectrum(torch.from_numpy(np.maximum(a, a.T))).normalized[-1]


observed = partial(largest_eigenvalue, inner=0.0)  # Bipartite.
control = partial(largest_eigenvalue, inner=1.0)  # Control: one edge inside a class makes the graph non-bipartite.

CLAIM = Claim(
    id="normalised-graph-laplacian",
    question="When is the largest eigenvalue of the normalized Laplacian two?",
    equation=r"\lambda_{\max}(I - D^{-1/2} A D^{-1/2}) = 2 \iff \text{bipartite}",
    axes=("one graph", "largest eigenvalue"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the graph is bipartite: two classes without inner edges"),),
    parameters={"nodes": 10},
    judge=equals(rounding=1e4),
)
