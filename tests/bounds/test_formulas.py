"""Every bound and measure as its formula, computed again in numpy on small networks and kernels."""

import sys
from math import comb, exp, expm1, log, pi, sqrt

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon.bounds import (
    generalization_bounds,
    generalization_gap,
    layer_noise_tolerance,
    layer_norms,
    learning_curve,
    output_margins,
)
from gnomon.bounds.barron import barron_norm
from gnomon.bounds.capacity import (
    kernel_rademacher,
    linear_rademacher,
    massart_bound,
    min_norm_bound,
    network_vc_dimension,
    sauer_bound,
    vc_bound,
)
from gnomon.bounds.memorization import Memorization
from gnomon.bounds.pacbayes.inequalities import bernstein_upper_bound, catoni_bound, mcallester_bound, quadratic_bound
from gnomon.bounds.pacbayes.posterior import GaussianWeights
from gnomon.bounds.replace_one import replace_one_gap
from gnomon.bounds.scaling import scaling_law
from gnomon.bounds.stability import ridge_stability

curve_module = sys.modules[learning_curve.__module__]  # the package exports the function under the same name


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)).double()


@pytest.mark.parametrize("shared", [False, True])
def test_every_cushion_by_hand(shared):
    net = network()
    if shared:  # one activation module between all layers
        net[3] = net[1]
    x = torch.randn(7, 3, generator=torch.Generator().manual_seed(1)).double()
    found = layer_noise_tolerance(net, x)
    w = [net[i].weight.detach().numpy() for i in (0, 2, 4)]
    b = [net[i].bias.detach().numpy() for i in (0, 2, 4)]
    layer, inter, shrunk, largest = [np.inf] * 3, [5**-0.5, 4**-0.5, 3**-0.5], 1.0, 0.0
    for row in x.numpy():
        after, before = [row], []
        for i in range(3):
            before.append(w[i] @ after[i] + b[i])
            layer[i] = min(layer[i], np.linalg.norm(w[i] @ after[i]) / np.linalg.norm(w[i]) / np.linalg.norm(after[i]))
            after.append(np.maximum(before[i], 0))
        shrunk = max(shrunk, *(np.linalg.norm(before[i]) / np.linalg.norm(after[i + 1]) for i in range(2)))
        largest = max(largest, np.linalg.norm(before[2]))
        for i in range(2):
            jacobian = np.eye(len(before[i]))
            for j in range(i + 1, 3):
                jacobian = w[j] @ ((before[j - 1] > 0)[:, None] * jacobian)
                ratio = np.linalg.norm(jacobian @ before[i]) / np.linalg.norm(jacobian) / np.linalg.norm(before[i])
                inter[i] = min(inter[i], ratio)
    assert found.layer == pytest.approx(layer) and found.interlayer == pytest.approx(inter)
    assert (found.contraction, found.largest) == pytest.approx((shrunk, largest))
    assert found.total == pytest.approx(sum((shrunk / (a * c)) ** 2 for a, c in zip(layer, inter, strict=True)))


