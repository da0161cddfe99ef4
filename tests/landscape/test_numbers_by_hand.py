"""Norms, flatness, nearby rises and other numbers of the landscape, written out by hand on small problems."""

import inspect
import sys
from math import inf, sqrt

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.landscape.batchnorm import normalization_smoothing
from gnomon.landscape.between import LossBetween, loss_between
from gnomon.landscape.flatness import flatness_radius
from gnomon.landscape.implicit import ImplicitPenalty, implicit_penalty
from gnomon.landscape.norms import rank_during_training, solution_norms
from gnomon.landscape.perturbed import largest_loss_rise, local_entropy
from gnomon.landscape.sharpness import Sharpness
from gnomon.landscape.shrinkage import equivalent_weight_decay, weight_shrinkage
from gnomon.landscape.slices import convexity, loss_along
from gnomon.landscape.smoothness import polyak_constant, try_gradient_steps

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 2, generator=G).double(), torch.randn(6, generator=G).double()
W = torch.tensor([0.7, -0.4]).double()
H = X.T @ X / 6


def linear(weights=W):
    """One linear output whose mean squared loss has the Hessian X^T X / n."""
    net = nn.Linear(len(weights), 1, bias=False).double()
    net.weight.data = weights.clone()[None]
    return net


def loss(w):
    return float((X @ w - Y).square().mean()) / 2


def gradient(w):
    return X.T @ (X @ w - Y) / 6


class Point(nn.Module):
    """The parameter itself as output, whatever the input."""

    def __init__(self, value):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([float(value)]).double())

    def forward(self, x):
        return self.w.expand(len(x), 1)


def test_norms_of_three_layers_are_sums_over_entries_and_paths():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).double()
    found = solution_norms(net)
    a, b, c = (net[i].weight.detach().numpy() for i in (0, 2, 4))
    paths = np.einsum("ij,jk,kl->", c**2, b**2, a**2)
    everything = sum((p.detach().numpy() ** 2).sum() for p in net.parameters())
    assert found.path == pytest.approx(sqrt(paths)) and found.euclidean == pytest.approx(sqrt(everything))
    spectral = [np.linalg.svd(m)[1][0] for m in (a, b, c)]
    assert found.product == pytest.approx(np.prod(spectral))
    values = np.linalg.svd(b)[1]
    p = values / values.sum()
    one = found.weights["2.weight"]
    assert (one.frobenius, one.spectral, one.nuclear) == pytest.approx((sqrt((b**2).sum()), values[0], values.sum()))
    assert one.rank == pytest.approx(np.exp(-(p * np.log(p)).sum()))
    assert rank_during_training([net, net]).ranks["2.weight"] == pytest.approx((one.rank, one.rank))
    assert solution_norms(nn.Sequential(nn.Linear(2, 3), nn.Linear(2, 1))).path is None  # no chain
    assert solution_norms(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))).path is None


def test_implicit_penalties_are_quarter_steps_of_squared_gradients():
    found = implicit_penalty(linear(), (X, Y), lr=0.4, batch=2, seed=3)
    g = gradient(W)
    parts = torch.randperm(6, generator=torch.Generator().manual_seed(3)).split(2)
    noise = np.mean([float((X[i].T @ (X[i] @ W - Y[i]) / 2 - g).square().sum()) for i in parts])
    assert found.loss == pytest.approx(loss(W)) and found.norm == pytest.approx(0.1 * float(g.square().sum()))
    assert found.noise == pytest.approx(0.1 * noise)
    assert found.share == pytest.approx((found.norm + found.noise) / found.loss)
    assert implicit_penalty(linear(), (X, Y), lr=0.4, batch=6).noise == 0
    left = implicit_penalty(linear(), (X, Y), lr=0.4, batch=4, seed=3).noise  # the last two examples are left out
    i = torch.cat(parts)[:4]
    assert left == pytest.approx(0.1 * float((X[i].T @ (X[i] @ W - Y[i]) / 4 - g).square().sum()))
    assert ImplicitPenalty(0.0, 1.0, 1.0, 0.1).share == inf and ImplicitPenalty(4.0, 1.0, 1.0, 0.1).share == 0.5


