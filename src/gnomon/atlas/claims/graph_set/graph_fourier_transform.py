"""Eigenvectors of the Laplacian are the Fourier basis of a graph; on a ring they are that of the discrete transform.

    lambda_k = 2 - 2 cos(2 pi k / n),    u_k(j) = e^{2 pi i k j / n} / sqrt(n)                                (1)

Frequencies k and n - k share an eigenvalue, and the two waves span its eigenvectors.

Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(nodes):
    """Eigenvalues of (1) in rising order; then the length of each wave in the eigenvectors of its eigenvalue: one."""
    return np.r_[np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(nodes) / nodes)), np.ones(nodes)]


def frequencies(cut, nodes):
    """Eigenvalues of a ring with one edge weakened by ``cut``, and lengths of projected waves."""
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


observed = partial(frequencies, cut=0.0)  # The whole ring.
control = partial(frequencies, cut=1.0)  # Cut open.

CLAIM = Claim(
    id="graph-fourier-transform",
    title="Eigenvalues and eigenvectors of a ring are those of the discrete Fourier transform",
    equation=r"\lambda_k = 2 - 2\cos(2\pi k / n)",
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("every node has the same two neighbors on both sides"),),
    parameters={"nodes": 12},
    judge=equals(within=1e-10, because="eigenvalues of matrices of norm four"),
)
