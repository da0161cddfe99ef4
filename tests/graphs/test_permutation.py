"""Error under permutations: its threshold, the number of permutations, and every form of graph."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon import graphs
from gnomon.graphs.permutation import PermutationError


class Calls(nn.Module):
    """Sums over edges of x_i x_j^2; appends to a list at every call."""

    def __init__(self, calls):
        super().__init__()
        self.count = lambda: calls.append(1)

    def forward(self, x, graph):
        self.count()
        if graph.is_floating_point() or graph.shape[0] != 2:
            return graph.double() @ x.square() * x
        out = torch.zeros_like(x)
        return out.index_add(0, graph[0], x[graph[0]] * x[graph[1]].square())


@pytest.mark.parametrize(
    "graph",
    [
        torch.tensor([[0, 1], [1, 2]]),
        torch.tensor([[0, 1, 3], [1, 2, 1]]),
        torch.tensor([[0.0, 2.0, 0, 0], [1.0, 0, 5.0, 0], [0, 0.5, 0, 3.0], [0, 0, 7.0, 0]]).double(),
    ],
    ids=["two edges", "three edges", "matrix"],
)
def test_equivariant_networks_pass_on_graphs_in_every_form(graph):
    calls = []
    net, x = Calls(calls), torch.tensor([[1.0], [3.0], [4.0], [9.0]]).double()
    found = graphs.permutation_error(net, x, graph, permutations=5)
    assert found.error < 1e-12 and found.kind == "nodes" and found.tried == 5 and len(calls) == 6
    if graph.is_floating_point():
        assert graphs.permutation_error(net, x, graph.to_sparse()).error < 1e-12
    else:
        data = SimpleNamespace(x=x, edge_index=graph)
        assert graphs.permutation_error(net, x, data).error < 1e-12


def test_two_whole_rows_with_zeros_and_ones_are_a_matrix():
    class Row(nn.Module):
        def forward(self, x, graph):
            return graph.double() @ x

    x = torch.tensor([[1.0], [3.0]]).double()
    assert graphs.permutation_error(Row(), x, torch.tensor([[1, 1], [0, 0]])).error < 1e-12


def test_the_output_of_a_whole_graph_stays_and_the_error_is_finite_where_it_was_zero():
    class First(nn.Module):
        def forward(self, x, graph):
            return x[0]

    x = torch.tensor([[0.0], [3.0], [5.0]]).double()
    found = graphs.permutation_error(First(), x, torch.ones(3, 3))
    assert found.kind == "graph" and 1e299 < found.error < float("inf")


def test_an_error_above_one_in_ten_thousand_is_reported():
    assert PermutationError("nodes", 0.9e-4, 4).findings == ()
    (found,) = PermutationError("nodes", 1.1e-4, 4).findings
    assert (found.level.name, found.false_alarm, found.evidence[0].value) == ("PROBLEM", 0.0, 1.1e-4)
    assert PermutationError("nodes", 0.9e-4, 4).verdict.startswith("Under")
