"""The limit against real networks, freshly constructed by PyTorch with its default initialization.

The mean over seeds of the finite NTK differs from the limit by O(1/width), single networks by O(width^-1/2). Rates are
slopes in log-log coordinates, with intervals of four standard errors that come from the scatter over seeds.
"""

import math

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from tests.oracles.ensemble import ntks


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


def mlp(w):
    hidden = [m for _ in range(3) for m in (nn.Linear(w, w), nn.ReLU())]
    return nn.Sequential(nn.Linear(48, w), nn.ReLU(), *hidden, nn.Linear(w, 1))


def cnn(w):
    layers = [nn.Conv2d(4, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, w, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(w, 1))


def residual(w):
    def block():
        return Residual(nn.Sequential(nn.ReLU(), nn.Linear(w, w), nn.ReLU(), nn.Linear(w, w)))

    return nn.Sequential(nn.Linear(48, w), block(), block(), nn.ReLU(), nn.Linear(w, 1))


def points(shape):
    x = torch.randn(3, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    x[1] = 0.8 * x[0] + 0.6 * x[1]
    return x


def deviations(build, x, width, seeds):
    """For each network the deviation of its NTK from the limit, averaged over entries, relative to the diagonal."""
    limit = gnomon.limit(build(width)).ntk(x)
    scale = limit.diag().sqrt()
    return ((ntks(lambda: build(width), x, seeds, chunk=50) - limit) / (scale[:, None] * scale)).mean((1, 2)).numpy()


def slope(widths, values, errors):
    """Weighted least-squares slope of log values against log widths, and its standard error."""
    x, y, weights = np.log(widths), np.log(values), (values / errors) ** 2
    center = (weights * x).sum() / weights.sum()
    spread = (weights * (x - center) ** 2).sum()
    return (weights * (x - center) * y).sum() / spread, 1 / math.sqrt(spread)


def rms_slope(build, shape, widths, seeds):
    draws = [deviations(build, points(shape), w, seeds) for w in widths]
    squares = np.array([(d**2).mean() for d in draws])
    errors = np.array([(d**2).std() / math.sqrt(seeds) for d in draws])
    return draws, slope(widths, squares, errors)


NETWORKS = {  # widths where the hidden layers, which scatter most, already dominate the first one
    "mlp": (mlp, (48,), (8, 16, 32, 64)),
    "residual": (residual, (48,), (8, 16, 32, 64)),
    "cnn": (cnn, (4, 3, 3), (64, 96, 144, 216)),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.full) if n == "cnn" else n for n in NETWORKS])
def test_finite_networks_scatter_around_the_limit_as_width_to_the_minus_half(name):
    """The mean square deviation from the LIMIT falls as 1/width: a wrong constant in the limit would flatten it."""
    build, shape, widths = NETWORKS[name]
    draws, (rate, error) = rms_slope(build, shape, widths, seeds=200)
    assert abs(rate + 1) <= 4 * error + 0.1, (rate, error)  # 0.1: corrections of relative order 1/width
    for w, d in zip(widths, draws, strict=True):
        assert abs(d.mean()) <= 4 * d.std() / math.sqrt(len(d)) + 0.2 / w, w


def test_the_scatter_test_can_fail(monkeypatch):
    """A limit that is wrong by a tenth does not pass."""
    exact = gnomon.limit

    class Wrong:
        def __init__(self, net):
            self.net = net

        def ntk(self, x):
            return 1.1 * exact(self.net).ntk(x)

    monkeypatch.setattr(gnomon, "limit", Wrong)
    widths = (8, 16, 32, 64)
    draws, _ = rms_slope(mlp, (48,), widths, seeds=200)
    assert any(abs(d.mean()) > 4 * d.std() / math.sqrt(len(d)) + 0.2 / w for w, d in zip(widths, draws, strict=True))


class Square(nn.Module):
    def forward(self, x):
        return x * x


def quadratic(w):
    return nn.Sequential(nn.Linear(48, w), Square(), nn.Linear(w, w), Square(), nn.Linear(w, 1))


@pytest.mark.full
def test_the_bias_of_the_mean_falls_as_one_over_width():
    """ReLU networks are too nearly unbiased to show it; squares are not."""
    widths, seeds = (16, 32, 64, 128), 1500
    draws = [deviations(quadratic, points((48,)), w, seeds) for w in widths]
    means = np.array([d.mean() for d in draws])
    errors = np.array([d.std() / math.sqrt(seeds) for d in draws])
    rate, error = slope(widths, means, errors)
    assert means[0] > 4 * errors[0], "the bias is not seen: no rate can be claimed"
    assert abs(rate + 1) <= 4 * error, (rate, error)


@pytest.mark.full
def test_a_uniform_first_layer_leaves_an_error_of_order_one_over_its_inputs():
    """PyTorch's weights are uniform, and a sum over few inputs is not Gaussian: that error does not fall with width."""
    seeds, width, sizes = 20000, 64, (2, 4, 8)
    means, errors = [], []
    for d in sizes:
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(2, d, dtype=torch.float64, generator=generator).sign()
        x[1, : d // 2] *= -1
        draws = ntks(lambda d=d: nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, 1)), x, seeds)
        limit = gnomon.limit(nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, 1))).ntk(x)
        off = (draws[:, 0, 1] - limit[0, 1]) / limit[0, 0]
        means.append(float(off.mean().abs()))
        errors.append(float(off.std() / math.sqrt(seeds)))
    rate, error = slope(sizes, np.array(means), np.array(errors))
    assert -1.6 <= rate + 4 * error and rate - 4 * error <= -0.6, (rate, error, means, errors)
