"""Repeated graph convolution leaves one number times sqrt(degree), at the rate of the second eigenvalue.

    |M^k x - P x| ~ rho^k,    rho = max(|lambda_2|, |lambda_min|),  P on D^(1/2) 1                            (1)

M is the coupling matrix with eigenvalues lambda, x the features, D the degrees, P the projection on D^(1/2) 1.
Reference: [oono2020graph].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import smoothing_rate
from gnomon.lab import Claim, Premise, Source, equals


def problem(nodes, seed):
    """A connected graph: a ring with chords."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < 0.2, 2)
    return ((a + a.T) > 0).astype(float)  # the chord from the first to the last node is an edge of the ring


def predicted(nodes, seed):
    """The rate of (1)."""
    return smoothing_rate(torch.from_numpy(problem(nodes, seed)))


def rate(skip, nodes, layers, seed):
    """The last factor of the distance, with ``skip`` times the start added in every layer."""
    a = problem(nodes, seed) + np.eye(nodes)
    root = np.sqrt(a.sum(1))
    m, v = a / np.outer(root, root), root / np.linalg.norm(root)
    start = np.random.default_rng(seed).normal(size=nodes)
    x, sizes = start, []
    for _ in range(layers):
        x = m @ x + skip * start
        x = x - v * (v @ x)  # M keeps v; it is removed so that rounding does not hide the rest
        sizes.append(np.linalg.norm(x))
    return sizes[-1] / sizes[-2]


observed = partial(rate, skip=0.0)  # Convolutions only.
control = partial(rate, skip=0.2)  # With skip connections from the start.

CLAIM = Claim(
    id="gcn-oversmoothing",
    question="Why do deep graph networks make nodes of equal degree equal?",
    equation=r"\|\bar A^k x - P x\| \sim \max(|\lambda_2|, |\lambda_M|)^k",
    axes=("one graph", "factor per layer"),
    source=Source("theorem", "oono2020graph"),
    premises=(Premise("nothing is added between the convolutions"),),
    parameters={"nodes": 16, "layers": 300},
    judge=equals(within=0.02, because="another eigenvalue adds at most (c / c_2)^2 / (2 e layers)"),
)
