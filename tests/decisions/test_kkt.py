"""The KKT residual is zero at the largest margin, has known values beside it, and falls while a network trains."""

from math import sin

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.decisions import kkt_residual


def linear(*weights):
    """A linear unit with these weights."""
    net = nn.Linear(len(weights), 1, bias=False).double()
    net.weight.data = torch.tensor([weights], dtype=torch.float64)
    return net


def test_the_residual_of_the_support_vector_machine_is_zero():
    """max-margin-homogeneous: stationarity = |w / |w| - sum_i l_i grad m_i| with l_i >= 0, which is 0 at the SVM."""
    x = torch.tensor([[2.0, 1.0], [2.0, -1.0], [-2.0, 0.5], [9.0, 3.0]]).double()
    y = torch.tensor([1, 1, 0, 1])
    found = kkt_residual(linear(3.0, 0.0), (x, y))  # (1, 0) has margins 2, 2, 2 and 9
    assert found.residual == pytest.approx(0.0, abs=1e-9)
    assert 1 <= found.support_vectors <= 3 and found.smallest_margin == pytest.approx(6.0) and "KKT" in found.verdict


def test_the_residual_beside_the_solution_is_known():
    one = (torch.tensor([[1.0, 0.0]]).double(), torch.tensor([1]))
    angle = 0.3  # of one example (1, 0) the best direction is (1, 0): what is left of w is the sine of its angle
    found = kkt_residual(linear(np.cos(angle), np.sin(angle)), one)
    assert found.stationarity == pytest.approx(sin(angle)) and found.slack == 0.0 and found.support_vectors == 1
    two = (torch.tensor([[1.0, 0.0], [0.0, 1.0]]).double(), torch.tensor([1, 1]))
    found = kkt_residual(linear(1.0, 3.0), two)
    # w / |w| is (1, 3) / sqrt(10). With k = l sqrt(10) the first example is fitted; the second minimizes
    # (3 / sqrt(10) - k)^2 + (sqrt(0.4) k)^2, because its margin exceeds the smallest one by 2 / 10 of |w|^2.
    share = 3 / 10**0.5 / 1.4
    assert found.slack == pytest.approx(0.4**0.5 * share) and found.stationarity == pytest.approx(0.4 * share)
    assert found.residual == pytest.approx((0.9 * 0.4 / 1.4) ** 0.5)
    assert kkt_residual(linear(10.0, 30.0), two).residual == pytest.approx(found.residual)  # lengths do not count


def test_the_residual_falls_tenfold_while_a_homogeneous_network_trains():
    """max-margin-homogeneous: directions tend to KKT points, so that both numbers tend to 0."""
    angles = torch.arange(12) * torch.pi / 6 + 0.2
    x, y = torch.stack([angles.cos(), angles.sin()], 1).double(), (angles.sin() * angles.cos() > 0).long()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 20, bias=False), nn.ReLU(), nn.Linear(20, 1, bias=False)).double()
    found = []
    for step in range(1500):
        m = (2 * y - 1) * net(x)[:, 0]
        if step in (100, 1499):
            assert float(m.detach().min()) > 0
            found.append(kkt_residual(net, (x, y)))
        gradients = torch.autograd.grad(torch.logsumexp(-m, 0), list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), gradients, strict=True):
                p -= 0.05 / max(1.0, step / 100) * g  # steps on ln L must shrink to follow its flow
    assert found[1].residual < found[0].residual / 10


def test_unfitted_examples_and_other_networks_are_named():
    x, y = torch.tensor([[1.0, 0.0], [1.0, 0.1]]).double(), torch.tensor([1, 0])
    assert "Some training examples are classified wrongly" in kkt_residual(linear(1.0, 1.0), (x, y)).verdict
    with pytest.raises(InputError, match="a homogeneous network"):
        kkt_residual(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double(), (x, y))
