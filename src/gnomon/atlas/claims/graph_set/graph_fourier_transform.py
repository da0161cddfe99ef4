"""Eigenvectors of the Laplacian are the Fourier basis of a graph; on a ring they are that of the discrete transform.

    lambda_k = 2 - 2 cos(2 pi k / n)                                                                          (1)

Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(nodes):
    """Equation (1), in rising order."""
    return np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(nodes) / nodes))


def frequencies(cut, nodes):
    """Of a ring, with one edge weakened by ``cut``."""
    a = np.roll(np.eye(nodes), 1, 0)
    a[0, -1] -= cut
    a = a + a.T
    return np.linalg.eigvalsh(np.diag(a.sum(1)) - a)


observed = partial(frequencies, cut=0.0)  # The whole ring.
control = partial(frequencies, cut=1.0)  # Cut open.

CLAIM = Claim(
    id="graph-fourier-transform",
    title="Frequencies of a ring are those of the discrete Fourier transform",
    equation=r"\lambda_k = 2 - 2\cos(2\pi k / n)",
    source=Source("theorem", "defferrard2016convolutional"),
    premises=(Premise("every node has the same two neighbors on both sides"),),
    parameters={"nodes": 12},
    judge=equals(within=1e-10, because="eigenvalues of matrices of norm four"),
)
