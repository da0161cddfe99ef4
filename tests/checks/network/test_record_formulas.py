"""Every number that an instrument of geometry reports, computed again in numpy or by brute force."""

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import solve_ivp
from torch import nn

from gnomon.attribution import feature_variance_shares, receptive_field
from gnomon.attribution.blocks import block_ablation
from gnomon.attribution.neurons import neuron_distance
from gnomon.attribution.regularity import label_regularity
from gnomon.bounds import barron_norm
from gnomon.checks import activation_moment_shift, residual_network_ode_gap, signal_scales, unit_activity
from gnomon.decisions import linear_capacity, normalized_margin, novikoff_bound, separability
from gnomon.decisions.calibration import calibration
from gnomon.decisions.margins import margins
from gnomon.robustness import (
    invertibility,
    jacobian_spectrum,
    linear_map,
    margin_distribution,
    noise_sensitivity,
    supremum_distance,
)
from gnomon.symmetry.invariance import invariance


def normal(*shape):
    return torch.randn(*shape).double()


def test_calibration_is_counted_bin_by_bin():
    p = torch.rand(23, 3).double()
    p, y = p / p.sum(1, keepdim=True), torch.randint(0, 3, (23,))
    found = calibration(p, y, bins=4)
    sure, right = p.numpy().max(1), (p.numpy().argmax(1) == y.numpy()).astype(float)
    parts = [part.numpy() for part in torch.from_numpy(np.argsort(sure)).chunk(4)]
    assert_allclose(found.bins, [(sure[i].mean(), right[i].mean()) for i in parts], rtol=1e-12)
    assert_allclose(found.error, sum(len(i) / 23 * abs(sure[i].mean() - right[i].mean()) for i in parts), rtol=1e-12)
    assert_allclose([found.confidence, found.accuracy, found.gap], [sure.mean(), right.mean(), (sure - right).mean()])
    error = (sure - right).std() / 23**0.5
    assert_allclose([found.deviation, found.margin], [error, stats.norm.ppf(0.99) * error], rtol=1e-9)


def test_margins_and_their_interval():
    p = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.45, 0.15, 0.4], [0.2, 0.37, 0.43]]).double()
    found = margins(p, torch.tensor([0, 1, 2, 2]))
    assert_allclose(found.values, [0.5, -0.3, -0.05, 0.06], rtol=1e-6)
    assert (found.right, found.accuracy, found.hardest) == (2, 0.5, (1, 2, 3, 0))
    assert_allclose([found.smallest, found.median], [-0.3, -0.05], rtol=1e-6)
    exact = stats.binomtest(2, 4).proportion_ci(0.95, method="exact")
    assert_allclose([found.accuracy_interval.low, found.accuracy_interval.high], exact, rtol=1e-9)


