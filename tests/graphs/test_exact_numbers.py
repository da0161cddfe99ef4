"""Numbers of the instruments on graphs, computed again with numpy on cases where a wrong formula shows."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import graphs
from gnomon.graphs.smoothing import Oversmoothing


class FirstNode(nn.Module):
    """Adds a multiple of the first row to all rows: it depends on the order of nodes."""

    def forward(self, x, graph):
        return 10 * x + x[:1]


def test_the_error_under_permutations_is_relative_to_the_outputs():
    torch.manual_seed(0)
    x, a = torch.randn(6, 3).double(), torch.ones(6, 6).double() - torch.eye(6).double()
    found = graphs.permutation_error(FirstNode(), x, a, permutations=3)
    generator, worst = torch.Generator().manual_seed(0), 0.0
    for _ in range(3):
        order = torch.randperm(6, generator=generator).numpy()
        moved, meant = 10 * x.numpy()[order] + x.numpy()[order[:1]], (10 * x + x[:1]).numpy()[order]
        worst = max(worst, np.linalg.norm(moved - meant) / np.linalg.norm(meant))
    assert found.error == pytest.approx(worst) and worst < 0.5 and found.findings


def normalized(a):
    a = a + np.eye(len(a))
    scale = a.sum(1) ** -0.5
    return scale[:, None] * a * scale


@pytest.mark.parametrize("kind", ["star", "complete bipartite", "path", "two parts"])
def test_the_rate_of_smoothing_is_the_largest_size_of_an_eigenvalue_but_the_first(kind):
    """In a complete bipartite graph the smallest eigenvalue, a negative one, decides."""
    a = np.zeros((6, 6))
    if kind == "star":
        a[0, 1:] = 1
    elif kind == "complete bipartite":
        a[:3, 3:] = 1
    elif kind == "path":
        a[np.arange(5), np.arange(1, 6)] = 1
    else:
        a[[0, 0, 3, 4], [1, 2, 4, 5]] = 1
    a = a + a.T
    values = np.sort(np.linalg.eigvalsh(normalized(a)))
    rest = values[:-2] if kind == "two parts" else values[:-1]
    assert graphs.smoothing_rate(torch.tensor(a)) == pytest.approx(np.abs(rest).max())
    if kind == "complete bipartite":
        assert -rest.min() > rest.max() + 0.1


def test_the_rate_of_layers_is_the_slope_of_the_logarithm():
    distance = (0.9, 0.5, 0.31, 0.12, 1e-8)  # the last one is rounding
    found = Oversmoothing(("a", "b", "c", "d", "e"), distance, 0.5)
    slope = np.polyfit(np.arange(4), np.log(distance[:4]), 1)[0]
    assert found.rate == pytest.approx(np.exp(slope))
    for last, told in ((0.049, True), (0.051, False)):
        assert bool(Oversmoothing(("a", "b"), (0.9, last), 0.5).findings) == told
