"""Clauses of the scope on graphs and sets that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.graphs import graph_classes
from gnomon.models import DeepSets, PointNet
from gnomon.models.sets import TNet


def test_spectral_filters_commute_with_the_laplacian():
    """graph-convolution-spectral: X * Y = U ((U^T X) (U^T Y)), and U g(Lambda) U^T L = L U g(Lambda) U^T."""
    rng = np.random.default_rng(0)
    a = np.triu(rng.uniform(size=(8, 8)) < 0.4, 1).astype(float)
    laplacian = np.diag((a + a.T).sum(1)) - a - a.T
    values, u = np.linalg.eigh(laplacian)
    x, y = rng.normal(size=8), rng.normal(size=8)
    matrix = u @ np.diag(u.T @ y) @ u.T
    np.testing.assert_allclose(matrix @ x, u @ ((u.T @ x) * (u.T @ y)), atol=1e-12)
    np.testing.assert_allclose(matrix @ laplacian, laplacian @ matrix, atol=1e-10)


def test_the_penalty_of_a_tnet_is_the_distance_from_a_rotation():
    """pointnet-tnet: mean |I - A A^T|^2 over clouds, 0 for rotations."""
    net, x = TNet(3), torch.randn(4, 10, 3)
    assert float(net.orthogonality(x).detach()) == 0  # A = I at the start
    net.out.bias.data = torch.eye(3).flatten()  # A = 2 I
    assert float(net.orthogonality(x).detach()) == pytest.approx(3 * 9)


@pytest.mark.full
def test_deep_sets_learn_sums_and_variances():
    """deep-sets-invariant: rho(sum phi(x)) learns sums to R^2 >= 0.99 and variances to R^2 >= 0.98."""
    torch.manual_seed(0)
    x = torch.randn(3000, 8, 1)
    y = torch.stack([x.sum((1, 2)), x.var((1, 2), unbiased=False)], 1)
    net = DeepSets(1, 2, width=64, latent=32)
    trained = gnomon.train(net, (x[:2000], y[:2000]), steps=1500, batch=100, optimizer=gnomon.training.Adam(3e-3)).model
    with torch.no_grad():
        unexplained = (trained(x[2000:]) - y[2000:]).square().mean(0) / y[2000:].var(0)
    assert float(unexplained[0]) <= 0.01 and float(unexplained[1]) <= 0.02


def solids(count, seed):
    """Points on spheres, cubes and tori, each turned at random."""
    rng = np.random.default_rng(seed)
    kinds, clouds = rng.integers(0, 3, count), np.zeros((count, 64, 3))
    for i, kind in enumerate(kinds):
        x = rng.normal(size=(64, 3))
        if kind == 0:
            x /= np.linalg.norm(x, axis=1, keepdims=True)
        elif kind == 1:
            x = rng.uniform(-1, 1, size=(64, 3))
            x[np.arange(64), rng.integers(0, 3, 64)] = rng.choice([-1, 1], 64)
            x *= 0.8
        else:
            a, b = rng.uniform(0, 2 * np.pi, size=(2, 64))
            x = np.stack([(0.9 + 0.3 * np.cos(b)) * np.cos(a), (0.9 + 0.3 * np.cos(b)) * np.sin(a), 0.3 * np.sin(b)], 1)
        clouds[i] = x @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return torch.from_numpy(clouds).float(), torch.from_numpy(kinds)


@pytest.mark.full
def test_a_small_pointnet_tells_solids_apart():
    """pointnet: accuracy >= 0.9 on new spheres, cubes and tori."""
    torch.manual_seed(0)
    net = PointNet(outputs=3, local=16, features=64)
    trained = gnomon.train(net, solids(400, 0), steps=150, batch=40, optimizer=gnomon.training.Adam(3e-3)).model
    x, y = solids(300, 1)
    with torch.no_grad():
        assert float((trained(x).argmax(1) == y).float().mean()) >= 0.9


@pytest.mark.full
def test_a_deep_graph_network_loses_twenty_points():
    """gcn-oversmoothing: accuracy on communities with 32 graph convolutions is >= 0.2 below that with 2."""
    found = []
    for seed in range(3):
        draw, y = torch.Generator().manual_seed(seed), torch.arange(100) // 50
        edges = (torch.rand(100, 100, generator=draw) < torch.where(y[:, None] == y, 0.2, 0.02)).float().triu(1)
        a = edges + edges.T + torch.eye(100)
        m = a / (a.sum(1)[:, None] * a.sum(1)) ** 0.5
        x = torch.randn(100, 16, generator=draw) + 0.3 * (2 * y[:, None] - 1)
        known = torch.randperm(100, generator=draw)[:20]
        rest = torch.ones(100, dtype=torch.bool).index_fill(0, known, False)
        for depth in (2, 32):
            torch.manual_seed(seed)
            layers = nn.ModuleList([nn.Linear(16, 16 if k < depth - 1 else 2) for k in range(depth)])
            optimizer = torch.optim.Adam(layers.parameters(), 1e-2)
            for _ in range(200):
                h = x
                for layer in layers[:-1]:
                    h = torch.relu(m @ layer(h))
                f = m @ layers[-1](h)
                optimizer.zero_grad()
                nn.functional.cross_entropy(f[known], y[known]).backward()
                optimizer.step()
            found.append(float((f[rest].argmax(1) == y[rest]).float().mean()))
    assert np.mean(found[::2]) >= np.mean(found[1::2]) + 0.2


def test_isomorphic_graphs_have_equal_colors():
    """weisfeiler-lehman-test: P A P^T and A have the same colors, and most random graphs of one size do not."""
    rng, pairs = np.random.default_rng(0), []
    for _ in range(10):
        a = np.triu(rng.uniform(size=(8, 8)) < 0.4, 1).astype(float)
        order = rng.permutation(8)
        pairs += [torch.from_numpy(a + a.T), torch.from_numpy((a + a.T)[order][:, order])]
    colors = graph_classes(pairs).by_colors
    assert colors[::2] == colors[1::2] and len(set(colors)) >= 9


def test_two_sets_of_four_numbers_share_three_power_sums():
    """deep-sets-latent-dimension: sum x^k is the same for k < M, because only the last coefficient differs."""
    polynomial = np.poly([-3.0, -1.0, 1.0, 3.0])
    first, second = np.roots(polynomial), np.roots(polynomial + [0, 0, 0, 0, 2.0])
    powers = [[np.sum(x**k) for x in (first, second)] for k in range(1, 5)]
    assert (
        np.isrealobj(second) and all(abs(a - b) < 1e-9 for a, b in powers[:3]) and abs(powers[3][0] - powers[3][1]) > 1
    )
