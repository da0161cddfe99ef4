"""Instruments of optimization against closed forms of quadratics and against plain loops."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.landscape import (
    flat_directions,
    largest_loss_rise,
    local_entropy,
    loss_along,
    lr_range,
    normalization_importance,
    normalization_smoothing,
    scale_invariance,
    try_gradient_steps,
)
from gnomon.landscape.averaging import averaging_gain
from gnomon.landscape.basins import basin_map
from gnomon.landscape.flow import gradient_flow_gap
from gnomon.landscape.implicit import implicit_penalty
from gnomon.landscape.norms import rank_during_training, solution_norms
from gnomon.landscape.ranges import initialization_scale_range
from gnomon.landscape.seed_sensitivity import seed_sensitivity
from gnomon.landscape.shrinkage import equivalent_weight_decay, weight_shrinkage
from gnomon.landscape.slices import convexity
from gnomon.landscape.smoothness import polyak_constant
from gnomon.training import SGD, Adam


def linear(w):
    net = nn.Linear(len(w), 1, bias=False).double()
    net.weight.data = torch.tensor([w], dtype=torch.float64)
    return net


X = torch.tensor([[2.0, 0.0], [0.0, 1.0]]).double()  # H = X^T X / n = diag(2, 1/2)
Y = torch.zeros(2).double()
X3 = torch.randn(12, 3, generator=torch.Generator().manual_seed(1)).double()


def bent(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()


def test_a_slice_of_a_quadratic_is_its_parabola():
    """hessian-curvature: L(w + t v) = L + t g.v + (t^2 / 2) v^T H v."""
    found = loss_along(linear([1.0, 2.0]), (X, Y), direction=torch.tensor([3.0, 4.0]), reach=0.5, points=5)
    assert_allclose([found.slope, found.curvature], [0.6 * 2 * 1 + 0.8 * 0.5 * 2, 0.36 * 2 + 0.64 * 0.5])
    assert_allclose(found.losses, found.parabola, rtol=1e-12)
    assert "curvature" in found.verdict and found.plots()[0].marks
    with pytest.raises(InputError, match="2 numbers, not all zero"):
        loss_along(linear([1.0, 2.0]), (X, Y), direction=torch.ones(3))


def test_least_squares_is_convex_and_a_network_is_not():
    """convex-vs-nonconvex-loss: L((a + b) / 2) <= (L(a) + L(b)) / 2 for every segment."""
    assert convexity(linear([1.0, 2.0]), (X, Y), segments=20).broken == 0
    x = torch.randn(10, 3, generator=torch.Generator().manual_seed(0)).double()
    found = convexity(bent(), (x, x[:, 0]), segments=40, radius=3.0)
    assert found.broken > 0 and found.lowest < 0 and "not convex" in found.verdict


def test_steps_meet_the_curvature_along_the_gradient():
    """smoothness-definition, batchnorm-hessian-smoothing: |g(w - lr g) - g(w)| <= L lr |g|, with cosines of gradients."""
    net = linear([1.0, 2.0])
    g = torch.tensor([2.0, 1.0]).double()  # H w
    ahead = try_gradient_steps(net, (X, Y), lrs=(0.1, 1.5))
    h = torch.tensor([2.0, 0.5]).double()
    assert_allclose(ahead.smoothness, [float((h * g).norm() / g.norm())] * 2, rtol=1e-9)
    assert_allclose(ahead.local, 2.0, rtol=1e-6)
    for lr, cosine, loss in zip(ahead.lrs, ahead.cosines, ahead.losses, strict=True):
        after, w = g - lr * h * g, torch.tensor([1.0, 2.0]).double() - lr * g
        assert_allclose(cosine, float(after @ g / (after.norm() * g.norm())), rtol=1e-9)
        assert_allclose(loss, float((h * w * w).sum()) / 2, rtol=1e-9)
    assert max(ahead.smoothness) <= ahead.local * (1 + 1e-6) and len(ahead.plots()) == 2


def test_the_constant_of_polyak_is_the_least_curvature_that_is_met():
    """pl-inequality: |g|^2 / 2 >= mu (L - L*), with mu the least curvature of a quadratic."""
    assert_allclose(polyak_constant(linear([0.0, 2.0]), (X, Y), lr=0.1, steps=3).value, 0.5, rtol=1e-9)
    both = polyak_constant(linear([1.0, 2.0]), (X, Y), lr=0.4, steps=50)
    assert 0.5 <= both.value < 0.51 and "at most" in both.verdict


def test_rises_and_their_adaptive_form_under_rescaling():
    """flat-minima-generalisation: max over |e| <= r of L(w + e) - L(w); layers scaled by c, 1 / c keep the adaptive one."""
    found = largest_loss_rise(linear([1.0, 0.0]), (X, Y), radius=0.5)
    assert_allclose(found.rise, (1.5**2 - 1) * 2 / 2, rtol=1e-9)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5, bias=False), nn.ReLU(), nn.Linear(5, 1, bias=False)).double()
    other, x = copy.deepcopy(net), torch.randn(20, 2).double()
    with torch.no_grad():
        other[0].weight.mul_(10)
        other[2].weight.div_(10)
    rises = [
        [largest_loss_rise(m, (x, x[:, 0]), radius=0.05, adaptive=a).rise for m in (net, other)] for a in (True, False)
    ]
    assert_allclose(rises[0][0], rises[0][1], rtol=1e-8)
    assert rises[1][1] > 2 * rises[1][0]


def test_noise_that_the_loss_does_not_survive_is_refused():
    net = nn.Sequential(*(nn.Linear(4, 4) for _ in range(9)))
    with pytest.raises(InputError, match="Pass a larger scope"):
        local_entropy(net, (torch.ones(2, 4), torch.zeros(2, 4)), scope=1e-12, draws=3)


def test_local_entropy_of_a_parabola():
    """entropy-sgd: log E exp(-n L(w + e)) over e ~ N(0, 1 / c) is -log(1 + a / c) / 2 for n L = a w^2 / 2 at w = 0."""
    found = local_entropy(
        linear([0.0]), (torch.tensor([[2.0]]).double(), torch.zeros(1).double()), scope=8.0, draws=1000
    )
    assert abs(found.value + 0.5 * torch.log(torch.tensor(1.5)).item()) < 3 * found.interval.width / 3.92
    assert found.here == 0 and "wide minimum" in found.verdict


def test_penalties_of_steps_and_batches():
    """implicit-gradient-regularisation, sgd-modified-loss: (lr / 4) |g|^2 and (lr / 4) mean |g_k - g|^2."""
    x, y = torch.tensor([[1.0], [1.0], [2.0], [2.0]]).double(), torch.tensor([0.0, 0.0, 1.0, 1.0]).double()
    net = linear([1.0])
    each = torch.tensor([1.0, 1.0, 2.0, 2.0]).double()  # x (x w - y)
    found = implicit_penalty(net, (x, y), lr=0.2, batch=1)
    assert_allclose(found.norm, 0.05 * 1.5**2, rtol=1e-12)
    assert_allclose(found.noise, 0.05 * float((each - 1.5).square().mean()), rtol=1e-12)
    assert implicit_penalty(net, (x, y), lr=0.2).noise == 0 and "implicit penalty" in found.verdict


def test_what_decay_and_stopping_keep_is_what_they_keep():
    """weight-decay-hessian-shrinkage, early-stopping-equals-l2, learning-rate-schedule-implicit-l2."""
    net, y = linear([1.0, 1.0]), (X @ torch.ones(2).double())
    found = weight_shrinkage(net, (X, y), weight_decay=0.5, lr=0.1, steps=7, k=2)
    ridge = torch.linalg.solve(X.T @ X / 2 + 0.5 * torch.eye(2).double(), X.T @ y / 2)
    assert_allclose(found.decayed, ridge, rtol=1e-6)
    w = torch.zeros(2).double()
    for _ in range(7):
        w = w - 0.1 * (X.T @ (X @ w - y)) / 2
    assert_allclose(found.stopped, w, rtol=1e-6)
    assert_allclose(equivalent_weight_decay([0.3, 0.2]), 2.0)
    assert_allclose(weight_shrinkage(net, (X, y), lr=[0.3, 0.2], k=1).stopped, 1 - (1 - 0.6) * (1 - 0.4), rtol=1e-6)
    with pytest.raises(InputError, match="pass steps"):
        equivalent_weight_decay(0.1)


def test_the_gap_to_the_flow_falls_with_the_step():
    """gradient-flow-limit: descent in steps lr against steps lr / 8 over the same time: the gap is of order lr."""
    x = torch.randn(12, 3, generator=torch.Generator().manual_seed(1)).double()
    gaps = [gradient_flow_gap(bent(), (x, x[:, 0]), lr=lr, steps=round(2 / lr)).outputs for lr in (0.2, 0.1)]
    assert 1.6 < gaps[0] / gaps[1] < 2.5


def test_averages_of_models():
    """weight-averaging-swa, ensemble-averaging-gain: mean loss - loss of the mean = half the variance of outputs."""
    nets = [linear([1.0, 0.0]), linear([0.0, 2.0])]
    found = averaging_gain(nets, (X, Y))
    f = torch.stack([m(X)[:, 0] for m in nets]).detach()
    assert_allclose(found.mean - found.ensemble, float(f.var(0, correction=0).mean()) / 2, rtol=1e-12)
    assert_allclose(found.weights, found.ensemble, rtol=1e-12)  # linear: both averages are one
    with pytest.raises(InputError, match="at least two models"):
        averaging_gain(nets[:1], (X, Y))


def test_flat_directions_are_counted():
    """many-global-minima: rank of the Hessian at a fitted minimum is at most n outputs; the rest is flat."""
    net = bent()
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).double()
    y = net(x).detach()[:, 0]
    found = flat_directions(net, (x, y))
    from gnomon.landscape import hessian

    values = torch.linalg.eigvalsh(hessian(net, (x, y)).dense())
    assert found.rank == 4 == int((values > 1e-9 * values[-1]).sum()) and found.flat == found.parameters - 4
    assert_allclose(found.values, values[-4:].flip(0), rtol=1e-6)


def test_flat_directions_of_a_wide_network_in_single_precision():
    """Four inputs that nearly agree hold 4 x 3 directions, the weakest by 1e-5 of the strongest squared: far above
    rounding, whose square is 1e-12, however many parameters there are."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(50, 400), nn.Tanh(), nn.Linear(400, 3))
    x = torch.randn(1, 50) + 0.01 * torch.randn(4, 50)
    y = torch.zeros(4, 3)
    found = flat_directions(net, (x, y))
    assert found.rank == flat_directions(net.double(), (x.double(), y.double())).rank == 12
    twice = flat_directions(net.float(), (torch.cat([x, x]), torch.cat([y, y])))
    assert twice.rank == 12  # the same examples again hold nothing more


