"""Instruments of the function over its inputs, and of its units, against closed forms and plain loops."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.attribution import feature_variance_shares
from gnomon.attribution.neurons import neuron_distance
from gnomon.checks import activation_moment_shift, signal_scales, unit_activity, unit_duplicates
from gnomon.core import InputError
from gnomon.decisions import linear_capacity, margin_growth, normalized_margin, novikoff_bound, separability
from gnomon.landscape.invisible import invisible_weights
from gnomon.robustness import jacobian_spectrum, linear_map, margin_distribution, noise_sensitivity
from gnomon.training import CrossEntropy


def homogeneous(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 6, bias=False), nn.ReLU(), nn.Linear(6, 2, bias=False)).double()


def test_margins_in_units_of_the_weights():
    """max-margin-homogeneous, smooth-margin-sandwich, max-margin-gd: g - log n / |w|^L <= g~ <= g, and their values."""
    net, x = homogeneous(), torch.randn(10, 2, generator=torch.Generator().manual_seed(0)).double()
    y = net(x).argmax(1)
    found = normalized_margin(net, (x, y))
    f = net(x).detach()
    margins = f.gather(1, y[:, None])[:, 0] - f.gather(1, 1 - y[:, None])[:, 0]
    size = sum(float(p.detach().square().sum()) for p in net.parameters())
    assert found.degree == 2 and 0 <= found.stationarity <= 1
    assert_allclose(found.margin, float(margins.min()) / size, rtol=1e-9)
    assert found.margin - found.width <= found.smooth <= found.margin
    double = copy.deepcopy(net)
    with torch.no_grad():
        for p in double.parameters():
            p.mul_(2)
    assert_allclose(margin_growth([net, double], (x, y)).margins, [found.margin] * 2, rtol=1e-9)
    with pytest.raises(InputError, match="a homogeneous network"):
        normalized_margin(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)), (x.float(), y))


def test_distances_of_a_linear_network_are_exact():
    """signed-distance-margin: y (w.x + b) / |w|."""
    net = nn.Linear(2, 1).double()
    x, y = torch.randn(7, 2).double(), torch.tensor([0, 1, 0, 1, 1, 0, 1])
    found = margin_distribution(net, (x, y))
    w, b = net.weight.detach()[0], float(net.bias.detach())
    assert_allclose(found.distances, (2 * y - 1) * (x @ w + b) / w.norm(), rtol=1e-9)
    assert found.quantile(0.5) == pytest.approx(float(found.distances.median())) and found.plots()
    wrong = margin_distribution(net, (x, (x @ w + b < 0).long()))
    assert wrong.verdict == "All decisions are wrong." and "of the correctly classified examples" in found.verdict


def test_noise_at_the_inputs_is_a_penalty_on_the_jacobian():
    """input-noise-equals-l2: E L(x + s e) - L(x) = (s^2 / 2) mean tr J^T H J for a linear network."""
    torch.manual_seed(0)
    net, x = nn.Linear(3, 1).double(), torch.randn(200, 3).double()
    found = noise_sensitivity(net, (x, x[:, 0]), sigma=0.3, draws=30)
    exact = 0.045 * float(net.weight.detach().square().sum())
    assert_allclose(found.penalty, exact, rtol=1e-9)
    assert abs(found.rise - exact) < 2.5 * found.interval.width
    two, y = nn.Linear(3, 2).double(), (x[:, 0] > 0).long()
    told = noise_sensitivity(two, (x, y), sigma=0.05, draws=40, loss=CrossEntropy())
    p = two(x).detach().softmax(1)
    d = (two.weight[0] - two.weight[1]).detach()
    assert_allclose(told.penalty, 0.00125 * float((p[:, 0] * p[:, 1]).mean() * d @ d), rtol=0.05)


def test_singular_values_and_the_one_map_of_linear_layers():
    """init-orthogonal: all singular values 1; linear-conv-net-fourier-l1: Fourier transform of the whole map."""
    net = nn.Sequential(*(nn.Linear(4, 4, bias=False) for _ in range(5))).double()
    for layer in net:
        nn.init.orthogonal_(layer.weight)
    assert_allclose(jacobian_spectrum(net, torch.randn(3, 4).double()).values, torch.ones(3, 4), rtol=1e-12)
    found = linear_map(net, torch.randn(3, 4).double())
    whole = torch.linalg.multi_dot([layer.weight.detach() for layer in reversed(net)])
    assert_allclose(found.weights, whole, atol=1e-12)
    sizes = [abs(sum(w * torch.exp(torch.tensor(-2j * torch.pi * p * k / 4)) for p, w in enumerate(whole[0].tolist()))) / 2
             for k in range(4)]  # fmt: skip
    assert_allclose(found.frequencies[0], [float(s) for s in sizes], rtol=1e-5)
    with pytest.raises(InputError, match="a linear network"):
        linear_map(homogeneous(), torch.randn(4, 2).double())


def test_dead_saturated_and_doubled_units():
    """dead-relu-units, sigmoid-gradient-saturation, init-zero-symmetry: counted one by one."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(inplace=True), nn.Linear(8, 4), nn.Sigmoid())
    with torch.no_grad():
        net[0].bias[:3] = -100.0
        net[2].weight.mul_(30)
    x = torch.randn(50, 2)
    found = unit_activity(net, x)
    h = net[0](x)
    assert found.dead["1"] == pytest.approx(float((h <= 0).all(0).double().mean()))
    s = torch.sigmoid(net[2](torch.relu(h)))
    assert found.saturated["3"] == pytest.approx(float((s * (1 - s) < 0.0025).double().mean()), abs=0.011)
    with torch.no_grad():
        net[0].weight[:4] = net[0].weight[4]
        net[0].bias[:4] = net[0].bias[4]
        net[2].weight[0] = 0
    told = unit_duplicates(net)
    assert told.duplicates == {"0": 4, "2": 0} and told.empty["2"] == 1 and "Initialize them" in told.verdict


