"""On a ring graph, the eigenvectors of the Laplacian are the waves of the discrete Fourier transform.

    lambda_k = 2 - 2 cos(2 pi k / n),    u_k(j) = e^{2 pi i k j / n} / sqrt(n)                                (1)

n is the number of nodes and k the frequency. Frequencies k and n - k share an eigenvalue, and their two waves span its
eigenvectors. Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(nodes):
    """Returns the eigenvalues of the ring's Laplacian, then 1, the norm of each wave in its eigenspace."""
    return np.r_[np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(nodes) / nodes)), np.ones(nodes)]


def eigenvalues_and_projections(cut, nodes):
    """Returns eigenvalues of the Laplacian and norms of waves in its eigenspaces; one edge has weight 1 - ``cut``."""
    a = np.roll(np.eye(nodes), 1, 0)
    a[0, -1] -= cut
    a = a + a.T
    values, vectors = np.linalg.eigh(np.diag(a.sum(1)) - a)
    lengths = []
    for k in range(nodes):
        wave = np.exp(2j * np.pi * k * np.arange(nodes) / nodes) / nodes**0.5
        own = np.abs(values - (2 - 2 * np.cos(2 * np.pi * k / nodes))) < 1e-6
        lengths.append(np.linalg.norm(vectors[:, own].T @ wave))
    return np.r_[values, lengths]


observed = partial(eigenvalues_and_projections, cut=0.0)  # The whole ring.
control = partial(eigenvalues_and_projections, cut=1.0)  # Control: the ring lacks one edge, so it is a path graph.

CLAIM = Claim(
    id="graph-fourier-transform",
    question="What is the Fourier transform on a graph?",
    equation=r"\lambda_k = 2 - 2\cos(2\pi k / n)",
    axes=("eigenvalue (sorted), then frequency", "eigenvalue; norm of the projected wave"),
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("every node has the same two neighbors"),),
    parameters={"nodes": 12},
    judge=equals(within=1e-10, because="eigenvalues of matrices of norm four"),
)
