"""On a ring graph, graph filters (functions of the Laplacian) are circular convolutions with even kernels.

    U g(Lambda) U^T x = k * x,    k_s = k_{-s}                                                                (1)

U and Lambda are eigenvectors and eigenvalues of the Laplacian, g the filter, k the kernel, x the signal.
Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(nodes, seed):
    """Returns a random signal and a random kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=nodes), rng.normal(size=nodes)


def even(k):
    """Returns the even part of a kernel, (k(t) + k(-t)) / 2."""
    return (k + np.roll(k[::-1], 1)) / 2


def predicted(nodes, seed):
    """Returns the signal filtered by eigenvectors of the ring, with the kernel's cosine transform as gains."""
    x, k = problem(nodes, seed)
    ring = np.roll(np.eye(nodes), 1, 0)
    values, vectors = np.linalg.eigh(2 * np.eye(nodes) - ring - ring.T)
    angles = np.arccos(np.clip(1 - values / 2, -1, 1))
    gains = np.array([(k * np.cos(w * np.arange(nodes))).sum() for w in angles])
    return vectors @ (gains * (vectors.T @ x))


def convolve(kernel, nodes, seed):
    """Returns the circular convolution of the signal with ``kernel`` of the random kernel."""
    x, k = problem(nodes, seed)
    k = kernel(k)
    return np.array([sum(k[s] * x[(t - s) % nodes] for s in range(nodes)) for t in range(nodes)])


observed = partial(convolve, kernel=even)  # The test's convolution kernel is even: k(t) = k(-t).
control = partial(convolve, kernel=lambda k: k)  # Control: a kernel that is not even does not filter frequencies.

CLAIM = Claim(
    id="graph-convolution-spectral",
    question="What is a spectral graph filter on a ring?",
    equation=r"U g(\Lambda) U^\top x = k * x",
    axes=("node", "filtered signal"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("the kernel is even"),),
    parameters={"nodes": 9},
    judge=equals(rounding=1e5),
)
