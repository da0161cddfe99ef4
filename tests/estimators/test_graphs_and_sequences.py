"""Infinitely wide networks on graphs and on sequences as estimators, in a scikit-learn pipeline."""

import numpy as np
import torch
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from torch import nn

from gnomon.estimators import NTKClassifier

NODES, TIMES = 8, 6


class GraphNetwork(nn.Module):
    """Rows hold the adjacency matrix of a graph; the features of a node are its degree and one."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 64), nn.Linear(64, 64), nn.Linear(64, 1)

    def forward(self, x):
        graph = x.reshape(-1, NODES, NODES)
        degree = graph.sum(2, keepdim=True)
        h = torch.cat([degree, 0 * degree + 1], 2)
        h = torch.relu(graph @ self.a(h))
        return self.c(torch.relu(graph @ self.b(h)).sum(1))


class SequenceNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.c = nn.RNN(1, 64, batch_first=True, nonlinearity="relu"), nn.Linear(64, 1)

    def forward(self, x):
        return self.c(self.rnn(x.reshape(-1, TIMES, 1))[1][-1])


def graphs(n):
    """Rings with some chords, and stars with some chords: as many edges, other degrees."""
    rng = np.random.default_rng(0)
    rows, labels = [], rng.integers(0, 2, n)
    for label in labels:
        a = np.zeros((NODES, NODES))
        for i in range(1, NODES):
            j = i - 1 if label else 0
            a[i, j] = a[j, i] = 1
        i, j = rng.choice(NODES, 2, replace=False)
        a[i, j] = a[j, i] = 1
        order = rng.permutation(NODES)
        rows.append(a[order][:, order].ravel())
    return np.array(rows), labels


def test_graphs_are_classifier_auc_by_the_graph_tangent_kernel():
    x, y = graphs(60)
    model = make_pipeline(FunctionTransformer(), NTKClassifier(network=GraphNetwork(), scaling=None, ridge=1e-3))
    assert cross_val_score(model, x, y, cv=3).mean() >= 0.95


def test_sequences_are_classifier_auc_by_the_recurrent_tangent_kernel():
    """Whether the second half is larger than the first in the mean."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, TIMES))
    y = (x[:, 3:].sum(1) > x[:, :3].sum(1)).astype(int)
    model = make_pipeline(FunctionTransformer(), NTKClassifier(network=SequenceNetwork(), scaling=None, ridge=1e-3))
    assert cross_val_score(model, x, y, cv=3).mean() >= 0.85
