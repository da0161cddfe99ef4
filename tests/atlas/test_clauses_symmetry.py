"""Clauses of the scope on symmetries that no claim measures; the ledger names these tests."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.symmetry import augmentation_symmetric_weights, pointwise_nonlinearity_commutes
from gnomon.symmetry.action import translations
from gnomon.symmetry.errors import equivariance


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


def test_random_weights_stay_asymmetric_where_no_example_sees_the_asymmetry():
    """augmentation-symmetric-weights: |g W - W| / |W| > 0.1 from a random start with fewer examples than weights."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(10, 60))
        w = rng.normal(size=60)
        odd = x - x[:, ::-1]
        start = w - w[::-1]
        unseen = start - odd.T @ np.linalg.lstsq(odd.T, start, rcond=None)[0]  # no gradient moves this part
        found = augmentation_symmetric_weights.asymmetry(False, 10, 60, 200, seed)
        y = np.sign(x.sum(1))
        both, labels = np.concatenate([x, x[:, ::-1]]), np.tile(y, 2)
        for _ in range(200):
            w = w + 0.5 * (labels / (1 + np.exp(labels * (both @ w)))) @ both / 20
        assert found == pytest.approx(np.linalg.norm(w - w[::-1]) / np.linalg.norm(w), rel=1e-9)
        assert found >= np.linalg.norm(unseen) / np.linalg.norm(w) > 0.1


def test_average_pools_make_each_layer_less_sensitive_to_shifts_than_the_one_before():
    """progressive-invariance-pooling: |P L x - P x| / |P x| by depth falls at every stage, as computed by hand."""
    x = torch.randn(8, 1, 32, 32, generator=torch.Generator().manual_seed(0)).double() + 0.5
    found = equivariance(nn.Sequential(*(nn.AvgPool2d(2) for _ in range(4))), x, translations(((1, 0), (0, 1))))
    by_hand = []
    for stage in range(1, 5):
        pool = nn.AvgPool2d(2**stage)
        changes = [
            (pool(x.roll(1, d)) - pool(x)).flatten(1).norm(dim=1) / pool(x).flatten(1).norm(dim=1) for d in (2, 3)
        ]
        by_hand.append(float(torch.stack(changes).mean()))
    measured = [layer.invariance for layer in found.layers if layer.name in ("0", "1", "2", "3")]
    assert measured == pytest.approx(by_hand, rel=1e-6)
    assert all(after < 0.85 * before for before, after in zip(measured, measured[1:], strict=False))


def test_all_orders_of_hidden_units_give_the_same_function_by_other_weights():
    """hidden-unit-permutation-symmetry: m! weights, all different, for one function: 4! = 24 for 4 units."""
    torch.manual_seed(0)
    first, last, x = nn.Linear(3, 4).double(), nn.Linear(4, 2).double(), torch.randn(6, 3).double()
    f, seen = last(torch.tanh(first(x))), set()
    for order in permutations(range(4)):
        p = list(order)
        moved = torch.tanh(x @ first.weight[p].T + first.bias[p]) @ last.weight[:, p].T + last.bias
        torch.testing.assert_close(moved, f)
        seen.add(tuple(first.weight[p].detach().flatten().tolist()))
    wrong = torch.tanh(x @ first.weight[[1, 0, 2, 3]].T + first.bias) @ last.weight[:, [1, 0, 2, 3]].T + last.bias
    assert len(seen) == factorial(4) and float((wrong - f).detach().abs().max()) > 0.01  # the biases move too
