"""A graph convolution applies a polynomial of the Laplacian for each pair of channels, plus a bias per channel.

    y_m = sum_n p_mn(L) x_n + b_m,    p_mn(L) = sum_k c_mnk T_k(L - I)                                         (1)

m and n are channels, L is the Laplacian, T_k Chebyshev polynomials, c and b coefficients. Some texts print sums over
nodes and one bias for all, which is another map. Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.graphs import chebyshev_filter


def inputs(nodes, hops, seed):
    """Returns the normalized Laplacian of a random graph, features, coefficients and biases."""
    rng = np.random.default_rng(seed)
    a = np.triu(rng.uniform(size=(nodes, nodes)) < 0.4, 1).astype(float)
    a += a.T + np.roll(np.eye(nodes), 1, 0) * (a.sum() == 0)
    scale = np.maximum(a.sum(1), 1) ** -0.5
    lap = np.eye(nodes) - scale[:, None] * a * scale
    return lap, rng.normal(size=(nodes, 3)), rng.normal(size=(2, 3, hops + 1)), rng.normal(size=2)


def predicted(nodes, hops, seed):
    """Returns the outputs by eigenvectors: each pair of channels scales the graph's frequencies by its polynomial."""
    lap, x, c, b = inputs(nodes, hops, seed)
    values, vectors = np.linalg.eigh(lap)
    waves = np.cos(np.arange(hops + 1)[:, None] * np.arccos(np.clip(values - 1, -1, 1)))
    response = np.einsum("mnk,ke->mne", c, waves)
    return np.einsum("ie,mne,en->im", vectors, response, vectors.T @ x) + b


def layer(own, nodes, hops, seed):
    """Returns the outputs by Chebyshev's recursion; without ``own`` all output channels share one bias."""
    lap, x, c, b = (torch.from_numpy(v) for v in inputs(nodes, hops, seed))
    rows = [sum(chebyshev_filter(x[:, n], lap, c[m, n]) for n in range(3)) for m in range(2)]
    return (torch.stack(rows, 1) + (b if own else b[0])).numpy()


observed = partial(layer, own=True)  # As in (1).
control = partial(layer, own=False)  # Control: all output channels share one bias.

CLAIM = Claim(
    id="graph-conv-layer-multichannel",
    question="What does a graph convolution with several channels compute?",
    equation=r"y_m = \sum_n p_{m n}(L)\, x_n + b_m",
    axes=("output coordinate of each node", "output"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("every output channel has its own bias"),),
    parameters={"nodes": 12, "hops": 4},
    judge=equals(rounding=1e4),
)