def test_moments_of_layers_move():
    """batchnorm-not-covariate-shift: |mean_1 - mean_0| / std_0 and std_1 / std_0 of each unit."""
    net = nn.Sequential(nn.Linear(1, 1)).double()
    other, x = copy.deepcopy(net), torch.randn(30, 1).double()
    with torch.no_grad():
        other[0].weight.mul_(3)
        other[0].bias.add_(5)
    found = activation_moment_shift([net, other], x)
    h0, h1 = net(x).detach()[:, 0], other(x).detach()[:, 0]
    assert_allclose(found.means["0"][1], abs(float((h1.mean() - h0.mean()) / h0.std())), rtol=1e-9)
    assert_allclose(found.deviations["0"], [1, 3], rtol=1e-9)


def test_layers_that_attention_reads_without_calling_are_left_out():
    net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    found = activation_moment_shift([net, net], torch.randn(3, 4, 8))
    assert "linear1" in found.means and "self_attn.out_proj" not in found.means


def test_sizes_of_signals_follow_the_recursion():
    """variance-recursion-relu: E F^2 = (n E W^2 E F_prev^2 + E b^2) / 2, on the mean over networks."""
    ratios = []
    for seed in range(30):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(20, 60), nn.ReLU(), nn.Linear(60, 60), nn.ReLU(), nn.Linear(60, 1))
        for p in net.parameters():
            nn.init.normal_(p, std=0.15)
        found = signal_scales(net, torch.randn(40, 20))
        ratios.append(torch.tensor(found.measured) / torch.tensor(found.predicted))
    mean, error = torch.stack(ratios).mean(0), torch.stack(ratios).std(0) / 30**0.5
    assert bool(((mean - 1).abs() < 4 * error).all())
    with pytest.raises(InputError, match="only linear layers and ReLU"):
        signal_scales(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), torch.ones(2, 2))