def test_every_bound_from_norms_by_hand():
    net, start = network(), network(1)
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(1)).double()
    x = x[(net[:4](x) > 0).any(1)]  # an example that no unit answers to has no cushion
    y = net(x).argmax(1)
    found = generalization_bounds(net, (x, y), start=start)
    layers, margins = layer_norms(net, start), output_margins(net, (x, y), start=start)
    for i, layer in zip((0, 2, 4), layers, strict=True):
        w, before = net[i].weight.detach().numpy(), start[i].weight.detach().numpy()
        sums = np.abs(w).sum(1)
        by_hand = (np.linalg.norm(w, 2), np.linalg.norm(w), sums.max(), np.linalg.norm(sums))
        assert (layer.spectral, layer.frobenius, layer.row_sum, layer.row_sum_square) == pytest.approx(by_hand)
        assert layer.moved == pytest.approx(np.linalg.norm(w - before, axis=1).sum())
        assert layer.distance == pytest.approx(np.linalg.norm(w - before)) and layer.units == len(w)
    f = net(x).detach().numpy()
    own = f[np.arange(len(x)), y.numpy()]
    values = [own[i] - max(np.delete(f[i], y[i])) for i in range(len(x))]
    assert margins.values.tolist() == pytest.approx(values)
    gamma, n, radius = float(np.quantile(values, 0.1)), len(x), float(x.norm(dim=1).max())
    assert found.margin == pytest.approx(gamma) and margins.size == pytest.approx(float(x.norm()))
    spectral = np.prod([a.spectral for a in layers])
    complexity = spectral * sum((a.moved / a.spectral) ** (2 / 3) for a in layers) ** 1.5
    assert margins.complexity == pytest.approx(complexity)
    assert margins.normalized.tolist() == pytest.approx((np.array(values) * n / complexity / float(x.norm())).tolist())
    kept = layer_noise_tolerance(net, x)
    p = sum(q.numel() for q in net.parameters())
    squared = [net[i].weight.detach().square() for i in (0, 2, 4)]
    paths = float((squared[2] @ squared[1] @ squared[0]).sum())
    for i, shift in ((4, net[4].bias), (2, net[2].bias), (0, net[0].bias)):
        later = {4: torch.eye(3).double(), 2: squared[2], 0: squared[2] @ squared[1]}[i]
        paths += float((later @ shift.detach().square()).sum())
    wanted = {
        "rows": radius / gamma * np.prod([a.row_sum for a in layers]),
        "frobenius": radius / gamma * np.prod([a.frobenius for a in layers]),
        "spectral-1": radius / gamma * spectral * sqrt(sum((a.row_sum_square / a.spectral) ** 2 for a in layers)),
        "spectral-F": radius / gamma * spectral * sqrt(sum(a.units * a.stable_rank for a in layers)),
        "spectral": float(x.norm()) / sqrt(n) / gamma * complexity,
        "parameters": sqrt(p) * sqrt(3 * log(p)),
        "compression": kept.largest / gamma * sqrt(kept.total),
        "path": radius / gamma * sqrt(paths),
    }
    assert {b.name for b in found.bounds} == set(wanted)
    for bound in found.bounds:
        assert bound.value == pytest.approx(wanted[bound.name] / sqrt(n), rel=1e-6), bound.name


def test_counts_and_capacities_by_hand():
    assert sauer_bound(6, 2) == 1 + 6 + 15 and sauer_bound(4, 9) == 16 and sauer_bound(5, 0) == 1
    assert vc_bound(1000, 7.0, 0.1) == pytest.approx(sqrt(32 * (log(7) + log(80)) / 1000))
    assert massart_bound(50, 9.0) == pytest.approx(sqrt(2 * log(9) / 50))
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    assert network_vc_dimension(net) == pytest.approx(32 * 2 * log(32))
    assert sauer_bound(10, 3) == sum(comb(10, i) for i in range(4))


def test_complexities_over_all_signs_and_over_draws():
    x = np.random.default_rng(0).normal(size=(4, 3))
    signs = np.array([[1 - 2 * (k >> i & 1) for i in range(4)] for k in range(16)])
    exact = np.linalg.norm(signs @ x, axis=1).mean() * 1.5 / 4
    for found in (linear_rademacher(torch.tensor(x), 1.5), kernel_rademacher(torch.tensor(x @ x.T), 1.5)):
        assert found.value == pytest.approx(exact) and found.interval.width == pytest.approx(0.0, abs=1e-12)
        assert found.closed == pytest.approx(1.5 * np.linalg.norm(x) / 4) and found.draws == 8
        assert found.gap(0.1) == pytest.approx(2 * exact + 3 * sqrt(log(20) / 8))
    drawn = kernel_rademacher(torch.tensor(x @ x.T), 1.5, draws=7, seed=2)
    rolled = 2.0 * torch.randint(2, (7, 4), generator=torch.Generator().manual_seed(2)).numpy() - 1
    sizes = 1.5 * np.linalg.norm(rolled @ x, axis=1) / 4
    half = 1.96 * sizes.std(ddof=1) / sqrt(7)
    assert drawn.value == pytest.approx(sizes.mean()) and drawn.draws == 7
    assert (drawn.interval.low, drawn.interval.high) == pytest.approx((sizes.mean() - half, sizes.mean() + half))
    assert drawn.interval.confidence == 0.95
    assert (
        kernel_rademacher(torch.tensor(-np.eye(3))).value == 0.0 == kernel_rademacher(torch.tensor(-np.eye(3))).closed
    )


