"""The order of nodes, the response of filters, and graphs in the form of PyTorch Geometric."""

from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from gnomon import graphs
from gnomon.models import GCNLayer, gcn_matrix
from gnomon.models.graphs import chebyshev_filter

RING = torch.eye(7).roll(1, 0) + torch.eye(7).roll(-1, 0)
RING[0, 3] = RING[3, 0] = 1.0
EDGES = RING.nonzero().T.contiguous()


class Nodes(nn.Module):
    """A network of nodes on an edge list, with or without a table of its nodes."""

    def __init__(self, named=False):
        super().__init__()
        self.layer, self.named = GCNLayer(3, 4), named
        self.names = nn.Parameter(torch.randn(7, 3))

    def forward(self, x, edge_index):
        a = torch.zeros(7, 7).to(x)
        a[edge_index[1], edge_index[0]] = 1.0
        return torch.relu(self.layer(x + self.names if self.named else x, gcn_matrix(a)))


class Whole(Nodes):
    """Takes all in one object, and gives one row for the graph."""

    def forward(self, data):
        return super().forward(data.x, data.edge_index).mean(0)


def test_the_order_of_nodes_counts_only_where_they_have_names():
    """graph-equivariance and graph-invariance: both laws, edge lists, matrices and objects."""
    torch.manual_seed(0)
    x = torch.randn(7, 3)
    found = graphs.permutation_error(Nodes(), x, EDGES)
    assert found.kind == "nodes" and found.error < 1e-6 and not found.findings
    assert [f.kind for f in graphs.permutation_error(Nodes(named=True), x, EDGES).findings] == ["node-order-counts"]
    data = SimpleNamespace(x=x, edge_index=EDGES, num_nodes=7)
    whole = graphs.permutation_error(Whole(), x, data)
    assert whole.kind == "graph" and whole.error < 1e-6 and data.x is x
    plain = graphs.permutation_error(GCNLayer(3, 2), x, gcn_matrix(RING))
    assert plain.kind == "nodes" and plain.error < 1e-6


def test_objects_and_edge_lists_give_the_same_numbers():
    torch.manual_seed(0)
    net, x = Nodes(), torch.randn(7, 3)
    data = SimpleNamespace(x=x, edge_index=EDGES, num_nodes=7)
    one, two = (graphs.node_influence(net, x, g) for g in (EDGES, data))
    assert one.reach == two.reach == 1 and torch.equal(one.matrix, two.matrix)
    assert graphs.oversmoothing(net, x, EDGES).distance == graphs.oversmoothing(net, x, data).distance


def test_the_response_of_a_polynomial_is_the_polynomial():
    """polynomial-graph-filter: c_0 + c_1 T_1 + c_2 T_2 at lambda - 1, and nothing leaks."""
    degree = RING.sum(1)
    laplacian = (torch.eye(7) - RING / (degree[:, None] * degree).sqrt()).double()
    c = torch.tensor([0.3, -0.5, 0.8], dtype=torch.float64)
    found = graphs.filter_response(lambda x: chebyshev_filter(x, laplacian, c), RING)
    z = np.array(found.frequencies) - 1
    assert np.allclose(found.response, 0.3 - 0.5 * z + 0.8 * (2 * z**2 - 1), atol=1e-6) and max(found.leak) < 1e-5
    mixed = graphs.filter_response(lambda x: x.roll(1, 0), RING)  # follows no edge of the graph
    assert max(mixed.leak) > 0.1


def test_batches_of_graphs_smooth_as_their_members_do():
    torch.manual_seed(0)
    layers = nn.ModuleList(GCNLayer(3, 3) for _ in range(3))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x, m):
            for layer in self.layers:
                x = layer(x, m)
            return x

    x, m = torch.randn(2, 7, 3), gcn_matrix(RING)
    both = graphs.oversmoothing(Net(), x, m.expand(2, 7, 7))
    alone = [graphs.oversmoothing(Net(), one, m).distance for one in x]
    assert np.allclose(both.distance, np.mean(alone, 0), atol=1e-6)
