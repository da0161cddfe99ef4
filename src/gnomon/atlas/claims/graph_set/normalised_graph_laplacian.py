"""Eigenvalues of the normalized Laplacian lie between zero and two; two is reached on bipartite graphs.

    L = I - D^(-1/2) A D^(-1/2),   0 <= lambda <= 2,   2 <=> bipartite                                        (1)

Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import graph_spectrum
from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """The largest eigenvalue."""
    return 2.0


def largest(inner, nodes, seed):
    """Of a random bipartite graph, with or without one edge inside a class."""
    rng = np.random.default_rng(seed)
    half = nodes // 2
    a = np.zeros((nodes, nodes))
    a[:half, half:] = np.maximum(rng.uniform(size=(half, half)) < 0.5, np.eye(half))
    a[0, half:] = 1
    a[0, 1] = inner
    return graph_spectrum(torch.from_numpy(np.maximum(a, a.T))).normalized[-1]


observed = partial(largest, inner=0.0)  # Two classes.
control = partial(largest, inner=1.0)  # One edge inside a class.

CLAIM = Claim(
    id="normalised-graph-laplacian",
    title="The normalized Laplacian has eigenvalues up to two, and two on bipartite graphs alone",
    equation=r"\lambda_{\max}(I - D^{-1/2} A D^{-1/2}) = 2 \iff \text{bipartite}",
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the nodes fall in two classes without inner edges"),),
    parameters={"nodes": 10},
    judge=equals(rounding=1e4),
)
