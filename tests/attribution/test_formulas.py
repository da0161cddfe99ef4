"""Numbers of the instruments of attribution against closed forms and independent computations."""

import inspect

import numpy as np
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.attribution import invert_layer, layer_similarity, variational_information
from gnomon.attribution.gradient import smooth_grad
from gnomon.attribution.similarity import cka


def test_layer_similarity_is_the_cka_of_every_pair_of_layers():
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 5))
    nn.init.constant_(net[0].bias, 2.0)  # a large mean: alignment without centering is another number
    x = torch.randn(30, 4)
    found = layer_similarity(net, net, x)
    rows = [x]
    for part in net:
        rows.append(part(rows[-1]).detach())
    for i, a in enumerate(rows[1:]):
        for j, b in enumerate(rows[1:]):
            k, m = (h.double().numpy() @ h.double().numpy().T for h in (a, b))
            center = np.eye(30) - np.full((30, 30), 1 / 30)
            k, m = center @ k @ center, center @ m @ center  # kernels centered on both sides: the definition of HSIC
            wanted = (k * m).sum() / np.sqrt((k * k).sum() * (m * m).sum())
            assert_allclose([found.cka[i, j], cka(a, b)], [wanted, wanted], rtol=1e-5)


def test_smooth_grad_adds_noise_relative_to_the_range_of_the_inputs():
    class Cube(nn.Module):
        def forward(self, x):
            return (x**3).sum(1, keepdim=True)

    x = torch.tensor([[-1.0, 3.0]]).double()
    noise, count = 0.2 * 4.0, 40_000
    found = smooth_grad(Cube(), x, sigma=0.2, samples=count).values[0]
    mean = 3 * (x[0] ** 2 + noise**2)  # E 3 (x + e)^2
    error = 3 * noise * (4 * x[0] ** 2 + 2 * noise**2).sqrt() / count**0.5
    assert bool(((found - mean).abs() < 4 * error).all())


def test_an_inversion_with_a_penalty_solves_its_quadratic_problem():
    x = torch.rand(1, 1, 3, 4).double()
    found = invert_layer(nn.Sequential(nn.Identity()), "0", x, iterations=600, total_variation_weight=0.3, lr=0.03)
    goal = x.flatten().numpy()
    rows = np.eye(12).reshape(12, 3, 4)
    matrix = np.eye(12) / (goal @ goal)
    for axis in (1, 2):
        steps = np.diff(rows, axis=axis).reshape(12, -1)
        matrix += 0.3 * steps @ steps.T / steps.shape[1]
    wanted = np.linalg.solve(matrix, goal / (goal @ goal))
    assert_allclose(found.reconstruction.flatten(), wanted, atol=1e-4)
    assert_allclose(found.error, np.linalg.norm(wanted - goal) / np.linalg.norm(goal), rtol=1e-3)
    span = goal.max() - goal.min()
    assert_allclose(found.psnr, -10 * np.log10(((wanted - goal) ** 2).mean() / span**2), atol=0.02)


class Fixed(nn.Module):
    """A critic or classifier that training cannot change."""

    def __init__(self, function):
        super().__init__()
        self.function, self.unused = function, nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.function(x) + 0 * self.unused


def test_the_critic_bound_and_its_error_are_those_of_their_equation(monkeypatch):
    n = 60
    a = torch.randn(n)
    b = a + torch.randn(n)

    def critic(x):
        return (x[:, :1] * x[:, 1:]) / 2 + x[:, 1:] / 3

    monkeypatch.setitem(inspect.unwrap(variational_information).__globals__, "_network", lambda *sizes: Fixed(critic))
    found = variational_information(a, b, steps=1, seed=5)
    torch.manual_seed(5)
    order = torch.randperm(n)
    u, v = ((h - h.mean()) / h.std() for h in (a, b))
    tables = []
    for rows in (order[:30], order[30:]):
        p, q = u[rows].double().numpy(), v[rows].double().numpy()
        tables.append(np.outer(p, q) / 2 + q[None] / 3)
    off = ~np.eye(30, dtype=bool)
    c = np.log(np.exp(tables[0][off]).mean())
    f = tables[1] - c
    assert_allclose(found.bound, np.diag(f).mean() - np.exp(f[off]).mean() + 1, rtol=1e-5)
    grown = np.where(off, np.exp(f), 0.0)
    rows, columns = grown.sum(1) / 29, grown.sum(0) / 29
    spread = (np.diag(f) - rows - columns).std(ddof=1)  # the influence of each pair on the estimate
    assert_allclose(found.error, spread / 30**0.5, rtol=1e-5)
    assert_allclose(
        [found.interval.low, found.interval.high], found.bound + np.array([-1.959964, 1.959964]) * found.error
    )


def test_the_classifier_bound_and_its_error_are_those_of_their_equation(monkeypatch):
    n = 60
    a = torch.randn(n)
    y = ((a + torch.randn(n)) > 0.4).long() + (a > 1).long()
    monkeypatch.setitem(
        inspect.unwrap(variational_information).__globals__,
        "_network",
        lambda *sizes: Fixed(lambda x: torch.cat([-x, 0 * x, x], 1)),
    )
    found = variational_information(a, y, steps=1, seed=5)
    torch.manual_seed(5)
    held = torch.randperm(n)[30:]
    u = ((a - a.mean()) / a.std()).double().numpy()[held]
    logits = np.stack([-u, 0 * u, u], 1)
    own = y.numpy()[held]
    chosen = logits[np.arange(30), own] - np.log(np.exp(logits).sum(1))
    share = np.bincount(y.numpy()) / n
    told = chosen - np.log(share[own])
    assert_allclose([found.bound, found.error], [told.mean(), told.std(ddof=1) / 30**0.5], rtol=1e-5)
