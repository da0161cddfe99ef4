"""The normalized adjacency matrix of graph convolutions has norm 1; its eigenvector has entries sqrt(degree).

    M = D^(-1/2) (A + I) D^(-1/2),   M D^(1/2) 1 = D^(1/2) 1,   -1 < lambda <= 1                              (1)

A is the adjacency matrix, D the degrees of A + I, lambda an eigenvalue. Rows sum to one only on regular graphs.
Reference: [kipf2017semi].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import gcn_matrix


def problem(nodes, seed):
    """Returns the adjacency matrix of a connected graph: a ring with random chords."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < 0.2, 2)
    return ((a + a.T) > 0).astype(float)  # An edge counts once, even if a random chord repeats an edge of the ring.


def predicted(graphs):
    """Returns 1, the largest eigenvalue, and 0, the change of the vector sqrt(degree), for each graph."""
    return np.array([[1.0, 0.0]] * graphs)


def norms_and_changes(matrix, nodes, graphs, seed):
    """Returns the largest eigenvalue and the change of sqrt(degree) under the matrix made from each graph."""
    found = []
    for i in range(graphs):
        a = problem(nodes, seed + i)
        m, root = matrix(a), np.sqrt(a.sum(1) + 1)
        found.append([np.abs(np.linalg.eigvalsh(m)).max(), np.abs(m @ root - root).max()])
    return np.array(found)


# The test uses the symmetric normalized adjacency matrix of graph convolutions.
observed = partial(norms_and_changes, matrix=lambda a: gcn_matrix(torch.from_numpy(a)).numpy())
# Control: the adjacency matrix with self-loops is divided by its mean degree instead.
control = partial(norms_and_changes, matrix=lambda a: (a + np.eye(len(a))) / (a.sum() / len(a) + 1))

CLAIM = Claim(
    id="gcn-norm-bound",
    question="Can repeated graph convolution blow up signals?",
    equation=r"\|D^{-1/2}(A + I)D^{-1/2}\|_2 = 1",
    axes=("graph (largest eigenvalue, then change)", "eigenvalue; change"),
    source=Source("theorem", "kipf2017semi"),
    premises=(Premise("rows and columns are divided by the roots of the degrees"),),
    parameters={"nodes": 12, "graphs": 20},
    covers=("gcn-coupling-matrix",),
    judge=equals(within=1e-10, because="eigenvalues of matrices of norm one"),
)
