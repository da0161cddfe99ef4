"""Critical points of clouds, entropy of graph attention, norm of the propagation matrix."""

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.graphs.attention import neighbor_attention_entropy
from gnomon.graphs.points import critical_points
from gnomon.graphs.smoothing import propagation_norm
from gnomon.models import PointNet
from gnomon.models.graphs import GATLayer


class Maxima(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Linear(3, 6)

    def forward(self, x):
        return self.phi(x).amax(1)


def test_critical_points_are_those_that_reach_a_maximum():
    torch.manual_seed(0)
    net, cloud = Maxima(), torch.randn(30, 3)
    by_hand = sorted(set(net.phi(cloud).argmax(0).tolist()))
    assert list(critical_points(net, cloud)) == by_hand and len(by_hand) <= 6
    kept = cloud[by_hand]
    assert torch.allclose(net(kept[None]), net(cloud[None]))


@pytest.mark.parametrize("wrap", [lambda out: (out, 0), lambda out: {"logits": out}])
def test_critical_points_of_models_that_return_tuples_or_dicts(wrap):
    torch.manual_seed(0)
    net, cloud = Maxima(), torch.randn(12, 3)

    class Wrapped(nn.Module):
        def forward(self, x):
            return wrap(net(x))

    assert critical_points(Wrapped(), cloud) == critical_points(net, cloud)


def test_a_pointnet_and_a_sum_over_points():
    torch.manual_seed(0)
    assert 0 < len(critical_points(PointNet(outputs=2, local=8, features=6).eval(), torch.randn(25, 3))) <= 25

    class Sum(nn.Module):
        def forward(self, x):
            return x.sum(1)

    assert critical_points(Sum(), torch.randn(5, 3)) == (0, 1, 2, 3, 4)
    with pytest.raises(InputError, match="at least 2 points"):
        critical_points(Sum(), torch.randn(1, 3))


def test_entropy_of_attention_for_matrices_and_edges():
    torch.manual_seed(0)
    layer, x, a = GATLayer(3, 4), torch.randn(6, 3), (torch.rand(6, 6) < 0.6).float()
    a.fill_diagonal_(1)
    q = layer.attention(x, a).detach()
    by_hand = torch.tensor([-sum(float(p) * float(p.log()) for p in row if p > 0) for row in q])
    found = neighbor_attention_entropy(q)
    assert torch.allclose(found, by_hand, atol=1e-6) and bool((found <= a.sum(1).log() + 1e-6).all())
    target, origin = q.nonzero().T
    edges = neighbor_attention_entropy((torch.stack([origin, target]), q[target, origin][:, None].repeat(1, 2)))
    assert torch.allclose(edges, found, atol=1e-6)
    with pytest.raises(InputError, match="do not sum to one"):
        neighbor_attention_entropy(torch.ones(3, 3))


def test_the_propagation_matrix_of_every_graph_has_norm_one():
    for seed in range(5):
        upper = (torch.rand(9, 9, generator=torch.Generator().manual_seed(seed)) < 0.4).double().triu(1)
        a = upper + upper.T
        scaled = (a + torch.eye(9)) / ((a.sum(1) + 1)[:, None] * (a.sum(1) + 1)).sqrt()
        assert propagation_norm(a) == pytest.approx(1.0, abs=1e-10)
        assert propagation_norm(a) == pytest.approx(float(torch.linalg.eigvalsh(scaled).abs().max()))