def test_each_batch_norm_has_its_own_gradients_in_and_out():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Tanh())
    net[1].weight.data = torch.tensor([0.5, 2.0, 1.5])
    found = normalization_smoothing(net, (X.float(), X.float().flip(0)))
    h = net[0](X.float())
    kept = [h, net[1](h)]
    kept += [net[3](kept[1].tanh())]
    kept += [net[4](kept[2])]
    value = (kept[3].tanh() - X.float().flip(0)).square().sum(1).mean() / 2
    grads = torch.autograd.grad(value, kept)
    for name, layer, k in (("1", net[1], 0), ("4", net[4], 2)):
        ratio = layer.weight.detach() / (kept[k].detach().var(0, correction=0) + 1e-5).sqrt()
        full = (ratio.square() * grads[k + 1].square().sum(0)).sum()
        assert found.factors[name] == pytest.approx(float(grads[k].square().sum() / full), rel=1e-4)
        assert found.scales[name] == pytest.approx(float(ratio.mean()), rel=1e-4)
    assert 0 < found.error < 1e-3  # rounding of float32


def test_distances_are_found_by_twelve_halvings_along_both_signs():
    """L = w^2 / 2 at w = 1: a rise of 1.5 is 1 away upwards and 3 away downwards; the second order says sqrt 3."""
    found = flatness_radius(Point(1.0), (torch.zeros(1, 1), torch.zeros(1)), rise=1.5, draws=8)
    g = torch.Generator().manual_seed(0)
    upwards = torch.tensor([float(torch.randn(1, generator=g)) > 0 for _ in range(8)])
    exact = torch.where(upwards, 1.0, 3.0).double()
    assert 0 < int(upwards.sum()) < 8
    assert (found.foretold, found.foretold_worst, found.rise, found.norm) == pytest.approx((sqrt(3), sqrt(3), 1.5, 1.0))
    first = found.foretold_worst  # distances begin with it, and end in the middle of a last interval
    assert found.radii.tolist() == pytest.approx(exact.tolist(), abs=first / 2**12)
    places = found.radii / first * 2**12
    assert torch.allclose(places % 1, torch.tensor(0.5).double(), atol=1e-6)
    assert found.worst == float(found.radii.min()) and found.typical in found.radii
    defaults = inspect.signature(flatness_radius).parameters
    assert (defaults["rise"].default, defaults["draws"].default) == (0.1, 20)


@pytest.mark.parametrize(("power", "found"), [(38.5, True), (39.5, False)])
def test_a_direction_counts_as_flat_after_forty_doublings(power, found):
    """The loss is zero up to a distance of 2^power times the first one, sqrt(2 rise / 1e-12)."""
    end = sqrt(0.2e12) * 2**power
    flat = flatness_radius(Point(0.0), (torch.zeros(1, 1), torch.zeros(1)), draws=1,
                           loss=lambda f, y: (f.abs() - end).clamp_min(0).mean() + 0 * f.square().mean())  # fmt: skip
    assert bool(torch.isfinite(flat.radii).all()) is found and flat.foretold == inf
    if found:
        assert float(flat.radii) == pytest.approx(end, rel=1e-3)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_nearby_rise_is_that_of_steps_up_the_gradient(adaptive, steps):
    w = torch.tensor([0.7, 0.0]).double() if adaptive else W
    t = w.abs() if adaptive else torch.ones(2).double()
    e, g = torch.zeros(2).double(), gradient(w)
    for _ in range(steps):
        e = e + 0.3 * t**2 * g / (t * g).norm()
        size = float((e[t > 0] / t[t > 0]).norm())
        e = e * min(1.0, 0.3 / size)
        g = gradient(w + e)
    found = largest_loss_rise(linear(w), (X, Y), radius=0.3, adaptive=adaptive, ascent_steps=steps)
    assert found.loss == pytest.approx(loss(w)) and found.rise == pytest.approx(loss(w + e) - loss(w))
    best = linear(torch.linalg.solve(H, X.T @ Y / 6))
    assert largest_loss_rise(linear(torch.zeros(2).double()), (X, 0 * Y)).rise == 0  # no gradient to climb
    assert largest_loss_rise(best, (X, Y), radius=0.1).rise >= 0
    assert inspect.signature(largest_loss_rise).parameters["radius"].default == 0.05


