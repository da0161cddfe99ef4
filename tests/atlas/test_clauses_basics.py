"""Clauses of the scope on basics that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from gnomon.atlas.claims.basics import mcculloch_pitts_neuron, regular_representation_condition, shallow_network


def test_one_neuron_computes_and_or_and_their_negations():
    """mcculloch-pitts-neuron: f(x) = 1{<s, x> >= theta} with s in {-1, 1}^2 has the tables of AND, OR, NAND and NOR."""
    tables = {tuple(map(int, table)) for table in mcculloch_pitts_neuron.functions(2, (-1, 1))}
    assert {(0, 0, 0, 1), (0, 1, 1, 1), (1, 1, 1, 0), (1, 0, 0, 0)} <= tables and (0, 1, 1, 0) not in tables


def test_both_lemmas_of_novikoff_hold_after_every_update():
    """perceptron-novikoff: t gamma <= <w*, w_t> and |w_t| <= R sqrt(t) after t updates."""
    rng = np.random.default_rng(0)
    for d in (2, 5, 20):
        best = rng.normal(size=d)
        best /= np.linalg.norm(best)
        x = rng.normal(size=(60, d))
        x = x[np.abs(x @ best) > 0.1] * np.sign(x[np.abs(x @ best) > 0.1] @ best)[:, None]
        gamma, radius, w, t = (x @ best).min(), np.linalg.norm(x, axis=1).max(), np.zeros(d), 0
        while (x @ w).min() <= 0:
            w, t = w + x[(x @ w).argmin()], t + 1
            assert t * gamma <= best @ w + 1e-9 and np.linalg.norm(w) <= radius * np.sqrt(t) + 1e-9
        assert 0 < t <= np.floor(radius**2 / gamma**2)


def test_quadratic_features_separate_circles_and_lines_do_not():
    """model-ladder-linear-feature-kernel, shallow-network: accuracy >= 0.99 with x_i x_j, <= 0.6 with x alone."""
    x, labels = shallow_network.problem(1000, 0)
    x, y = x.double().numpy(), 2 * labels.double().numpy() - 1

    def accuracy(features):
        features = np.c_[features, np.ones(len(x))]
        return np.mean((features @ np.linalg.lstsq(features, y, rcond=None)[0] > 0) == (y > 0))

    assert accuracy(x) <= 0.6 and accuracy(np.c_[x, x**2, x[:, :1] * x[:, 1:]]) >= 0.99


def test_binary_cross_entropy_has_brackets_and_both_signs():
    """loss-binary-cross-entropy: L = -y log p - (1 - y) log(1 - p); loss-cross-entropy: -(1/C) sum_i of it."""
    rng = np.random.default_rng(0)
    p, y = rng.uniform(0.01, 0.99, size=(20, 5)), (rng.uniform(size=(20, 5)) < 0.5).astype(float)
    by_torch = nn.functional.binary_cross_entropy(torch.from_numpy(p), torch.from_numpy(y), reduction="none").mean(1)
    np.testing.assert_allclose(by_torch, -(y * np.log(p) + (1 - y) * np.log(1 - p)).sum(1) / 5, rtol=1e-12)


def test_three_linear_layers_have_the_best_loss_of_one():
    """linear-networks-closure: min over W_3 W_2 W_1 of the loss = min over W, to 1e-4."""
    x, y = load_diabetes(return_X_y=True)
    x = torch.from_numpy((x - x.mean(0)) / x.std(0))
    y = torch.from_numpy((y - y.mean()) / y.std())[:, None]
    best = float((x @ torch.linalg.lstsq(x, y).solution - y).square().mean())
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 8), nn.Linear(8, 8), nn.Linear(8, 1)).double()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert float(closure().detach()) == pytest.approx(best, rel=1e-4)


def test_the_backward_sweep_costs_two_forward_sweeps():
    """backpropagation: operations of the backward sweep / forward sweep, counted, lie between 1 and 4."""
    net = nn.Sequential(*(part for _ in range(4) for part in (nn.Linear(32, 32), nn.Tanh())))
    with FlopCounterMode(display=False) as forward:
        loss = net(torch.randn(16, 32)).sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert 1 <= backward.get_total_flops() / forward.get_total_flops() <= 4


@pytest.mark.full
def test_near_representations_of_a_trained_network_rarely_disagree():
    """regular-representation-condition: P(labels differ | nearest 5 % of pairs) <= 0.01 for trained outputs."""
    settings = regular_representation_condition.CLAIM.settings({})
    found = regular_representation_condition.disagreements(**settings, seed=1)
    assert np.mean(found["network"]) <= 0.01 < np.mean(found["pixels"])
