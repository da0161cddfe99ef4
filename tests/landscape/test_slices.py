"""Slices, convexity, rises and flatness of least squares and of small nonconvex losses."""

from math import inf, sqrt

import pytest
import torch
from scipy.stats import beta
from torch import nn

from gnomon.landscape import flatness_radius, largest_loss_rise, local_entropy, loss_along
from gnomon.landscape.flatness import _distance
from gnomon.landscape.slices import convexity

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 3, generator=G).double(), torch.randn(6, generator=G).double()
W = torch.tensor([0.3, -0.2, 0.5]).double()


def linear(weights=W):
    net = nn.Linear(3, 1, bias=False).double()
    net.weight.data = weights.reshape(1, 3).clone()
    return net


def loss(w):
    return float((X @ w - Y).square().mean()) / 2


def test_places_of_a_slice_are_odd_in_number_and_losses_are_measured_there():
    v = torch.tensor([1.0, 2.0, -2.0]).double()
    found = loss_along(linear(), (X, Y), direction=v, reach=0.6, points=6)
    assert found.t.tolist() == pytest.approx([-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6])
    assert found.losses.tolist() == pytest.approx([loss(W + t * v / 3) for t in found.t])
    assert len(loss_along(linear(), (X, Y)).t) == 41 and float(loss_along(linear(), (X, Y)).t[-1]) == 1.0


@pytest.mark.parametrize("segments", [12, 19])
def test_broken_segments_are_counted_with_their_interval(segments):
    """The loss sum over weights of cos(2 w): segments of two Gaussian draws around the weights, by hand."""
    wavy = lambda f, y: torch.cos(2 * f).mean()  # noqa: E731
    net, x = linear(), torch.eye(3).double()
    found = convexity(net, (x, torch.zeros(3).double()), segments=segments, radius=4.0, loss=wavy, seed=4)
    g = torch.Generator().manual_seed(4)
    scale = 4.0 * float(W.square().mean().sqrt())
    broken = 0
    for _ in range(segments):
        a, b = (W + scale * torch.randn(3, generator=g).double() for _ in range(2))
        f = [float(torch.cos(2 * v).mean()) for v in (a, b, (a + b) / 2)]
        broken += f[2] > (f[0] + f[1]) / 2 + 1e-5 * (abs(f[0]) + abs(f[1]))
    assert 0 < broken < segments and found.broken == pytest.approx(broken / segments)
    assert broken / segments in found.interval
    assert found.lowest == pytest.approx(float((-4 * torch.cos(2 * W) / 3).min()), rel=1e-5)


def test_a_rise_goes_up_the_gradient_and_back_to_the_ball():
    """Two steps of ascent of length r, each followed by a projection on the ball, by hand."""
    for adaptive in (False, True):
        r, t = 0.2, W.abs() if adaptive else torch.ones(3).double()
        e, rises = torch.zeros(3).double(), []
        for _ in range(3):
            g = X.T @ (X @ (W + e) - Y) / 6
            e = e + r * t**2 * g / (t * g).norm()
            e = e * min(1.0, r / float((e / t).norm()))
            rises.append(loss(W + e) - loss(W))
        for steps in (1, 3):
            found = largest_loss_rise(linear(), (X, Y), radius=r, adaptive=adaptive, ascent_steps=steps)
            assert found.rise == pytest.approx(rises[steps - 1]) and found.loss == pytest.approx(loss(W))
    assert largest_loss_rise(linear(), (X, Y)).radius == 0.05


def test_local_entropy_is_the_mean_of_boltzmann_factors_over_the_draws():
    found = local_entropy(linear(), (X, Y), scope=4.0, draws=9, seed=2)
    g = torch.Generator().manual_seed(2)
    factors = torch.tensor([-6 * loss(W + torch.randn(3, generator=g).double() / 2) for _ in range(9)]).double().exp()
    value, error = float(factors.mean().log()), 1.96 * float(factors.std() / factors.mean()) / 3
    assert found.value == pytest.approx(value, rel=1e-6) and found.here == pytest.approx(6 * loss(W))
    assert (found.interval.low, found.interval.high) == pytest.approx((value - error, value + error), rel=1e-5)


def test_a_distance_is_found_by_doubling_and_bisection():
    for distance in (0.013, 0.9, 37.0):
        found = _distance(lambda v, r, d=distance: r >= d, torch.ones(1), 0.5)
        assert found == pytest.approx(distance, rel=1e-2)
    assert _distance(lambda v, r: False, torch.ones(1), 0.5) == inf


def test_radii_of_a_parabola_follow_from_its_hessian():
    """At the minimum the loss rises by r^2 v^T H v / 2 along v."""
    best = torch.linalg.solve(X.T @ X, X.T @ Y)
    H = X.T @ X / 6
    found = flatness_radius(linear(best), (X, Y), rise=0.3, draws=5, seed=3)
    g = torch.Generator().manual_seed(3)
    radii = []
    for _ in range(5):
        v = torch.randn(3, generator=g).double()
        radii.append(sqrt(0.6 / float(v @ H @ v / (v @ v))))
    assert found.radii.tolist() == pytest.approx(radii, rel=1e-2)
    assert found.typical == pytest.approx(sorted(radii)[2], rel=1e-2)
    steepest = float(torch.linalg.eigvalsh(H)[-1])
    assert found.worst == pytest.approx(sqrt(0.6 / steepest), rel=1e-2)
    assert found.foretold == pytest.approx(sqrt(0.6 * 3 / float(H.trace())), rel=0.1)  # the trace is an estimate
    assert found.rise == 0.3 and found.norm == pytest.approx(float(best.norm()))
    default = flatness_radius(linear(best), (X, Y))
    assert default.rise == 0.1 and len(default.radii) == 20


def test_a_binomial_interval_of_broken_segments_is_exact():
    found = convexity(linear(), (X, Y), segments=9)
    assert found.broken == 0 and found.interval.low == 0
    assert found.interval.high == pytest.approx(beta.ppf(0.975, 1, 9))
