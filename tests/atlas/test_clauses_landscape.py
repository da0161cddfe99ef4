"""Clauses of the scope on training and normalization that no claim measures; the ledger names these tests."""

import pytest
import torch
from sklearn.datasets import load_wine
from torch import nn

from gnomon.checks import input_conditioning
from gnomon.data import digits


def test_standardizing_the_wine_data_divides_the_condition_number_by_a_thousand():
    """data-normalisation-conditioning: cond(X^T X) of the raw data / of standardized data >= 1000."""
    found = input_conditioning(torch.tensor(load_wine().data))
    assert found.before / found.after >= 1000


def test_weight_normalization_is_batch_normalization_on_whitened_inputs():
    """weight-normalisation: c v.x / |v| = c (v.x - mean) / std for centered inputs with covariance 1."""
    x = torch.linalg.qr(torch.randn(64, 5, generator=torch.Generator().manual_seed(0)).double())[0]
    x = torch.linalg.qr(x - x.mean(0))[0] * 8  # mean 0, X^T X / 64 = 1
    v, c = torch.randn(5, generator=torch.Generator().manual_seed(1)).double(), 1.7
    normalized = nn.functional.batch_norm(x @ v[:, None], None, None, weight=torch.tensor([c]).double(), training=True,
                                          eps=1e-12)  # fmt: skip
    torch.testing.assert_close(c * (x @ v) / v.norm(), normalized[:, 0], rtol=1e-5, atol=1e-9)


def gradient_ratio(normalized):
    """|gradient at the first layer| / |at the last hidden layer| of ten sigmoid layers with Xavier's weights."""
    torch.manual_seed(0)
    layers = [nn.Linear(64, 64) for _ in range(10)]
    for layer in layers:
        nn.init.xavier_normal_(layer.weight)
    parts = [p for layer in layers for p in (layer, nn.BatchNorm1d(64) if normalized else nn.Identity(), nn.Sigmoid())]
    net, split = nn.Sequential(nn.Flatten(), *parts, nn.Linear(64, 10)), digits(100, 10, seed=0)
    nn.functional.cross_entropy(net(split.x), split.y).backward()
    return float(layers[0].weight.grad.norm() / layers[-1].weight.grad.norm())


def test_ten_sigmoid_layers_lose_the_gradient_without_batch_normalization():
    """sigmoid-gradient-saturation: the ratio is below 1e-4 without, above 1e-2 with batch normalization."""
    assert gradient_ratio(False) < 1e-4 < 1e-2 < gradient_ratio(True)


def dead_share(normalized):
    """The share of hidden units that are off on all data after steps that are too large."""
    torch.manual_seed(0)
    split = digits(200, 10, seed=0)
    parts = (part for a, b in ((64, 64), (64, 64)) for part in
             (nn.Linear(a, b), nn.BatchNorm1d(b) if normalized else nn.Identity(), nn.ReLU()))  # fmt: skip
    net = nn.Sequential(nn.Flatten(), *parts, nn.Linear(64, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=3.0)
    for _ in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(split.x), split.y).backward()
        optimizer.step()
    h, off = split.x, []
    with torch.no_grad():
        for part in net:
            h = part(h)
            if isinstance(part, nn.ReLU):
                off.append((h <= 0).all(0).float().mean())
    return float(torch.stack(off).mean())


def test_batch_normalization_keeps_units_alive():
    """dead-relu-units: at least 10 % of the units die at a large rate, at most 1 % with batch normalization."""
    assert dead_share(True) <= 0.01 < 0.1 <= dead_share(False)


def test_xavier_keeps_signals_and_gradients_of_ten_tanh_layers():
    """init-xavier: factors of both from 0.8 to 1.25 in each layer for small inputs; a deviation of 0.01 loses them."""
    torch.manual_seed(0)
    weights = [nn.init.xavier_normal_(torch.empty(256, 256)) for _ in range(10)]
    states = [(0.3 * torch.randn(200, 256)).requires_grad_()]
    for w in weights:
        states.append(torch.tanh(states[-1] @ w.T))
        states[-1].retain_grad()
    (states[-1] * torch.randn_like(states[-1])).sum().backward()
    for a, b in zip(states, states[1:], strict=False):
        assert 0.8 <= float(b.detach().var() / a.detach().var()) <= 1.25
        assert 0.8 <= float(a.grad.var() / b.grad.var()) <= 1.25
    h = torch.randn(50, 256)
    for _ in range(10):
        h = torch.tanh(h @ (0.01 * torch.randn(256, 256)))
    assert float(h.var()) < 1e-10


@pytest.mark.full
def test_deep_networks_with_batch_normalization_and_no_skips_hardly_train():
    """batchnorm-stacked-gradient-explosion: loss < 0.2 after 60 steps with 5 layers, > 1 with 40."""
    split, found = digits(300, 10, seed=0), []
    for depth in (5, 40):
        torch.manual_seed(0)
        parts = (p for _ in range(depth) for p in (nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()))
        net = nn.Sequential(nn.Flatten(), *parts, nn.Linear(64, 10))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(60):
            loss = nn.functional.cross_entropy(net(split.x), split.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append(float(loss.detach()))
    assert found[0] < 0.2 and found[1] > 1
