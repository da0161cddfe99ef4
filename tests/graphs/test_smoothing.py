"""Distance from features that are alike, projected out with numpy for each connected part."""

from math import exp

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import graphs
from gnomon.core.errors import InputError
from gnomon.graphs.smoothing import Oversmoothing


def two_parts():
    a = np.zeros((6, 6))
    a[[0, 1, 2, 4], [1, 2, 3, 5]] = 1.0
    a[0, 2] = 1.0
    return a + a.T


class Scales(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x, graph):
        return self.factor * x


class Net(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, graph):
        for layer in self.layers:
            x = layer(x, graph) if isinstance(layer, Scales) else layer(x)
        return x


def expected_distance(h, a):
    parts = np.array([[1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]], dtype=float)
    basis = np.stack([p * s for p in parts for s in (np.ones(6), np.sqrt(a.sum(1) + 1))], 1)
    q, sizes, _ = np.linalg.svd(basis, full_matrices=False)
    q = q[:, sizes > 1e-9]
    return np.linalg.norm(h - q @ (q.T @ h)) / np.linalg.norm(h)


def test_distance_is_relative_to_constants_and_roots_of_degrees_in_each_part():
    a = two_parts()
    x = np.random.default_rng(0).standard_normal((6, 3)) + 1.0
    found = graphs.oversmoothing(Net(Scales(2.0), nn.Tanh()), torch.tensor(x), torch.tensor(a))
    assert found.layers == ("layers.0",) and found.distance[0] == pytest.approx(expected_distance(x, a), rel=1e-10)
    plain = graphs.oversmoothing(Net(nn.Tanh(), nn.ReLU()), torch.tensor(x), torch.tensor(a))
    after = np.tanh(x), np.maximum(np.tanh(x), 0)
    assert plain.layers == ("layers.0", "layers.1")  # no layer is given the graph: all count
    assert plain.distance == pytest.approx([expected_distance(h, a) for h in after], rel=1e-10)
    outer = graphs.oversmoothing(Scales(1.5), torch.tensor(x), torch.tensor(a))
    assert outer.layers == ("output",) and outer.distance == pytest.approx(found.distance, rel=1e-12)
    alike = np.repeat([[2.0], [5.0]], [4, 2], 0) * np.sqrt(a.sum(1) + 1)[:, None]
    assert graphs.oversmoothing(Scales(1.5), torch.tensor(alike), torch.tensor(a)).distance[0] < 1e-12
    assert graphs.oversmoothing(Scales(0.0), torch.tensor(x), torch.tensor(a)).distance[0] == 0.0


def test_graphs_of_a_batch_are_averaged():
    ring = np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0)
    both, x = torch.tensor(np.stack([two_parts(), ring])), torch.randn(2, 6, 3).double()
    found = graphs.oversmoothing(Scales(2.0), x, both)
    each = [graphs.oversmoothing(Scales(2.0), h, a) for h, a in zip(x, both, strict=True)]
    assert found.distance[0] == pytest.approx(np.mean([e.distance[0] for e in each]), rel=1e-12)
    assert found.predicted == pytest.approx(np.mean([graphs.smoothing_rate(a) for a in both]), rel=1e-12)


def test_networks_without_features_of_nodes_are_refused():
    class Mean(nn.Module):
        def forward(self, x, graph):
            return x.mean(0)

    with pytest.raises(InputError, match="no layer returns node features"):
        graphs.oversmoothing(Mean(), torch.randn(6, 3), torch.tensor(two_parts()))


def test_the_rate_uses_distances_above_a_millionth():
    found = Oversmoothing(("a", "b", "c", "d"), (1.0, 0.1, 2e-6, 0.9e-6), 0.5)
    slope = np.polyfit(np.arange(3), np.log([1.0, 0.1, 2e-6]), 1)[0]
    assert found.rate == pytest.approx(exp(slope))
    assert Oversmoothing(("a", "b"), (1.0, 0.5), 0.5).rate == pytest.approx(0.5)
    assert Oversmoothing(("a", "b"), (1.0, 1e-9), 0.5).rate == 0.0


def test_the_first_layer_below_a_twentieth_is_named():
    found = Oversmoothing(("a", "b", "c"), (0.9, 0.045, 0.04), 0.5)
    (finding,) = found.findings
    assert (finding.where, finding.level.name) == ("b", "PROBLEM")
    assert [v.value for v in finding.evidence] == [0.04, found.rate]
    assert Oversmoothing(("a", "b", "c"), (0.9, 0.04, 0.06), 0.5).findings == ()


def test_a_graph_without_edges_does_not_smooth():
    assert graphs.smoothing_rate(torch.zeros(3, 3)) == 0.0
    weighted = torch.tensor([[0.0, 3.0, 0.0], [3.0, 0.0, 0.5], [0.0, 0.5, 0.0]]).double()
    a = weighted.numpy() + np.eye(3)
    scale = a.sum(1) ** -0.5
    values = np.linalg.eigvalsh(scale[:, None] * a * scale)
    assert graphs.smoothing_rate(weighted) == pytest.approx(np.abs(values[:2]).max(), rel=1e-12)