def test_local_entropy_is_a_mean_over_its_draws():
    found = local_entropy(linear(), (X, Y), scope=5.0, draws=30, seed=2)
    g = torch.Generator().manual_seed(2)
    energies = np.array([-6 * loss(W + torch.randn(2, generator=g).double() / sqrt(5)) for _ in range(30)])
    value = np.log(np.exp(energies).mean())
    error = 1.96 * np.exp(energies).std(ddof=1) / np.exp(energies).mean() / sqrt(30)
    assert found.value == pytest.approx(value) and found.here == pytest.approx(6 * loss(W))
    assert (found.interval.low, found.interval.high) == pytest.approx((value - error, value + error))
    assert found.interval.confidence == 0.95 and found.scope == 5.0
    assert inspect.signature(local_entropy).parameters["draws"].default == 100


def test_steps_ahead_are_those_of_a_quadratic():
    found = try_gradient_steps(linear(), (X, Y), lrs=(0.5, 3.0))
    g = gradient(W)
    for k, lr in enumerate((0.5, 3.0)):
        there = gradient(W - lr * g)
        assert found.losses[k] == pytest.approx(loss(W - lr * g))
        assert found.cosines[k] == pytest.approx(float(there @ g / there.norm() / g.norm()))
        assert found.smoothness[k] == pytest.approx(float((H @ g).norm() / g.norm()))
    top = float(torch.linalg.eigvalsh(H)[-1])
    assert (found.start, found.local) == pytest.approx((loss(W), top))
    chosen = try_gradient_steps(linear(), (X, Y)).lrs
    assert chosen == pytest.approx([2 / top * 10 ** (e / 4) for e in (-5, -4, -3, -2, -1, 0, 1, 2, 3)])


def test_the_polyak_constant_is_the_least_along_descent():
    top = float(torch.linalg.eigvalsh(H)[-1])
    least, w = inf, W
    floor = loss(torch.linalg.solve(H, X.T @ Y / 6)) - 0.1
    for _ in range(6):
        least = min(least, float(gradient(w).square().sum()) / (2 * (loss(w) - floor)))
        w = w - gradient(w) / top
    found = polyak_constant(linear(), (X, Y), steps=6, min_loss=floor)
    assert found.value == pytest.approx(least) and found.curvature == pytest.approx(top)
    assert (found.min_loss, found.steps) == (floor, 6)
    exact = polyak_constant(
        Point(1.0), (torch.zeros(1, 1), torch.zeros(1)), steps=6
    )  # one step to the minimum, then the end
    assert exact.value == pytest.approx(1.0)
    assert inspect.signature(polyak_constant).parameters["steps"].default == 200


def test_shrinkage_is_that_of_decay_and_of_a_product_of_steps():
    values = torch.linalg.eigvalsh(H).flip(0).tolist()
    found = weight_shrinkage(linear(), (X, Y), lr=[0.1, 0.3, 0.2], k=2)
    assert found.stopped == pytest.approx([1 - (1 - 0.1 * v) * (1 - 0.3 * v) * (1 - 0.2 * v) for v in values])
    assert found.decayed == pytest.approx([v / (v + 1 / 0.6) for v in values])
    assert equivalent_weight_decay(0.1, steps=4) == pytest.approx(2.5)
    found = weight_shrinkage(linear(), (X, Y), weight_decay=0.3, k=1)
    assert found.decayed == pytest.approx([values[0] / (values[0] + 0.3)]) and found.stopped is None
    assert len(weight_shrinkage(nn.Linear(7, 1), (torch.randn(9, 7), torch.randn(9)), weight_decay=1.0).curvatures) == 5
    with pytest.raises(InputError):
        weight_shrinkage(linear(), (X, Y))


def test_the_interval_of_a_sharpness_is_its_residual_to_both_sides():
    (finding,) = Sharpness((5.0, 1.0), (0.25, 0.1), 0.5, 0.0, 9).findings
    value = finding.evidence[0]
    assert (value.interval.low, value.interval.high) == (4.75, 5.25)
    assert Sharpness((3.9, 1.0), (0.25, 0.1), 0.5, 0.0, 9).findings == ()