def test_distances_to_the_border_and_noise_of_a_quadratic_network():
    class Square(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(normal(3, 2))

        def forward(self, x):
            return (x @ self.w.T) ** 2

    net, x, y = Square(), normal(9, 2), torch.randint(0, 3, (9,))
    found = margin_distribution(net, (x, y))
    w, points = net.w.detach().numpy(), x.numpy()
    for i in range(9):
        f = (points[i] @ w.T) ** 2
        other = max((f[j], j) for j in range(3) if j != y[i])[1]
        slope = 2 * (points[i] @ w[y[i]]) * w[y[i]] - 2 * (points[i] @ w[other]) * w[other]
        gap = f[y[i]] - f[other]
        assert_allclose([found.margins[i], found.distances[i]], [gap, gap / np.linalg.norm(slope)], rtol=1e-9)
    assert_allclose(found.smallest, found.distances.min())
    assert_allclose(found.quantile(0.3), np.quantile(found.distances.numpy(), 0.3), rtol=1e-9)


def test_noise_and_its_penalty_for_squared_and_cross_entropy_losses():
    net, x, y = nn.Linear(2, 3).double(), normal(8, 2), normal(8, 3)
    found = noise_sensitivity(net, (x, y), sigma=0.2, draws=400, seed=1)
    w = net.weight.detach().numpy()
    out = net(x).detach().numpy()
    scale = found.loss / ((out - y.numpy()) ** 2).sum(1).mean()  # the loss is 1/2, or 1/6, of the squared distance
    assert any(np.isclose(scale, s) for s in (1, 1 / 2, 1 / 3, 1 / 6))
    exact = scale * 0.04 * (w**2).sum()  # E |w s e|^2: the rise of a quadratic loss is its penalty
    assert_allclose(found.penalty, exact, rtol=0.1)
    deviation = (found.interval.high - found.interval.low) / 2 / 1.96
    assert abs(found.rise - exact) < 4 * deviation
    assert_allclose((found.interval.low + found.interval.high) / 2, found.rise, rtol=1e-9)
    # a mean over 8 examples of |w e|^2 in each of 400 draws: its deviation by the moments of quadratic forms
    gram = w.T @ w
    assert_allclose(deviation, scale * 0.04 * (2 * (gram**2).sum() / 8 / 400) ** 0.5, rtol=0.15)


def test_the_interval_of_a_rise_under_noise_is_that_of_a_mean_over_draws():
    net, x, y = nn.Linear(2, 1, bias=False).double(), normal(3, 2), normal(3, 1)
    found = noise_sensitivity(net, (x, y), sigma=0.3, draws=4, seed=5)
    draw, w, rises = torch.Generator().manual_seed(5), net.weight.detach(), []
    scale = found.loss / float((net(x) - y).detach().square().mean())
    for _ in range(4):
        torch.randint(0, 2, (3, 1), generator=draw)  # the signs of the penalty
        noise = 0.3 * torch.randn(3, 2, generator=draw).double()
        rises.append(scale * float((noise @ w.T).square().mean()))  # of a squared loss, the mean over both signs
    half = stats.t.ppf(0.975, 3) * np.std(rises, ddof=1) / 2
    assert_allclose([found.rise, found.interval.low, found.interval.high], np.mean(rises) + half * np.array([0, -1, 1]))


def test_singular_values_of_the_jacobian_and_what_is_lost():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)).double()
    x = normal(4, 3)
    rows = [torch.autograd.functional.jacobian(net, one).numpy() for one in x]
    values = np.stack([np.linalg.svd(j, compute_uv=False) for j in rows])
    found = jacobian_spectrum(net, x)
    middle = np.sort(values[:, 0] / values[:, -1])[1]  # torch's median is the lower of the two in the middle
    assert_allclose(found.values, values, rtol=1e-9)
    assert_allclose([found.gain, found.condition], [(values**2).mean(), middle], rtol=1e-9)
    told = invertibility(net, x)
    volumes = np.sort([np.log(abs(np.linalg.det(j))) for j in rows])
    assert_allclose([told.condition, told.log_det], [middle, volumes[1]], rtol=1e-9)
    assert (told.inputs, told.kept) == (3, 3)
    with torch.no_grad():
        net[2].weight[0] = net[2].weight[1] * (1 + 3e-7)
    assert invertibility(net, x).kept == 2 and invertibility(net, x).log_det is None
    net[2].weight.data[0, 0] += 1e-4
    assert invertibility(net, x).kept == 3


def test_an_inverse_is_judged_by_its_relative_error():
    class Half(nn.Module):
        def __init__(self, off):
            super().__init__()
            self.w, self.off = nn.Parameter(torch.ones(1).double()), off

        def forward(self, x):
            return 2 * x * self.w

        def inverse(self, z):
            return z / 2 + self.off

    x = torch.tensor([[4.0, -8.0], [1.0, 2.0]]).double()
    assert_allclose(invertibility(Half(0.02), x).error, 0.02 / 8, rtol=1e-9)
    assert [invertibility(Half(8 * e), x).invertible for e in (0.8e-3, 1.2e-3)] == [True, False]
    assert [len(invertibility(Half(8 * e), x).findings) for e in (0.8e-3, 1.2e-3)] == [0, 1]


def test_sparsity_of_the_frequencies_of_a_linear_map():
    net = nn.Linear(6, 2).double()
    found = linear_map(net, normal(4, 6))
    sizes = np.abs(np.fft.fft(net.weight.detach().numpy())) / 6**0.5
    assert_allclose(found.sparsity, sizes.sum(1) / np.linalg.norm(sizes, axis=1) / 6**0.5, rtol=1e-9)


def test_moments_of_several_units_and_positions():
    nets = [nn.Sequential(nn.Conv1d(1, 3, 2), nn.Flatten(), nn.Linear(9, 4)).double() for _ in range(2)]
    x = normal(6, 1, 4)
    found = activation_moment_shift(nets, x)
    for name, part in (("0", 1), ("2", 3)):
        a, b = (net[:part](x).detach().numpy() for net in nets)
        a, b = (h.transpose(1, 0, *range(2, h.ndim)).reshape(h.shape[1], -1) for h in (a, b))
        shift = (b.mean(1) - a.mean(1)) / a.std(1, ddof=1)
        assert_allclose(found.means[name][1], np.sqrt((shift**2).mean()), rtol=1e-9)
        assert_allclose(found.deviations[name][1], (b.std(1, ddof=1) / a.std(1, ddof=1)).mean(), rtol=1e-9)