def test_planes_and_how_many_points_they_separate():
    """version-space, perceptron-novikoff, cover-capacity-2d: XOR, the largest margin by angles, one half at n = 2 d."""
    x = torch.tensor([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0]]).double()
    y = torch.tensor([1, 1, 0])
    plane = separability(x, y)
    sides = (2 * y - 1) * (x @ plane.w + plane.b)
    assert plane.separable and float(sides.min()) > 0
    angles = torch.linspace(0, 2 * torch.pi, 20001).double()
    directions = torch.stack([angles.cos(), angles.sin()])
    best = float((((2 * y - 1)[:, None] * (x @ directions)).amin(0)).max())
    found = novikoff_bound(x, y)
    assert_allclose(found.margin, best, rtol=1e-6)
    assert found.mistakes == int(5 / best**2)
    assert novikoff_bound(torch.tensor([[1.0], [1.0]]), torch.tensor([0, 1])).mistakes == float("inf")
    flat = torch.randn(60, 3, generator=torch.Generator().manual_seed(0)).double() @ torch.randn(3, 10).double()
    assert 2 < linear_capacity(flat, draws=20).dimension < 4.2  # ten columns of three dimensions


def test_shares_of_variance_neurons_and_weights_nobody_sees():
    """image-variability-taxonomy, mean-field-flow, min-norm-gd: sums of squares, quantiles, projections."""
    g = torch.Generator().manual_seed(0)
    y, z = torch.arange(60) % 3, (torch.arange(60) // 3) % 4
    x = torch.randn(60, 2, generator=g).double() + 3 * y[:, None] + z[:, None]
    found = feature_variance_shares(x, y, z)
    within = sum(float((x[(y == a) & (z == b)] - x[(y == a) & (z == b)].mean(0)).square().sum()) for a in range(3)
                 for b in range(4))  # fmt: skip
    total = float((x - x.mean(0)).square().sum())
    assert_allclose(found.rest, within / total, rtol=1e-9)
    assert_allclose(found.between + found.nuisance + found.rest, 1, rtol=1e-12)
    wide, wider, other = (homogeneous_of(w, s) for w, s in ((400, 0), (800, 1), (800, 1)))
    with torch.no_grad():
        other[0].weight.mul_(3)
    near, far = neuron_distance(wide, wider), neuron_distance(wide, other)
    assert near.distance < 0.15 * near.spread < far.distance
    net = nn.Sequential(nn.Linear(5, 3, bias=False)).double()
    data = torch.randn(2, 5).double()
    told = invisible_weights(net, data)
    w = net[0].weight.detach()
    seen = w @ torch.linalg.pinv(data) @ data
    assert_allclose(told.shares["0"], float((w - seen).square().sum() / w.square().sum()), rtol=1e-8)
    assert told.ranks["0"] == 2


def homogeneous_of(width, seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(2, width, bias=False), nn.ReLU(), nn.Linear(width, 1, bias=False))
    nn.init.normal_(net[0].weight)
    nn.init.normal_(net[2].weight, std=width**-0.5)
    return net


class Functional(nn.Module):
    """The same units with functions in forward, one of them in place, one called twice."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        h = torch.nn.functional.relu(self.layers[0](x), inplace=True)
        return torch.sigmoid(self.layers[2](torch.relu(h)))


def test_functions_in_forward_are_units_as_layers_are():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4), nn.Sigmoid())
    with torch.no_grad():
        net[0].bias[:3] = -100.0
    x = torch.randn(50, 2)
    layers, functions = unit_activity(net, x), unit_activity(Functional(net), x)
    assert list(functions.dead) == ["relu", "relu 2", "sigmoid"]
    assert functions.dead["relu"] == functions.dead["relu 2"] == layers.dead["1"]
    assert functions.saturated["sigmoid"] == layers.saturated["3"]
    assert functions.saturated["relu"] == layers.saturated["1"]