def test_the_bound_of_least_norm_by_hand():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(6, 6))
    k, y, between = a @ a.T + np.eye(6), np.array([1.0, -1, 1, 1, -1, -1]), rng.normal(size=(5, 6))
    test = (torch.tensor(between), torch.tensor([1.0, 1, -1, 1, -1]))
    found = min_norm_bound(torch.tensor(k), torch.tensor(y), delta=0.1, test=test)
    weights = np.linalg.solve(k, y)
    parts = [2 * sqrt(y @ weights / 6), 3 * sqrt(log(20) / 12)]
    assert [float(v.value) for v in found.factors] == pytest.approx(parts) and found.value == pytest.approx(sum(parts))
    assert float(found.measured.value) == pytest.approx(np.mean(np.sign(between @ weights) != test[1].numpy()))
    assert [h.holds for h in found.hypotheses] == [None, True, False]
    for scale, holds in ((1 + 1e-7, True), (1 + 1e-4, False)):
        even = torch.eye(3).double()
        even[0, 0] = scale
        assert min_norm_bound(even, torch.tensor([1.0, -1, 1]).double()).hypotheses[2].holds is holds
    assert min_norm_bound(torch.eye(2), torch.tensor([1.0, 0.9])).hypotheses[1].holds is False


def test_inequalities_by_hand():
    risk, div, n, delta = 0.1, 40.0, 500, 0.02
    half = (div + log(2 * sqrt(n) / delta)) / (2 * n)
    assert mcallester_bound(risk, div, n, delta) == pytest.approx(risk + sqrt(half))
    assert quadratic_bound(risk, div, n, delta) == pytest.approx((sqrt(risk + half) + sqrt(half)) ** 2)
    constants = (0.3, 0.5, 0.8, 1.2, 1.8, 2.7, 4.0)
    best = set()
    for r, d in (
        (0.5, 0.0),
        (0.2, 40.0),
        (0.1, 40.0),
        (0.02, 40.0),
        (0.3, 20.0),
        (0.01, 60.0),
        (0.45, 3.0),
        (0.001, 300.0),
    ):
        spent = (d + log(7 / delta)) / n
        values = [(1 - exp(-c * r - spent)) / -expm1(-c) for c in constants]
        best.add(constants[int(np.argmin(values))])
        assert catoni_bound(r, d, n, delta) == pytest.approx(min(values), rel=1e-12)
    assert len(best) >= 5  # most constants are the best ones somewhere
    for c in constants:  # the best constant is at hand for every risk: more of them would help by a few percent only
        assert catoni_bound(risk, div, n, delta, constants=[c]) >= catoni_bound(risk, div - log(7), n, delta) - 1e-12
    odds = log(2 / delta)
    assert bernstein_upper_bound(0.2, 0.05, 30, delta) == pytest.approx(0.2 + sqrt(0.1 * odds / 30) + 7 * odds / 87)


def test_deviations_of_the_prior_are_by_the_inputs_of_a_layer():
    law = GaussianWeights.around(nn.Sequential(nn.Conv2d(2, 3, (3, 2)), nn.Linear(5, 4)), deviation=0.3)
    wanted = {"0.weight": 12, "0.bias": 12, "1.weight": 5, "1.bias": 5}
    assert law.prior_stds == {name: pytest.approx(0.3 / sqrt(fan)) for name, fan in wanted.items()}
    assert law.parameters == 3 * 12 + 3 + 20 + 4