def test_the_distance_of_neurons_is_that_of_their_quantiles():
    """Neurons on a line through the origin: a projection multiplies distances by the cosine of its direction."""
    nets = [nn.Sequential(nn.Linear(1, m, bias=False), nn.ReLU(), nn.Linear(m, 1, bias=False)).double() for m in (4, 8)]
    a, b = np.array([-1.0, 0.5, 2.0, 4.0]), np.repeat([0.0, 0.5, 3.0, 4.0], 2)
    for net, values in zip(nets, (a, b), strict=True):
        net[0].weight.data = torch.from_numpy(values)[:, None].clone()
        net[2].weight.data.zero_()
    found = neuron_distance(*nets, directions=4000)
    share = 0.5**0.5  # root of the mean square cosine in two dimensions
    apart = np.sqrt(((a - b[::2]) ** 2).mean())
    assert_allclose(found.distance, share * apart, rtol=0.03)
    assert_allclose(found.spread, share * a.std(), rtol=0.03)
    assert found.widths == (4, 8)
    for net, m in zip(nets, (4, 8), strict=True):  # outgoing weights of size 1 / m are alike with exponent 1
        net[0].weight.data.zero_()
        net[2].weight.data.fill_(1 / m)
    assert_allclose(neuron_distance(*nets, exponent=1.0).distance, 0.0, atol=1e-12)
    same = neuron_distance(*nets, exponent=0.5, directions=4000).distance
    assert_allclose(same, share * abs(4**0.5 / 4 - 8**0.5 / 8), rtol=0.03)