def test_a_barrier_is_never_negative_and_lines_have_their_ends():
    t = torch.tensor([0.0, 0.5, 1.0]).double()
    assert LossBetween(t[1:2], torch.tensor([1.0]).double(), None).barrier == 0
    assert LossBetween(t, torch.tensor([1.0, 4.0, 3.0]).double(), None).barrier == 2.0
    found = loss_between(linear(W), linear(2 * W), (X, Y))
    assert found.losses.tolist() == pytest.approx([loss(W * (1 + s / 20)) for s in range(21)])


def test_statistics_are_measured_anew_between_the_ends_only():
    one, two = (nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1)).double() for _ in range(2))
    for net, factor in ((one, 3.0), (two, 5.0)):
        net.train()(factor * X), net.eval()
    found = loss_between(one, two, (X, Y), points=3, fresh_statistics=True)
    kept = loss_between(one, two, (X, Y), points=3)
    assert found.losses[0] == kept.losses[0] and found.losses[2] == kept.losses[2]
    w, b = ((p.detach() + q.detach()) / 2 for p, q in zip(one[1].parameters(), two[1].parameters(), strict=True))
    z = (X - X.mean(0)) / (X.var(0) + 1e-5).sqrt()  # running variances are unbiased
    assert float(found.losses[1]) == pytest.approx(float((z @ w[0] + b - Y).square().mean()) / 2)


def test_segments_join_draws_of_the_size_of_the_weights():
    """A loss that is concave beyond a circle: the segments that break convexity are counted on the same draws."""
    scale, count = 1.5 * sqrt((0.7**2 + 0.4**2) / 2), 40

    def dome(w):
        return -(w @ w - 1.5).clamp_min(0)

    class Both(nn.Linear):
        def forward(self, x):
            return dome(self.weight[0]).expand(len(x), 1)

    net = Both(2, 1, bias=False).double()
    net.weight.data = W[None].clone()
    g, broken = torch.Generator().manual_seed(0), 0
    for _ in range(count):
        a, b = (W + scale * torch.randn(2, generator=g).double() for _ in range(2))
        low, high, middle = (float(dome(v)) for v in (a, b, (a + b) / 2))
        broken += middle > (low + high) / 2 + 1e-5 * (abs(low) + abs(high))
    found = convexity(net, (X, Y), segments=count, radius=1.5, loss=lambda f, y: f.mean())
    assert found.broken == pytest.approx(broken / count) and 0.1 < found.broken < 0.95
    flat = convexity(linear(0 * W), (X, Y), segments=1)
    assert flat.broken == 0.0
    defaults = inspect.signature(convexity).parameters
    assert (defaults["segments"].default, defaults["radius"].default) == (100, 1.0)


def test_a_slice_has_the_slope_and_curvature_of_its_direction():
    v = torch.tensor([3.0, 4.0]).double()
    found = loss_along(linear(), (X, Y), direction=v, reach=2.0, points=4)
    u = v / 5
    assert found.t.tolist() == pytest.approx([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert found.losses.tolist() == pytest.approx([loss(W + s * u) for s in (-2, -1, 0, 1, 2)])
    assert (found.slope, found.curvature) == pytest.approx((float(gradient(W) @ u), float(u @ H @ u)))
    assert len(loss_along(linear(), (X, Y)).t) == 41


def test_the_search_for_a_distance_begins_at_that_of_the_steepest_parabola(monkeypatch):
    """L = w H w / 2 with H = diag(4, 1): the loss rises by 1/2 at sqrt(2 * (1/2) / 4) = 1/2 along the first axis."""
    module, begun = sys.modules["gnomon.landscape.flatness"], []
    monkeypatch.setattr(module, "_distance", lambda exceeds, v, first: begun.append(first) or 1.0)
    net = nn.Linear(2, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    x = torch.diag(torch.tensor([8.0, 2.0]).double().sqrt())
    flatness_radius(net, (x, torch.zeros(2).double()), rise=0.5, draws=2)
    assert begun == pytest.approx([0.5] * len(begun), rel=1e-6) and len(begun) >= 4