def test_a_replaced_example_changes_what_a_mean_predicts():
    """Predicting the mean of n targets: each change of a loss follows from the two means."""

    def fit(x, y, seed):
        middle = y.mean()
        return lambda inputs: middle + 0 * inputs[:, 0]

    y = torch.randn(100, generator=torch.Generator().manual_seed(3)).double()
    found = replace_one_gap(fit, (torch.zeros(100, 1), y), draws=40, seed=5)
    order = torch.randperm(100, generator=torch.Generator().manual_seed(5))
    used, fresh = y[order[:60]].numpy(), y[order[60:]].numpy()
    changes = []
    for i in range(40):
        other = used.copy()
        other[i] = fresh[i]
        changes.append((other.mean() - used[i]) ** 2 - (used.mean() - used[i]) ** 2)
    half = stats.t.ppf(0.99, 39) * np.std(changes, ddof=1) / sqrt(40)
    assert float(found.gap.value) == pytest.approx(np.mean(changes))
    assert found.gap.interval.low == pytest.approx(np.mean(changes) - half)
    assert found.gap.interval.high == pytest.approx(np.mean(changes) + half)
    assert found.gap.interval.confidence == 0.9 and found.largest == pytest.approx(np.abs(changes).max())
    before = (used.mean() - used) ** 2
    assert (found.examples, found.draws) == (60, 40) and before.mean() == pytest.approx(found.training)
    assert replace_one_gap(fit, (torch.zeros(100, 1), y), draws=39, seed=5).gap.interval is None


@pytest.mark.parametrize(("least", "holds"), [(-3e-8, True), (-5e-8, False)])
def test_rounding_of_a_kernel_is_measured_by_its_diagonal(least, holds):
    """Eigenvalues down to -1e-8 of the largest diagonal entry, 4, are rounding."""
    kernel = torch.diag(torch.tensor([4.0, 1.0, least], dtype=torch.float64))
    found = ridge_stability(kernel, torch.tensor([0.3, -0.2, 0.1]).double(), decay=0.5)
    assert found.bound.hypotheses[1].holds is holds