def test_starts_and_basins():
    """gradient-flow-init-dependence: different starts, different functions; basins end at the saddle's stable line."""
    x = torch.linspace(-1, 1, 6).double()[:, None]
    same = seed_sensitivity(
        lambda s: nn.Linear(1, 1).double(), (x, x[:, 0]), seeds=(0, 1), steps=300, optimizer=SGD(0.5)
    )
    assert same.functions < 1e-6 and len(same.losses) == 2  # a convex problem has one solution
    other = seed_sensitivity(lambda s: bent(s), (X3, X3[:, 0]), seeds=(0, 1), steps=3)
    a, b = bent(0)(X3).detach(), bent(1)(X3).detach()
    before = float((a - b).norm() / (a.norm() * b.norm()).sqrt())
    assert abs(other.functions - before) < 0.2 * before  # three small steps of Adam change little
    tilted = basin_map(lambda w: (w[:, 0] ** 2 - 1) ** 2 + (w[:, 1]) ** 2, low=(-1.0, -1.0), high=(3.0, 1.0), points=9)
    assert_allclose(sorted(tilted.shares), sorted([2 / 9, 1 / 9, 6 / 9]), atol=1e-12)  # the middle column stays at 0
    assert tilted.plots()[0].marks[0].values


def test_ranges_of_learning_rates_and_scales():
    """batchnorm-advantages-list: the largest stable rate of a quadratic is 2 / curvature; scales that train."""
    found = lr_range(
        linear([1.0]), (torch.ones(16, 1).double(), torch.zeros(16).double()), low=0.05, high=50, steps=200
    )
    assert found.stopped == "diverged" and 0.5 < found.largest < 8 and found.lrs[-1] > 2
    told = initialization_scale_range(bent(), (X @ torch.ones(2, 3).double(), Y), scales=(0.1, 1.0), steps=50)
    assert len(told.losses) == 2 and told.plots()


