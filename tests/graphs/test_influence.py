"""Influence of nodes on nodes, for a linear network whose gradients are known."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon import graphs
from gnomon.core.modules.preserve import random_state
from gnomon.graphs.influence import NodeInfluence, _correlation


class Linear(nn.Module):
    def __init__(self, matrix, weights):
        super().__init__()
        self.matrix, self.weights = matrix, weights

    def forward(self, x, graph):
        return self.matrix @ x @ self.weights


def test_influence_is_the_norm_of_the_gradient_along_one_direction():
    rng = np.random.default_rng(0)
    matrix, weights = rng.standard_normal((4, 4)), rng.standard_normal((3, 2))
    matrix[0, 3] = matrix[3, 0] = 0.0  # no influence between the ends
    path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    x = torch.tensor(rng.standard_normal((4, 3)))
    found = graphs.node_influence(Linear(torch.tensor(matrix), torch.tensor(weights)), x, torch.tensor(path))
    with random_state(0):
        direction = torch.randn(2, dtype=torch.float64).numpy()
    np.testing.assert_allclose(found.matrix.numpy(), np.abs(matrix) * np.linalg.norm(weights @ direction), rtol=1e-10)
    assert (found.reach, found.diameter) == (2, 3)
    assert found.hops[0].tolist() == [0, 1, 2, 3]
    own, far = np.abs(np.diag(matrix)), np.abs([matrix[0, 2], matrix[1, 3], matrix[2, 0], matrix[3, 1]])
    assert found.faintest == pytest.approx(np.sort(far)[1] / np.sort(own)[1], rel=1e-10)  # torch takes the lower median


def test_parts_that_are_not_connected_do_not_count_for_reach_and_diameter():
    a = torch.zeros(5, 5)
    a[[0, 1, 3], [1, 2, 4]] = 1.0
    found = graphs.node_influence(Linear(torch.ones(5, 5), torch.eye(1)), torch.randn(5, 1), a)
    assert (found.reach, found.diameter) == (2, 2) and torch.isinf(found.resistance[0, 3])
    nothing = graphs.node_influence(Linear(torch.zeros(5, 5), torch.eye(1)), torch.randn(5, 1), a)
    assert nothing.reach == 0 and nothing.correlation == 0.0


def test_correlation_is_that_of_ranks_and_needs_three_pairs():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 9))
    b = np.exp(b) - 0.5 * a
    assert _correlation(torch.tensor(a), torch.tensor(b)) == pytest.approx(stats.spearmanr(a, b).statistic, rel=1e-12)
    three = torch.tensor([1.0, 2.0, 5.0])
    assert _correlation(three, torch.tensor([3.0, 2.5, 9.0])) == pytest.approx(0.5)
    assert _correlation(three[:2], three[:2]) == 0.0


def test_correlation_pairs_influence_with_resistance_of_different_nodes():
    """On a weighted path the resistances of all pairs differ; the influence falls with them, except on the diagonal."""
    a = torch.zeros(4, 4).double()
    a[[0, 1, 2], [1, 2, 3]] = torch.tensor([1.0, 0.5, 0.2]).double()
    resistance = graphs.effective_resistance(a)
    matrix = 1 / (1 + resistance + torch.rand(4, 4, generator=torch.Generator().manual_seed(0)).double() / 1e3)
    matrix[torch.eye(4, dtype=torch.bool)] = 1e-6
    upper = torch.triu(torch.ones(4, 4), 1) > 0
    found = graphs.node_influence(Linear(matrix * upper, torch.eye(1).double()), torch.randn(4, 1).double(), a)
    assert found.correlation == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("far", "reach", "kind"),
    [(1.1e-3, 2, None), (0.9e-3, 2, ("oversquashed", "WARNING")), (0.9e-3, 1, ("out-of-reach", "NOTE"))],
)
def test_influence_below_a_thousandth_is_reported_where_all_is_reached(far, reach, kind):
    hops = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    matrix = torch.where(hops == 2, 4.0 * far, 4.0 / (1 + hops)).double()
    found = NodeInfluence(matrix, hops, hops.double(), reach, 2, -1.0).findings
    assert [(f.kind, f.level.name) for f in found] == ([kind] if kind else [])
    if kind and kind[0] == "out-of-reach":
        assert [v.value for v in found[0].evidence] == [1, 2] and found[0].false_alarm == 0.0
    elif kind:
        assert found[0].evidence[0].value == pytest.approx(0.9e-3)
