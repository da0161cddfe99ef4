"""Clauses of the scope on measures of neurons, lazy curves and costs of kernels; the ledger names these tests."""

from math import log2

import numpy as np
import pytest
import torch
from scipy.stats import wasserstein_distance
from torch import nn
from torch.func import functional_call

from gnomon.data import digits
from gnomon.tangent import scale_sweep


def test_the_distribution_of_neurons_tends_to_the_teachers():
    """mean-field-global-convergence: W_1(mu_t, mu*) -> 0 on the circle of directions; f(c w, v / c) = f(w, v)."""
    torch.manual_seed(0)
    angles, shares = torch.tensor([0.6, 1.4, 2.4]).double(), torch.tensor([0.5, 0.2, 0.3]).double()
    turn = lambda a: torch.stack([a.cos(), a.sin()], -1)  # noqa: E731
    x = turn(torch.linspace(0, 2 * torch.pi, 65)[:-1].double())
    y = torch.relu(x @ turn(angles).T) @ shares

    def distance(w, v):  # on the half circle around the teacher, weights |w| v
        mass = (w.norm(dim=1) * v).clamp(min=0)
        at = torch.remainder(torch.atan2(w[:, 1], w[:, 0]) - 1.5 + torch.pi, 2 * torch.pi)
        return wasserstein_distance(at, angles - 1.5 + torch.pi, mass, shares) + abs(float(mass.mean()) - 1)

    m = 100
    w, v = turn(torch.linspace(0, 2 * torch.pi, m + 1)[:-1].double()), torch.ones(m).double()
    torch.testing.assert_close(torch.relu(x @ (3 * w).T) @ (v / 3), torch.relu(x @ w.T) @ v)
    assert distance(3 * w, v / 3) == pytest.approx(distance(w, v))
    found = []
    for step in range(4001):
        if step in (0, 100, 4000):
            found.append(distance(w, v))
        h = torch.relu(x @ w.T)
        r = 0.5 * (y - h @ v / m) / len(x) * 2
        w, v = w + ((r[:, None] * (h > 0) * v).T @ x), v + h.T @ r
    assert found[0] > 2 * found[1] > 4 * found[2] and found[2] < 0.2


def lazy_problem(unit):
    """A convolutional network, 20 digits and labels."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), unit, nn.Flatten(), nn.Linear(36, 1)).double()
    split = digits(20, 10, seed=0)
    return net, split.x.double(), split.x_test.double(), (split.y < 5).double() * 2 - 1


def test_curves_and_patterns_of_units_tend_to_those_of_the_tangent_model():
    """lazy-cifar-experiments: curves of training and test -> those of (I - r K / n)^t, and flips -> 0, as alpha grows."""
    net, x, z, y = lazy_problem(nn.Tanh())
    p0 = {k: p.detach() for k, p in net.named_parameters()}
    jacobian = torch.func.jacrev(lambda p: functional_call(net, p, (torch.cat([x, z]),))[:, 0])(p0)
    rows = torch.cat([j.flatten(1) for j in jacobian.values()], 1)
    kernel, rate, steps, gaps = rows @ rows[:20].T, 0.05, 30, []
    linear = [torch.zeros(30).double()]
    for _ in range(steps):
        linear.append(linear[-1] - rate / 20 * kernel @ (linear[-1][:20] - y))
    out = lambda p, given: functional_call(net, p, (given,))[:, 0]  # noqa: E731
    begin, both = out(p0, torch.cat([x, z])), torch.cat([x, z])
    for alpha in (1.0, 10.0, 100.0):
        loss = lambda p, a=alpha: ((a * (out(p, x) - begin[:20]) - y) ** 2).sum() / (40 * a**2)  # noqa: E731
        p, curve = p0, []
        for _ in range(steps + 1):
            curve.append(alpha * (out(p, both) - begin))
            p = {k: p[k] - rate * g for k, g in torch.func.grad(loss)(p).items()}
        apart = (torch.stack(curve) - torch.stack(linear)).abs()
        gaps.append((float(apart[:, :20].max()), float(apart[:, 20:].max())))
    for part in zip(*gaps, strict=True):
        assert part[0] > 5 * part[1] > 25 * part[2] > 0
    found = scale_sweep(lazy_problem(nn.ReLU())[0], (x, y), (z, y[:10]), alphas=(1.0, 10.0, 100.0), lr=0.05, steps=30)
    assert found.flips[0] > 3 * found.flips[1] >= 9 * found.flips[2]


class Counted:
    """A number that counts multiplications and divisions."""

    count = 0

    def __init__(self, value):
        self.value = value

    def __sub__(self, other):
        return Counted(self.value - other.value)

    def __mul__(self, other):
        Counted.count += 1
        return Counted(self.value * other.value)

    def __truediv__(self, other):
        Counted.count += 1
        return Counted(self.value / other.value)


def test_a_gaussian_process_stores_n_squared_numbers_and_solves_in_n_cubed_operations():
    """gp-infinite-width-uncertainty: storage n^2 and, by elimination, (n^3 - n) / 3 operations: slopes 2 and 3."""
    sizes, counts, stored = (8, 16, 32), [], []
    for n in sizes:
        x = np.random.default_rng(n).normal(size=(n, 3))
        k = np.exp(-((x[:, None] - x[None]) ** 2).sum(2)) + np.eye(n)
        rows, Counted.count = [[Counted(e) for e in row] for row in k], 0
        for i in range(n):
            for j in range(i + 1, n):
                factor = rows[j][i] / rows[i][i]
                for c in range(i + 1, n):
                    rows[j][c] = rows[j][c] - factor * rows[i][c]
        determinant = np.prod([rows[i][i].value for i in range(n)])
        assert determinant == pytest.approx(np.linalg.det(k)) and Counted.count == (n**3 - n) // 3
        counts.append(Counted.count)
        stored.append(k.size)
    assert log2(counts[2] / counts[1]) == pytest.approx(3, abs=0.01) and stored == [n**2 for n in sizes]
