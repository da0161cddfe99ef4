"""Instruments on graphs: closed forms, planted faults, and healthy networks that trigger nothing."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import graphs, models

F64 = torch.float64


def ring(n):
    eye = torch.eye(n, dtype=F64)
    return eye.roll(1, 0) + eye.roll(-1, 0)


def path(n):
    a = ring(n)
    a[0, -1] = a[-1, 0] = 0.0
    return a


def random_graph(n, rate, seed):
    rng = np.random.default_rng(seed)
    a = np.triu(rng.uniform(size=(n, n)) < rate, 1).astype(float)
    return torch.tensor(a + a.T)


class Network(nn.Module):
    """Graph convolutions; ``linear`` ones do nothing but pass messages."""

    def __init__(self, depth, *, linear=False, channels=8, residual=False):
        super().__init__()
        self.layers = nn.ModuleList(models.GCNLayer(channels, channels) for _ in range(depth))
        self.linear, self.residual = linear, residual
        if linear:
            for layer in self.layers:
                layer.linear.weight.data, layer.linear.bias.data = torch.eye(channels), torch.zeros(channels)
        else:
            for layer in self.layers:
                nn.init.orthogonal_(layer.linear.weight, 1.4)

    def forward(self, x, a):
        matrix = models.gcn_matrix(a)
        for layer in self.layers:
            h = layer(x, matrix)
            h = h if self.linear else torch.relu(h)
            x = x + h if self.residual else h
        return x


def test_edge_lists_matrices_and_objects_are_one():
    """graph-definition-adjacency: a_ij = a_ji = 1 for edges, a_ii = 0."""

    class Data:
        edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        num_nodes = 4

    wanted = torch.zeros(4, 4, dtype=F64)
    wanted[:3, :3] = path(3)
    for given in (Data(), wanted, wanted.to_sparse()):
        assert torch.equal(graphs.adjacency(given), wanted)
    assert torch.equal(graphs.adjacency(Data.edge_index, nodes=4), wanted)


def test_spectra_of_rings_and_parts():
    for n in (5, 8):
        wanted = sorted(2 - 2 * math.cos(2 * math.pi * k / n) for k in range(n))
        found = graphs.graph_spectrum(ring(n))
        assert np.allclose(found.laplacian, wanted, atol=1e-10) and found.components == 1
        assert found.bipartite == (n % 2 == 0)
    assert graphs.graph_spectrum(torch.block_diag(ring(5), ring(4), path(3))).components == 3


def test_resistances_are_those_of_wires():
    assert torch.allclose(graphs.effective_resistance(path(5))[0], torch.arange(5, dtype=F64), atol=1e-10)
    found = graphs.effective_resistance(ring(6))
    assert abs(float(found[0, 3]) - 1.5) < 1e-10  # two ways of three wires
    apart = graphs.effective_resistance(torch.block_diag(path(2), path(2)))
    assert math.isinf(float(apart[0, 2]))


@pytest.mark.parametrize("seed", range(3))
def test_linear_networks_become_smooth_at_the_predicted_rate(seed):
    a = random_graph(24, 0.25, seed)
    assert graphs.graph_spectrum(a).components == 1
    net, x = Network(40, linear=True, channels=4).double(), torch.randn(24, 4, dtype=F64)
    found = graphs.oversmoothing(net, x, a)
    late = found.distance[-1] / found.distance[-2]
    assert abs(late / found.predicted - 1) < 0.02


def test_thirty_layers_are_too_many_and_two_are_not():
    torch.manual_seed(0)
    a, x = random_graph(24, 0.25, 1).float(), torch.randn(24, 8)
    deep, shallow = (graphs.oversmoothing(Network(d), x, a) for d in (30, 2))
    assert [f.kind for f in deep.findings] == ["oversmoothed"] and shallow.findings == ()
    assert len(deep.layers) == 30 and "of their size" in deep.verdict


def test_layers_see_as_many_hops_as_there_are():
    torch.manual_seed(0)
    a, x = path(7).float(), torch.randn(7, 8)
    for depth in (2, 6):
        found = graphs.node_influence(Network(depth, residual=True), x, a)
        assert found.reach == depth and found.diameter == 6
    assert [f.kind for f in graphs.node_influence(Network(2, residual=True), x, a).findings] == ["out-of-reach"]


def test_a_bottleneck_is_found_and_a_dense_graph_is_not():
    torch.manual_seed(0)
    full = torch.ones(8, 8) - torch.eye(8)
    long = torch.block_diag(full, path(8).float(), full)
    for i, j in ((7, 8), (15, 16)):
        long[i, j] = long[j, i] = 1.0
    squashed = graphs.node_influence(Network(11, linear=True), torch.randn(24, 8), long)
    assert [f.kind for f in squashed.findings] == ["oversquashed"] and squashed.correlation < -0.8
    assert graphs.node_influence(Network(2, linear=True), torch.randn(8, 8), full).findings == ()


def test_six_and_two_triangles_are_one_class_for_colors_and_networks():
    triangle = torch.ones(3, 3, dtype=F64) - torch.eye(3, dtype=F64)
    pair = [ring(6), torch.block_diag(triangle, triangle), path(6)]
    torch.manual_seed(0)
    layers = nn.ModuleList([models.GINLayer(1, 8), models.GINLayer(8, 8)])

    def network(a):
        h = torch.ones(len(a), 1)
        for layer in layers:
            h = torch.relu(layer(h, a))
        return h.sum(0)

    found = graphs.graph_classes(pair, network)
    assert found.by_colors == (0, 0, 1) and found.by_network == (0, 0, 2) and found.missed == ()


def test_networks_tell_no_more_apart_than_colors_and_means_tell_less():
    every = [random_graph(6, 0.4, seed) for seed in range(30)]
    torch.manual_seed(0)
    gin = nn.ModuleList([models.GINLayer(1, 8), models.GINLayer(8, 8)])

    def sums(a):
        h = torch.ones(len(a), 1)
        for layer in gin:
            h = torch.relu(layer(h, a))
        return h.sum(0)

    found = graphs.graph_classes(every, sums)
    for i in range(30):
        for j in range(i):
            assert found.by_network[i] == found.by_network[j] or found.by_colors[i] != found.by_colors[j]
    means = graphs.graph_classes(every, lambda a: (a @ torch.ones(len(a), 1) > 0).float().mean(0))
    assert [f.kind for f in means.findings] == ["graphs-not-told-apart"]