class Curve(curve_module._Known):
    """A curve with given errors at its end and at half of it."""

    def __init__(self, n, reach, last, before):
        self.n, self.reach, self.errors = n, reach, {reach: last, reach // 2: before}

    def at(self, size):
        return self.errors[size]


@pytest.mark.parametrize(("before", "power"), [(0.9, -2.0), (0.2, 0.0)])
def test_twice_the_rows_may_go_on_by_the_slope_of_the_last_octave(before, power):
    """Errors 0.9 and 0.225 fall by the square of the size; errors that rise are taken to stay."""
    law = scaling_law([20, 40, 80, 160, 320], [3 / s**0.5 for s in (20, 40, 80, 160, 320)])
    last = 0.225
    found = curve_module._error_with_twice_the_rows(Curve(50, 70, last, before), law, 1.0, 0.0, 1.0)
    straight, told = last * (100 / 70) ** power, law.at(100)
    ends = [float(told.value), straight, told.interval.low, told.interval.high]
    assert found.interval.low == pytest.approx(min(ends)) and found.interval.high == pytest.approx(max(ends))
    assert min(ends) == straight and found.interval.confidence == 0.95


def test_the_gap_and_its_interval_by_hand():
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(net.weight, 2.0)
    x, z = torch.tensor([[1.0], [2.0], [3.0]]).double(), torch.tensor([[1.0], [4.0]]).double()
    found = generalization_gap(net, (x, torch.ones(3).double()), (z, torch.zeros(2).double()), confidence=0.9)
    train, test = np.array([1.0, 9, 25]) / 2, np.array([4.0, 64]) / 2
    half = stats.norm.ppf(0.95) * sqrt(train.var() / 3 + test.var() / 2)
    assert (found.train, found.test) == pytest.approx((train.mean(), test.mean()))
    gap = test.mean() - train.mean()
    assert (found.interval.low, found.interval.high) == pytest.approx((gap - half, gap + half))
    assert found.error_gap is None and found.certain is None
    two = nn.Linear(1, 2, bias=False).double()
    two.weight.data = torch.tensor([[1.0], [-1.0]]).double()
    told = generalization_gap(two, (x, torch.tensor([0, 0, 1])), (z, torch.tensor([1, 1])), confidence=0.9)
    assert told.error_gap == pytest.approx(1 - 1 / 3) and told.certain == pytest.approx(sqrt(log(20) / 4))


def test_random_labels_by_hand():
    run = Memorization((0, 5, 10, 20), (0.5, 1.0, 1.0, 1.0), (0.5, 0.6, 0.9, 1.0), 2)
    assert run.fitted == (5, 20) and run.slowdown == 4.0 and run.rademacher == 1.0
    assert Memorization((0, 5), (1.0, 1.0), (0.5, 1.0), 2).slowdown == 5.0
    assert Memorization((0, 5), (0.5, 1.0), (0.5, 0.75), 2).rademacher == 0.5
    never = Memorization((0, 5), (0.5, 1.0), (0.5, 0.75), 3)
    assert never.slowdown is None and never.rademacher is None


def test_barron_norms_of_waves():
    """sum |w| |c|: a wave of frequency w and size c has w c; the radius of a box is half of its diagonal."""
    t = (torch.arange(32, dtype=torch.float64) + 0.5) / 32
    wave = 3 * torch.sin(2 * pi * 2 * t) + 0.5 * torch.cos(2 * pi * 5 * t)
    found = barron_norm(wave, [1.0], periodic=True)
    assert found.norm == pytest.approx(3 * 4 * pi + 0.5 * 10 * pi, rel=1e-9)
    plane = torch.cos(2 * pi * (3 * t[:, None] / 1.0 + 2 * t[None] / 1.0))
    both = barron_norm(plane, [2.0, 4.0], periodic=True)
    assert both.norm == pytest.approx(2 * pi * sqrt((3 / 2) ** 2 + (2 / 4) ** 2), rel=1e-9)
    assert both.radius == pytest.approx(sqrt(1 + 4))
    mirrored = barron_norm(torch.cos(pi * 3 * t), [1.0])
    assert mirrored.norm == pytest.approx(3 * pi, rel=1e-9)


def test_the_line_of_a_law_and_its_interval():
    sizes, errors = [10, 20, 40, 80, 160, 320], [0.5, 0.38, 0.27, 0.2, 0.15, 0.105]
    law = scaling_law(sizes, errors)
    x = np.log(sizes)
    fits = []
    for c in min(errors) * np.linspace(0, 0.99, 200):
        y = np.log(np.array(errors) - c)
        u = x - x.mean()
        slope = u @ y / (u @ u)
        offset = y.mean() - slope * x.mean()
        left = y - offset - slope * x
        loss = ((np.log(np.exp(offset + slope * x) + c) - np.log(errors)) ** 2).sum()
        fits.append((loss, slope, offset, c, sqrt(left @ left / 3 / (u @ u))))
    best = min(fits)
    allowed = best[0] * (1 + stats.f.ppf(0.95, 1, 3) / 3) + 1e-18
    slopes = [-f[1] for f in fits if f[0] <= allowed]
    half = stats.t.ppf(0.975, 3) * best[4]
    assert (law.exponent, law.floor, law.scale) == pytest.approx((-best[1], best[3], exp(best[2])), rel=1e-6)
    interval = law.exponent_interval
    assert (interval.low, interval.high) == pytest.approx((min(slopes) - half, max(slopes) + half), rel=1e-6)
    assert law.scatter == pytest.approx(sqrt(best[0] / 3), rel=1e-6)
    told = law.at(640)
    value = law.scale * 640**-law.exponent + law.floor
    near = [exp(f[2]) * 640 ** f[1] + f[3] for f in fits if f[0] <= allowed]
    far = (np.log(640) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    half = stats.t.ppf(0.975, 3) * sqrt(best[0] / 3) * sqrt(1 + 1 / 6 + far)
    assert float(told.value) == pytest.approx(value)
    assert (told.interval.low, told.interval.high) == pytest.approx((min(near) * exp(-half), max(near) * exp(half)))
