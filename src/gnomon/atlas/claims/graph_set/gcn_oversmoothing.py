"""Repeated graph convolution makes all nodes equal, up to sqrt(degree); the second eigenvalue sets the rate.

    |M^k x - P x| ~ rho^k,    rho = max(|lambda_2|, |lambda_min|),  P on D^(1/2) 1                            (1)

M is the coupling matrix with eigenvalues lambda, x the features, D the degrees, P the projection on D^(1/2) 1.
Reference: [oono2020graph].
"""

from functools import partial

import numpy as np
import torch

from gnomon.atlas.claims.graph_set.gcn_norm_bound import problem
from gnomon.graphs import smoothing_rate
from gnomon.lab import Claim, Premise, Source, equals


def predicted(nodes, seed):
    """Returns the factor by which each layer shrinks the node differences: the second largest |eigenvalue|."""
    return smoothing_rate(torch.from_numpy(problem(nodes, seed)))


def rate(skip, nodes, layers, seed):
    """Returns the measured factor in the last layer; ``skip`` times the initial features is added in every layer."""
    a = problem(nodes, seed) + np.eye(nodes)
    root = np.sqrt(a.sum(1))
    m, v = a / np.outer(root, root), root / np.linalg.norm(root)
    start = np.random.default_rng(seed).normal(size=nodes)
    x, sizes = start, []
    for _ in range(layers):
        x = m @ x + skip * start
        x = x - v * (v @ x)  # The multiple of v that M keeps is removed, so that rounding does not hide the rest of x.
        sizes.append(np.linalg.norm(x))
    return sizes[-1] / sizes[-2]


observed = partial(rate, skip=0.0)  # Convolutions only.
control = partial(rate, skip=0.2)  # Control: every layer adds a fifth of the initial features, so nodes stay different.

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
