"""A degree-K polynomial of a graph's Laplacian filters its frequencies and reaches nodes at most K edges away.

    U p(Lambda) U^T x = p(L) x,    zero beyond K hops                                                         (1)

U and Lambda are eigenvectors and eigenvalues of the Laplacian L, p a polynomial of degree K, x a signal.
Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.graphs import chebyshev_filter

FILTER_COEFFICIENTS = (0.3, -0.5, 0.2, 0.7)


def inputs(nodes, seed):
    """Returns a random signal, and an impulse at node 0."""
    return np.stack([np.random.default_rng(seed).normal(size=nodes), np.eye(nodes)[0]], 1)


def problem(nodes, seed):
    """Returns the adjacency matrix of a connected graph: a ring with random chords."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < 0.04, 2)
    return ((a + a.T) > 0).astype(float)  # An edge counts once, even if a random chord repeats an edge of the ring.


def predicted(nodes, seed):
    """Returns both signals filtered by eigenvectors, with 0 for the impulse more than three edges away."""
    a = problem(nodes, seed)
    values, vectors = np.linalg.eigh(np.diag(a.sum(1)) - a)
    response = np.polynomial.chebyshev.chebval(2 * values / (2.0 * nodes) - 1, FILTER_COEFFICIENTS)
    made = vectors @ (response[:, None] * (vectors.T @ inputs(nodes, seed)))
    near = np.linalg.matrix_power(np.eye(nodes) + a, 3)[0] > 0
    return np.stack([made[:, 0], np.where(near, made[:, 1], 0.0)], 1)


def apply_filter(extra, nodes, seed):
    """Returns both signals filtered by Chebyshev's recursion; ``extra`` is added to one entry of the filter."""
    a = problem(nodes, seed)
    lap = np.diag(a.sum(1)) - a
    lap[0, 1] += extra
    x, c = torch.from_numpy(inputs(nodes, seed)), torch.tensor(FILTER_COEFFICIENTS, dtype=torch.float64)
    return chebyshev_filter(x, torch.from_numpy(lap), c, largest=2.0 * nodes).numpy()


observed = partial(apply_filter, extra=0.0)  # The Laplacian.
control = partial(apply_filter, extra=1.0)  # Control: the filter matrix has other eigenvectors than the Laplacian.

CLAIM = Claim(
    id="polynomial-graph-filter",
    question="How can a graph be filtered without eigenvectors?",
    equation=r"U\, p(\Lambda)\, U^\top x = \sum_k \alpha_k L^k x",
    axes=("node (random signal, then impulse)", "filtered signal"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the filter is a function of the frequency"),),
    parameters={"nodes": 24},
    judge=equals(rounding=1e4),
)
