"""Clauses of the scope on symmetries that no claim measures; the ledger names these tests."""

import numpy as np
import torch
from torch import nn

from gnomon.atlas.claims.symmetry import pointwise_nonlinearity_commutes


def test_softmax_over_positions_does_not_commute_with_deformations():
    """pointwise-nonlinearity-commutes: |softmax(x o t) - softmax(x) o t| > 0.01, and 0 for absolute values."""

    def softmax(x):
        return np.exp(x) / np.exp(x).sum()

    assert max(pointwise_nonlinearity_commutes.gap(softmax, 50, 0)) > 0.01
    assert max(pointwise_nonlinearity_commutes.gap(np.abs, 50, 0)) == 0


def test_the_gradient_does_not_turn_the_first_layer_if_the_data_have_all_angles():
    """gradient-orthogonal-to-orbit: |cos(grad L, J W)| <= 0.001 for data on 360 rotations, > 0.1 for a single one."""
    torch.manual_seed(0)
    x, y = torch.randn(5, 2).double(), torch.randn(5).double()
    quarter = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    cosines = []
    for count in (360, 1):
        angle = 2 * torch.pi * torch.arange(count).double() / count
        turns = angle.cos()[:, None, None] * torch.eye(2).double() + angle.sin()[:, None, None] * quarter
        points = (x @ turns.mT).flatten(0, 1)
        loss = (net(points)[:, 0] - y.repeat(count)).square().mean()
        (g,) = torch.autograd.grad(loss, net[0].weight)
        along = net[0].weight.detach() @ quarter  # derivative of W R_a at a = 0
        cosines.append(float((g * along).sum().abs() / (g.norm() * along.norm())))
    assert cosines[0] <= 1e-3 and cosines[1] > 0.1