@pytest.mark.parametrize("rule", [SGD(9.0), Adam(9.0), torch.optim.AdamW])
def test_the_range_is_that_of_the_optimizer_and_its_own_rate_is_not_used(rule):
    """The first step on w^2 / 2 from 30: descent multiplies by 1 - lr, Adam moves by lr, AdamW decays as well."""
    net, x = nn.Linear(1, 1, bias=False).double(), torch.ones(32, 1).double()
    nn.init.constant_(net.weight, 30.0)
    found = lr_range(net, (x, torch.zeros(32).double()), low=1e-3, high=10, steps=60, optimizer=rule)
    after = {"SGD": 30 * (1 - 1e-3), "Adam": 30 - 1e-3}.get(type(rule).__name__, 30 * (1 - 1e-5) - 1e-3)
    assert float(net.weight.detach()) == 30 and found.losses[1] == pytest.approx(after**2 / 2, rel=1e-9)


def test_batch_norm_takes_out_two_components_of_the_gradient():
    """batchnorm-gradient-lipschitz: the theorem is an identity for the layer itself; batchnorm-gamma-over-mu."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)).double()
    with torch.no_grad():
        net[1].weight.uniform_(0.5, 2.0)
        net[1].bias.normal_()
    net[1].eps = 1e-14  # the theorem has none
    x = torch.randn(40, 3).double()
    found = normalization_smoothing(net, (x, x[:, 0]))
    assert found.error < 1e-10 and 0 < found.factors["1"] < 1
    told = normalization_importance(net, (x, x[:, 0]))
    reset = copy.deepcopy(net).eval()
    reset[1].bias.data.zero_()
    loss = float((reset(x).detach()[:, 0] - x[:, 0]).square().mean() / 2) - told.loss
    assert_allclose(told.shift["1"], loss, rtol=1e-10)
    with pytest.raises(InputError, match="no batch norm"):
        normalization_smoothing(linear([1.0]), (torch.ones(2, 1).double(), torch.zeros(2).double()))


def test_weights_before_a_normalization_have_no_scale():
    """batchnorm-weight-direction: <w, dL/dw> = 0; directions turn at lr / |w|^2."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)).double()
    x = torch.randn(40, 3).double()
    found = scale_invariance(net, (x, x[:, 0]))
    assert found.invariant == ("0.weight",)
    assert_allclose(found.effective_lr(0.1)["0.weight"], 0.1 / float(net[0].weight.detach().square().sum()))


def test_norms_of_a_solution():
    """explicit-vs-implicit-regularisation, deep-matrix-factorisation: Frobenius, spectral, nuclear, path norm by listing all paths."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 2, bias=False)).double()
    a, b = net[0].weight.detach(), net[2].weight.detach()
    paths = sum(float((b[k, j] * a[j, i]) ** 2) for i in range(2) for j in range(3) for k in range(2))
    found = solution_norms(net)
    assert_allclose(found.path, paths**0.5, rtol=1e-12)
    values = torch.linalg.svdvals(a)
    assert_allclose(found.weights["0.weight"].nuclear, float(values.sum()), rtol=1e-12)
    p = values / values.sum()
    assert_allclose(found.weights["0.weight"].rank, float(torch.exp(-(p * p.log()).sum())), rtol=1e-12)
    assert rank_during_training([net, net]).ranks["0.weight"][0] == pytest.approx(found.weights["0.weight"].rank)