def test_sizes_of_signals_with_biases_and_convolutions():
    net = nn.Sequential(nn.Conv1d(2, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(9, 5), nn.ReLU()).double()
    x = normal(7, 2, 4)
    found, square = signal_scales(net, x), float(x.square().mean())
    for i, fan in ((0, 4), (3, 9)):
        w, b = (getattr(net[i], k).detach().numpy() for k in ("weight", "bias"))
        square = (fan * (w**2).mean() * square + (b**2).mean()) / 2
        assert_allclose(found.predicted[i // 3], square, rtol=1e-9)
    assert_allclose(found.measured, [float(net[:k](x).square().mean().detach()) for k in (2, 5)], rtol=1e-9)


def test_depth_as_time_against_a_solver_of_differential_equations():
    class Block(nn.Module):
        def __init__(self, a):
            super().__init__()
            self.a = nn.Parameter(a)

        def forward(self, h):
            return h + torch.tanh(h @ self.a)

    blocks = [Block(0.4 * normal(2, 2)) for _ in range(3)]
    x = normal(1, 2)
    found = residual_network_ode_gap(nn.Sequential(*blocks), x, refine=20)
    maps = [b.a.detach().numpy() for b in blocks]

    def field(s, h):
        t = min(int(s), 2)
        now, after = np.tanh(h @ maps[t]), np.tanh(h @ maps[min(t + 1, 2)])
        return now + (s - t) * (after - now)

    end = solve_ivp(field, (0, 3), x[0].numpy(), rtol=1e-10, atol=1e-12, max_step=0.05).y[:, -1]
    h = [x.numpy()[0]]
    for a in maps:
        h.append(h[-1] + np.tanh(h[-1] @ a))
    assert_allclose(found.gap, np.linalg.norm(h[-1] - end) / np.linalg.norm(h[-1] - h[0]), rtol=1e-4)
    size = np.linalg.norm
    assert_allclose(found.steps, [size(h[t + 1] - h[t]) / size(h[t]) for t in range(3)], rtol=1e-9)
    changes = [size(np.tanh(h[t] @ maps[t + 1]) - np.tanh(h[t] @ maps[t])) / size(h[t + 1] - h[t]) for t in range(2)]
    assert_allclose(found.changes, changes, rtol=1e-9)


def test_blocks_left_out_one_by_one():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)).double()
    x, y = normal(10, 2), torch.randint(0, 2, (10,))
    found = block_ablation(net, (x, y))
    whole = net(x).detach()
    for name, rest in (("1", (0, 2, 3)), ("2", (0, 1, 3))):
        less = nn.Sequential(*(net[i] for i in rest))(x).detach()
        assert_allclose(found.effects[name], float((less - whole).norm() / (whole - whole.mean(0)).norm()), rtol=1e-9)
        assert_allclose(found.without[name], float((less.argmax(1) == y).double().mean()))
    assert_allclose(found.accuracy, float((whole.argmax(1) == y).double().mean()))


def test_how_far_layers_see_by_sizes_and_by_gradients():
    net = nn.Sequential(
        nn.Conv1d(1, 1, 3, stride=2, bias=False), nn.AvgPool1d(2), nn.Conv1d(1, 1, 2, dilation=2, bias=False)
    ).double()
    with torch.no_grad():
        for p in net.parameters():
            p.fill_(1.0)
    found = receptive_field(net, normal(2, 1, 40))
    assert found.theory == (3, 5, 5 + 2 * 1 * 4) and found.measured == (3, 5, 5 + 2 * 1 * 4) and found.side == 40
    profiles = [np.ones(3), np.array([1, 1, 2, 1, 1]), np.array([1, 1, 2, 1, 1, 0, 0, 0, 1, 1, 2, 1, 1])]
    for told, profile in zip(found.weight, profiles, strict=True):
        place = np.arange(len(profile))
        mean = (profile * place).sum() / profile.sum()
        assert_allclose(told, 2 * np.sqrt((profile * (place - mean) ** 2).sum() / profile.sum()), rtol=1e-9)


def test_the_barron_norm_of_waves_and_the_units_it_asks_for():
    x, y = (np.arange(16) + 0.5) / 16 * 2.0, (np.arange(8) + 0.5) / 8 * 3.0
    values = 0.7 * np.cos(2 * np.pi * 2 * x / 2)[:, None] + 1.3 * np.sin(2 * np.pi * (x[:, None] / 2 + y / 3)) + 5
    found = barron_norm(torch.from_numpy(values), [2.0, 3.0], periodic=True)
    sizes = 0.7 * 2 * np.pi, 1.3 * 2 * np.pi * np.hypot(1 / 2, 1 / 3)
    assert_allclose(found.norm, sum(sizes), rtol=1e-9)
    assert_allclose(found.radius, np.hypot(1.0, 1.5), rtol=1e-12)
    assert found.units(0.5) == math.ceil((2 * found.radius * found.norm / 0.5) ** 2)
    steps = [(w, total) for w, total in found.spectrum if total > 1e-9]
    assert_allclose(steps[-1][1], found.norm, rtol=1e-12)
    middle = [total for w, total in found.spectrum if 3.9 < w < 6.2]
    assert_allclose(middle, sizes[1], rtol=1e-9)
    mirrored = barron_norm(torch.from_numpy(np.cos(np.pi * x / 2)), [2.0])
    assert_allclose(mirrored.norm, np.pi / 2, rtol=1e-9)


def test_the_largest_difference_over_a_box_with_its_error_bar():
    found = supremum_distance(
        lambda x: x[:, 0] * x[:, 1], lambda x: 0 * x[:, 0], [(-1.0, 2.0), (0.0, 3.0)], points=16, lipschitz=5.0
    )
    assert found.points == 16 and found.place == (2.0, 3.0)
    assert_allclose([found.low, found.high], [6.0, 6.0 + 5.0 * np.hypot(0.5, 0.5)], rtol=1e-12)


def test_pairs_of_points_by_distance_and_label():
    x, y = normal(7, 2), torch.tensor([0, 1, 0, 2, 1, 0, 2])
    found = label_regularity(x, y, bins=4)
    pairs = sorted((float((x[i] - x[j]).norm()), float(y[i] != y[j])) for i in range(7) for j in range(i))
    parts = np.array_split(np.arange(21), 4)
    assert_allclose(found.distance, [pairs[p[-1]][0] for p in parts], rtol=1e-6)
    assert_allclose(found.disagreement, [np.mean([pairs[i][1] for i in p]) for p in parts])
    assert_allclose(found.overall, np.mean([d for _, d in pairs]))


def test_motions_of_images_move_every_pixel():
    x = torch.rand(3, 2, 4, 5).double()
    net = nn.Sequential(nn.Flatten(), nn.Linear(40, 3)).double()
    found = {m.name: m for m in invariance(net, x).motions}
    v = x.numpy()
    moved = {name: np.zeros_like(v) for name in ("one pixel right", "one pixel left", "one pixel down")}
    moved["one pixel right"][..., 1:], moved["one pixel left"][..., :-1] = v[..., :-1], v[..., 1:]
    moved["one pixel down"][:, :, 1:] = v[:, :, :-1]
    moved |= {"mirror, left to right": v[..., ::-1].copy(), "mirror, top to bottom": v[:, :, ::-1].copy()}
    before = net(x).detach()
    for name, z in moved.items():
        after = net(torch.from_numpy(z)).detach()
        assert_allclose(found[name].change, float((after - before).norm() / before.norm()), rtol=1e-6)
        assert_allclose(found[name].decisions, float((after.argmax(1) != before.argmax(1)).double().mean()))


def test_the_normalized_margin_and_what_the_examples_leave_unexplained():
    net = nn.Linear(2, 1, bias=False).double()
    net.weight.data = torch.tensor([[3.0, 4.0]]).double()
    x = torch.tensor([[1.0, 0.0], [0.0, 0.76], [2.0, 2.0], [0.0, 2.0]]).double()
    found = normalized_margin(net, (x, torch.ones(4, dtype=torch.long)))
    m = x.numpy() @ [3.0, 4.0]
    assert_allclose([found.margin, found.width], [3 / 5, np.log(4) / 5], rtol=1e-9)
    assert_allclose(found.smooth, -np.log(np.exp(-m).sum()) / 5, rtol=1e-9)
    assert_allclose(found.stationarity, 0.0, atol=1e-9)  # margins 3 and 3.04 are within a tenth, and span the plane
    one = normalized_margin(net, (x[[0, 2, 3]], torch.ones(3, dtype=torch.long)))
    assert_allclose(one.stationarity, 4 / 5, rtol=1e-9)  # the margin 3 alone explains the first weight
    beyond = normalized_margin(net, (x[[0, 2]] * torch.tensor([1.0, 0.83]).double(), torch.ones(2, dtype=torch.long)))
    assert_allclose(beyond.stationarity, 4 / 5, rtol=1e-9)


def test_slack_margins_and_capacity_of_planes():
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]]).double()
    found = separability(x, torch.tensor([0, 1, 0, 1]))
    # w = 2 / 3 (x - 3 / 2) with the ends at distance 1: slacks 0, 4 / 3, 4 / 3, 0; the program may do as well, not better
    assert not found.separable and 0 < found.slack <= 2 / 3 + 1e-9
    w, b = found.w.numpy(), found.b
    slack = np.clip(1 - np.array([-1, 1, -1, 1]) * (x.numpy() @ w + b), 0, None).mean()
    assert_allclose(found.slack, slack, rtol=1e-7)
    told = novikoff_bound(torch.tensor([[3.0, 0.0], [0.0, 4.0]]).double(), torch.tensor([1, 0]))
    assert_allclose([told.radius, told.margin], [4.0, 12 / 5], rtol=1e-6)
    assert told.mistakes == int(16 / 5.76)
    capacity = linear_capacity(normal(60, 3), draws=60)
    for n, share in zip(capacity.points, capacity.shares, strict=True):
        exact = min(1.0, 2 * sum(math.comb(n - 1, i) for i in range(3)) / 2**n)
        assert abs(share - exact) <= 4 * max(exact * (1 - exact) / 60, 1e-6) ** 0.5


def test_shares_of_variance_of_an_unbalanced_design():
    x, y, z = normal(11, 2), torch.tensor([0] * 4 + [1] * 7), torch.tensor([0, 1, 1, 1, 0, 0, 1, 1, 1, 2, 2])
    found = feature_variance_shares(x, y, z)
    v = x.numpy()
    total = ((v - v.mean(0)) ** 2).sum()

    def within(groups):
        return sum(((v[groups == g] - v[groups == g].mean(0)) ** 2).sum() for g in set(groups.tolist()))

    a, b = within(y.numpy()), within((10 * y + z).numpy())
    assert_allclose([found.between, found.nuisance, found.rest], [1 - a / total, (a - b) / total, b / total], rtol=1e-9)
    assert_allclose(found.separation, (total - a) / a, rtol=1e-9)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_slope_below_a_hundredth_of_the_largest_is_saturated(share):
    at = math.acosh((0.01 * share) ** -0.5)  # the slope of tanh is cosh^-2, at most 1
    found = unit_activity(nn.Sequential(nn.Tanh()), torch.tensor([[0.0], [at]]))
    assert found.saturated == {"0": 0.5 if share < 1 else 0.0} and found.dead == {"0": 0.0} and found.examples == 2
