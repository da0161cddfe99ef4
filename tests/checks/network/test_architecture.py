"""What outputs see, which blocks matter, depth as time, inverses, Barron norms and distances: against hand computations."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon import attribution, bounds, checks, models, robustness
from gnomon.attribution.blocks import block_ablation
from gnomon.core.errors import InputError


def convolutions():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(4, 4, 3, dilation=2), nn.Conv2d(4, 4, 3, stride=2)
    )


def test_the_receptive_field_is_that_of_the_layers():
    """cnn-pyramid: 1 + 2, + 1, + 2 * 2 * 2, + 2 * 2; gradients see as much."""
    found = attribution.receptive_field(convolutions(), torch.randn(4, 1, 40, 40))
    assert found.theory == (3, 4, 12, 16) == found.measured and found.weight[-1] < 16
    loader = DataLoader(TensorDataset(torch.randn(6, 1, 40, 40), torch.zeros(6)), batch_size=3)
    assert attribution.receptive_field(convolutions(), loader).measured == found.measured


def test_strides_and_paddings_of_layers_by_shifted_images():
    """cnn-pyramid: an image shifted by the stride moves the output by one place; paddings are those of the layers."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1),
        nn.AvgPool2d(2),
        nn.Conv2d(3, 3, 4, padding="same", dilation=2),
        nn.Conv2d(3, 2, 3, stride=3, padding=(2, 0)),
    )
    x = torch.randn(2, 1, 48, 48)
    found = attribution.receptive_field(net, x)
    assert found.strides == (1, 2, 2, 6) and found.paddings == (1, 0, 3, 2)
    for i, step in enumerate(found.strides):
        part = net[: i + 1]
        here, moved = part(x), part(x.roll(step, 2))
        inner = slice(here.shape[2] // 3, 2 * here.shape[2] // 3)  # far from padding
        torch.testing.assert_close(here[:, :, inner], moved[:, :, 1:][:, :, inner])

    class Branched(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 2, 3)

        def forward(self, z):
            return self.b(self.a(z).clone())

    assert attribution.receptive_field(Branched(), x).strides == (1, None)


class Skip(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def test_a_skip_is_measured_though_not_followed():
    net = nn.Sequential(Skip(nn.Conv1d(2, 2, 3, padding=1)), nn.Conv1d(2, 2, 5, padding=2))
    found = attribution.receptive_field(net, torch.randn(2, 2, 30))
    assert found.measured == (3, 7) and found.theory == (3, None)
    with pytest.raises(InputError, match="no convolution"):
        attribution.receptive_field(nn.Linear(3, 3), torch.randn(2, 2, 3))


class Residual(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.linear, self.scale = nn.Linear(width, width), scale

    def forward(self, x):
        return x + self.scale * torch.tanh(self.linear(x))


def test_blocks_left_out_one_by_one():
    """resnet-unrolled-sum: leaving a block out is the network without it."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), Residual(8), Residual(8, 0.0), Residual(8), nn.Linear(8, 2))
    x, y = torch.randn(40, 3), torch.randint(2, (40,))
    found = block_ablation(net, (x, y))
    assert list(found.effects) == ["1", "2", "3"] and found.dead == ("2",)
    assert [f.kind for f in found.findings] == ["dead-block"]
    with torch.no_grad():
        whole, less = net(x), nn.Sequential(net[0], net[2], net[3], net[4])(x)
        by_hand = float((less - whole).norm() / (whole - whole.mean(0)).norm())
        assert abs(found.effects["1"] - by_hand) < 1e-5
        assert found.without["1"] == float((less.argmax(1) == y).double().mean())
    loader = DataLoader(TensorDataset(x, y), batch_size=7)
    assert block_ablation(net, loader).accuracy == found.accuracy


class Linear(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.register_buffer("matrix", matrix)

    def forward(self, x):
        return x + x @ self.matrix.T


def test_the_gap_of_linear_blocks_is_that_of_euler_and_falls_as_one_over_depth():
    """neural-ode: (I + A / L)^L against the matrix exponential."""
    a = torch.tensor([[0.0, -1.0], [1.0, -0.3]]).double()
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(0)).double()
    gaps = []
    for blocks in (4, 8, 16, 32):
        net = nn.Sequential(*(Linear(a / blocks) for _ in range(blocks)))
        found = checks.residual_network_ode_gap(net, x)
        exact, made = x @ torch.matrix_exp(a).T, net(x)
        assert abs(found.gap - float((made - exact).norm() / (made - x).norm())) < 1e-6
        assert max(found.changes) < 1e-12 and len(found.steps) == blocks
        gaps.append(found.gap)
    slope = np.polyfit(np.log([4, 8, 16, 32]), np.log(gaps), 1)[0]
    assert abs(slope + 1) < 0.1


def test_blocks_that_are_layers_of_their_own_are_far_from_an_equation():
    """Small steps alone are not enough: maps that differ from block to block are no function of time."""
    torch.manual_seed(0)
    rough = nn.Sequential(*(Residual(6, 0.1) for _ in range(6)))
    smooth = nn.Sequential(*(copy.deepcopy(rough[0]) for _ in range(6)))
    x = torch.randn(20, 6)
    assert checks.residual_network_ode_gap(smooth, x).gap < 0.05 < 0.15 < checks.residual_network_ode_gap(rough, x).gap
    assert (
        max(checks.residual_network_ode_gap(smooth, x).changes)
        == 0.0
        < 0.5
        < max(checks.residual_network_ode_gap(rough, x).changes)
    )
    with pytest.raises(InputError, match="no two consecutive blocks"):
        checks.residual_network_ode_gap(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)), torch.randn(2, 2))


def test_couplings_are_inverted_and_projections_are_not():
    """invertible-revnet: log |det| = 0, reconstruction to rounding."""
    torch.manual_seed(0)
    net, x = models.ReversibleNetwork(4, depth=10).double(), torch.randn(8, 4).double()
    found = robustness.invertibility(net, x)
    assert found.invertible and abs(found.log_det) < 1e-9 and found.error < 1e-12 and 1 <= found.condition < math.inf
    lossy = robustness.invertibility(nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 4)), torch.randn(8, 4))
    assert lossy.kept == 2 and not lossy.invertible and lossy.condition == math.inf and lossy.log_det is None


class Forgetful(nn.Linear):
    def inverse(self, y):
        return y


def test_a_wrong_inverse_is_found():
    assert [f.kind for f in robustness.invertibility(Forgetful(2, 2), torch.randn(3, 2)).findings] == [
        "inverse-unstable"
    ]


def test_the_barron_norm_of_waves_is_exact_and_that_of_a_jump_grows():
    """barron-theorem-l2: C = sum of |a| |w|."""
    n = 32
    grid = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    x, y = torch.meshgrid(grid, grid, indexing="ij")
    f = torch.cos(2 * math.pi * x) * torch.cos(4 * math.pi * y)  # four waves of |w| = 2 pi sqrt(5), each a quarter
    assert abs(bounds.barron_norm(f, [1.0, 1.0]).norm - 2 * math.pi * math.sqrt(5)) < 1e-9
    sine = bounds.barron_norm(torch.sin(2 * math.pi * grid), [1.0], periodic=True)
    assert abs(sine.norm - 2 * math.pi) < 1e-9 and sine.units(0.1) == math.ceil((2 * 0.5 * sine.norm / 0.1) ** 2)
    jump = [bounds.barron_norm((torch.arange(k) >= k / 2).double(), [1.0]).norm for k in (64, 256)]
    assert jump[1] > 2.5 * jump[0]
    with pytest.raises(InputError, match="one length for each axis"):
        bounds.barron_norm(f, [1.0])


def test_the_distance_of_functions_has_its_error_bar():
    """function-distance-metric: grid max <= sup |f - g| <= grid max + L h; of sin and its tangent, pi / 2 - 1."""
    truth = math.pi / 2 - 1
    box = [(0.0, math.pi / 2)]
    found = robustness.supremum_distance(torch.sin, lambda x: x, box, points=50, lipschitz=1.0)
    assert found.low <= truth + 1e-12 <= found.high and found.high - found.low < 0.02
    plane = robustness.supremum_distance(lambda x: x.prod(1), lambda x: 0 * x[:, 0], [(0, 1), (0, 2)], points=400)
    assert plane.low == 2.0 and plane.high == math.inf and plane.place == (1.0, 2.0)
    net = models.pwl_network(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0]))
    assert robustness.supremum_distance(net, lambda x: x, [(-2.0, 2.0)]).low < 1e-15
    with pytest.raises(InputError, match="low < high"):
        robustness.supremum_distance(net, net, [(1.0, 0.0)])


def test_random_knots_become_a_network_exactly():
    """lebesgue-relu-representation: np.interp between the knots, straight beyond."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        knots, values = np.sort(rng.uniform(-3, 3, 9)), rng.normal(size=9)
        net = models.pwl_network(torch.from_numpy(knots), torch.from_numpy(values))
        x = np.linspace(knots[0], knots[-1], 301)
        with torch.no_grad():
            got = net(torch.from_numpy(x)[:, None])[:, 0].numpy()
        steep = np.abs(np.diff(values) / np.diff(knots)).max()
        assert np.abs(got - np.interp(x, knots, values)).max() < 1e-13 * 9 * max(1, steep) * 6
        assert net[0].out_features == 9
    with pytest.raises(InputError, match="increasing"):
        models.pwl_network(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 0.0]))
