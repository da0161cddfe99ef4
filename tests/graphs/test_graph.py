"""Forms of graphs: what is an edge list and what a matrix, and how networks are called."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon import graphs
from gnomon.core.errors import InputError
from gnomon.graphs.graph import call_on_graph


def test_two_by_two_whole_numbers_are_a_matrix_up_to_one_and_edges_above():
    assert graphs.adjacency(torch.tensor([[0, 1], [1, 0]])).tolist() == [[0, 1], [1, 0]]
    assert graphs.adjacency(torch.tensor([[0, 1], [2, 0]])).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert graphs.adjacency(torch.tensor([[0, 0, 1], [1, 1, 1]])).tolist() == [[0, 1], [1, 0]]
    assert graphs.adjacency(torch.zeros(2, 0, dtype=torch.long), nodes=3).shape == (3, 3)
    assert graphs.adjacency(torch.zeros(2, 0, dtype=torch.long)).shape == (0, 0)
    assert graphs.adjacency(torch.tensor([[0], [4]]), nodes=3).shape == (5, 5)


def test_the_larger_of_both_directions_counts_and_loops_do_not():
    found = graphs.adjacency(torch.tensor([[5.0, 2.0, 0.0], [3.0, 7.0, 0.0], [0.5, 0.0, 1.0]]))
    assert found.tolist() == [[0.0, 3.0, 0.5], [3.0, 0.0, 0.0], [0.5, 0.0, 0.0]] and found.dtype == torch.float64
    with pytest.raises(InputError, match="expected a square adjacency matrix"):
        graphs.adjacency(torch.zeros(3, 2))


def test_objects_are_passed_whole_to_one_argument_and_in_parts_to_two():
    class Two(nn.Module):
        def forward(self, x, edges, scale=3.0):
            return scale * x.sum() + edges.sum()

    class One(nn.Module):
        def forward(self, data, scale=3.0):
            return scale * data.x.sum() + data.edge_index.sum()

    data = SimpleNamespace(x=None, edge_index=torch.tensor([[0, 1], [1, 2]]))
    x = torch.tensor([[1.0], [2.0], [4.0]])
    assert float(call_on_graph(Two(), x, data)) == float(call_on_graph(One(), x, data)) == 25.0 and data.x is None
