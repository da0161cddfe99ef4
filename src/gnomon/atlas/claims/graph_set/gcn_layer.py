"""Two graph convolutions find the communities of a graph from a tenth of the labels; features alone do not.

    Y = softmax(M relu(M X W_0) W_1),   M = D^(-1/2) (A + I) D^(-1/2):   accuracy >= 0.9, and <= 0.7 with M = I  (1)

A is the adjacency matrix, D the degrees of A + I, X the features, W_0 and W_1 weights. Reference: [kipf2017semi].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import gcn_matrix


def predicted():
    """Returns lower bounds: on the accuracy with the graph, and on the error without the graph."""
    return np.array([0.9, 0.3])


def accuracy(matrix, x, labels, known, steps):
    """Returns the accuracy on the other nodes after training on the labels of the known nodes."""
    w0 = (torch.randn(x.shape[1], 16) / x.shape[1] ** 0.5).requires_grad_()
    w1 = (torch.randn(16, 2) / 4).requires_grad_()
    optimizer = torch.optim.Adam([w0, w1], lr=0.02, weight_decay=5e-3)
    for _ in range(steps):
        out = matrix @ (torch.relu(matrix @ (x @ w0)) @ w1)  # (1)
        loss = torch.nn.functional.cross_entropy(out[known], labels[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = (out.argmax(1) == labels).double()
    return float(right[~known].mean())


def shares(inside, across, nodes, steps, seed):
    """Returns the accuracy with the graph, then the error without the graph, from features alone."""
    torch.manual_seed(seed)
    labels = torch.arange(nodes) % 2
    rate = torch.where(labels[:, None] == labels, inside, across)
    upper = torch.triu((torch.rand(nodes, nodes) < rate).float(), 1)
    x = 0.06 * (2 * labels[:, None] - 1) + torch.randn(nodes, 16) / 2
    known = torch.zeros(nodes, dtype=torch.bool)
    known[: nodes // 10] = True
    m = gcn_matrix(upper + upper.T)
    return np.array([accuracy(m, x, labels, known, steps), 1 - accuracy(torch.eye(nodes), x, labels, known, steps)])


observed = partial(shares, inside=0.4, across=0.02)  # Two communities.
control = partial(shares, inside=0.2, across=0.2)  # Control: edges are random, independent of the communities.

CLAIM = Claim(
    id="gcn-layer",
    question="Can a graph convolution find communities from a few labels?",
    equation=r"Y = \mathrm{softmax}(M\, \mathrm{relu}(M X W_0)\, W_1)",
    axes=("accuracy with the graph, then error without it", "accuracy; error"),
    source=Source("observed", "kipf2017semi"),
    premises=(Premise("nodes have more edges within their community than across"),),
    parameters={"nodes": 100, "steps": 100},
    full={"nodes": 400, "steps": 200},
    judge=bounded_by("below"),
)
