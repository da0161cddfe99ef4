"""Clauses of the scope on architectures that no claim measures; the ledger names these tests."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.optimize import linprog
from scipy.signal import convolve2d
from torch import nn

import gnomon
from gnomon.atlas.claims.architecture import (
    barron_theorem_l2,
    hopfield_sublinear_capacity,
    leshno_theorem,
    weight_sharing_efficiency,
)
from gnomon.attribution import receptive_field
from gnomon.attribution.blocks import block_ablation
from gnomon.data import digits


def test_two_units_that_inhibit_each_other_alternate_if_updated_at_once():
    """hopfield-network: s <- sign(W s) for all units at once may have period 2."""
    w, s = np.array([[0.0, -1.0], [-1.0, 0.0]]), np.array([1.0, 1.0])
    path = [s := np.sign(w @ s) for _ in range(4)]
    assert [list(state) for state in path] == [[-1, -1], [1, 1], [-1, -1], [1, 1]]


def test_the_energy_with_thresholds_never_rises():
    """hopfield-network: E = -1/2 sum w_ij s_i s_j + sum b_i s_i, s_i <- sign(sum_j w_ij s_j - b_i)."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        w, b, s = rng.normal(size=(12, 12)), rng.normal(size=12), rng.choice([-1.0, 1.0], 12)
        w = w + w.T
        np.fill_diagonal(w, 0.0)
        energies = [-s @ w @ s / 2 + b @ s]
        for i in [*range(12)] * 15:
            s[i] = 1.0 if w[i] @ s - b[i] >= 0 else -1.0
            energies.append(-s @ w @ s / 2 + b @ s)
        assert np.diff(energies).max() <= 1e-12 and energies[-1] == energies[-13]


def test_stable_patterns_below_and_above_the_sublinear_capacity():
    """hopfield-sublinear-capacity: share of stable patterns >= 0.98 at d / (2 log_2 d), <= 0.15 at d / ln d."""
    changed = hopfield_sublinear_capacity.share_of_changed_patterns
    assert changed(2 / np.log(2), 256, 100, 0).mean() <= 0.02
    assert changed(1, 1024, 4, 0).mean() >= 0.85


def test_a_plain_relu_layer_is_never_the_identity():
    """residual-layer: |relu(W x + b) - x| >= |min(x, 0)| for every W and b."""
    torch.manual_seed(0)
    for _ in range(50):
        layer, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(20, 4)
        assert bool(((layer(x) - x).norm(dim=1) >= x.clamp_max(0).norm(dim=1)).all())
    assert float(x.clamp_max(0).norm()) > 1


def test_conv2d_with_a_flipped_kernel_is_convolve2d():
    """conv-2d: (I * W)[i, j] = sum_kl I[i - k, j - l] W[k, l] as scipy has it."""
    rng = np.random.default_rng(0)
    image, kernel = rng.normal(size=(7, 9)), rng.normal(size=(3, 2))
    flipped = torch.from_numpy(kernel[::-1, ::-1].copy())[None, None]
    by_torch = nn.functional.conv2d(torch.from_numpy(image)[None, None], flipped)[0, 0].numpy()
    np.testing.assert_allclose(by_torch, convolve2d(image, kernel, mode="valid"), rtol=1e-12)


@pytest.mark.full
def test_shared_weights_are_better_by_two_points():
    """weight-sharing-efficiency: accuracy(CNN) - accuracy(MLP) >= 0.02 with 100 examples."""
    found = weight_sharing_efficiency.accuracies(False, 100, 60, 5, 1)
    assert np.mean(found["cnn"] - found["mlp"]) >= 0.02 and sum(found["cnn"] > found["mlp"] + 0.02) >= 4


def test_a_pyramid_ends_in_one_pixel():
    """cnn-pyramid: channels 3 < 8 < 16 < 32 while sides 16 > 8 > 4 > 1, then a dense head."""
    sizes = ((3, 8, 2, 2), (8, 16, 2, 2), (16, 32, 4, 4))
    net = nn.Sequential(*(nn.Conv2d(a, b, k, stride=s) for a, b, k, s in sizes), nn.Flatten(), nn.Linear(32, 10))
    x = torch.randn(2, 3, 16, 16)
    shapes = [tuple(net[: i + 1](x).shape[1:]) for i in range(3)]
    assert shapes == [(8, 8, 8), (16, 4, 4), (32, 1, 1)] and net(x).shape == (2, 10)
    assert receptive_field(net, x).measured[-1] == 16


def flow_errors(step, counts):
    """Distances between a method with these numbers of steps and the flow of a pendulum over time 2."""
    field = lambda v: np.array([v[1], -np.sin(v[0])])  # noqa: E731
    start = np.array([1.0, 0.5])
    exact = solve_ivp(lambda _, v: field(v), (0, 2), start, rtol=1e-12, atol=1e-13).y[:, -1]
    ends = []
    for count in counts:
        v = start
        for _ in range(count):
            v = step(field, v, 2 / count)
        ends.append(np.linalg.norm(v - exact))
    return np.polyfit(np.log(counts), np.log(ends), 1)[0]


def runge_kutta(field, v, h):
    a = field(v)
    b = field(v + h / 2 * a)
    c = field(v + h / 2 * b)
    return v + h / 6 * (a + 2 * b + 2 * c + field(v + h * c))


def test_runge_kutta_steps_have_an_error_of_fourth_order():
    """neural-ode: slope -4 +- 0.3 for the classical method, -1 +- 0.1 for Euler's."""
    assert abs(flow_errors(runge_kutta, (8, 16, 32, 64)) + 4) < 0.3
    assert abs(flow_errors(lambda field, v, h: v + h * field(v), (128, 256, 512, 1024)) + 1) < 0.1


def test_the_printed_integral_of_the_adjoint_has_the_shape_of_the_state():
    """neural-ode-adjoint: a^T df/dtheta has the shape of theta; a^T df/dz, as often printed, that of z."""
    theta, z, a = torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True), torch.randn(3)
    by_theta, by_state = torch.autograd.grad(torch.tanh(theta @ z) @ a, (theta, z))
    assert by_theta.shape == theta.shape and by_state.shape == z.shape != theta.shape


def test_space_to_depth_is_inverted_exactly():
    """invertible-revnet: pixels move into channels and back."""
    x = torch.randn(2, 3, 8, 8)
    down = nn.functional.pixel_unshuffle(x, 2)
    assert down.shape == (2, 12, 4, 4) and torch.equal(nn.functional.pixel_shuffle(down, 2), x)


def test_random_sigmoids_fit_a_wave_and_a_bump():
    """universal-approximation-cybenko: sup error <= 0.05 at 100 units on sin(4 pi x); it falls on a bump of two inputs."""
    rng = np.random.default_rng(0)

    def error(x, y, units, scale):
        w = scale * rng.normal(size=(x.shape[1], units))
        features = np.einsum("nud,du->nu", x[:, None] - rng.uniform(size=(units, x.shape[1])), w)
        features = np.c_[np.tanh(features), np.ones(len(x))]
        return np.abs(features @ np.linalg.lstsq(features, y, rcond=1e-10)[0] - y).max()

    line = np.linspace(0, 1, 400)[:, None]
    assert error(line, np.sin(4 * np.pi * line[:, 0]), 100, 15.0) <= 0.05
    grid = np.array([*product(np.linspace(0, 1, 20), repeat=2)])
    bump = np.exp(-20 * ((grid - 0.5) ** 2).sum(1))
    few, some, many = (error(grid, bump, units, 5.0) for units in (10, 40, 160))
    assert many < some / 3 < few / 3


def test_tanh_units_fit_what_cubic_units_cannot():
    """leshno-theorem: error of 200 tanh units <= 1e-4 on sin(5 x), that of cubic units is the best cubic's to 1e-6."""
    assert leshno_theorem.error(np.tanh, 200, 0) <= 1e-4
    assert leshno_theorem.error(lambda z: z**3, 200, 0) == pytest.approx(leshno_theorem.predicted(), abs=1e-6)


def test_ridge_units_fit_a_function_of_two_variables():
    """lifting-lemma-pinkus: units tanh(w.x + b) come within 0.01 of sin(3 x) cos(2 y) on a square."""
    rng = np.random.default_rng(0)
    x = np.array([*product(np.linspace(-1, 1, 20), repeat=2)])
    y = np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1])
    features = np.tanh(x @ (2 * rng.normal(size=(2, 200))) + rng.normal(size=200))
    assert np.abs(features @ np.linalg.lstsq(features, y, rcond=1e-10)[0] - y).max() <= 0.01


def test_the_slope_of_greedy_approximation_does_not_depend_on_the_dimension():
    """barron-theorem-l2: log-log slope <= -0.9 in 5, 10 and 20 dimensions."""
    units = np.arange(1, 49)
    errors = barron_theorem_l2.observed((5, 10, 20), 300, 0)
    slopes = [np.polyfit(np.log(units), np.log(row), 1)[0] for row in errors]
    assert max(slopes) <= -0.9


def test_stratified_units_of_one_input_have_slope_three_halves():
    """barron-linf-klusowski: sup error ~ m^(-1/2 - 1/d), so m^(-3/2) for d = 1 with one threshold in each cell."""
    rng, x = np.random.default_rng(0), np.linspace(0, 1, 500)
    counts = np.array([16, 32, 64, 128, 256])
    exact = x**2 / 2  # the mean of relu(x - b) over b in [0, 1]

    def errors(draw):
        return [np.mean([np.abs(np.maximum(x[:, None] - draw(m), 0).mean(1) - exact).max() for _ in range(40)])
                for m in counts]  # fmt: skip

    cells = np.polyfit(np.log(counts), np.log(errors(lambda m: (np.arange(m) + rng.uniform(size=m)) / m)), 1)[0]
    free = np.polyfit(np.log(counts), np.log(errors(lambda m: rng.uniform(size=m))), 1)[0]
    assert abs(cells + 1.5) < 0.12 and abs(free + 0.5) < 0.12


def test_five_planes_cut_space_into_26_regions():
    """zaslavsky-regions: sum_{i <= 3} binom(5, i) = 26 sign patterns of five planes have points."""
    rng = np.random.default_rng(0)
    normals, offsets = rng.normal(size=(5, 3)), rng.normal(size=5)
    feasible = 0
    for signs in product((-1.0, 1.0), repeat=5):
        s = np.array(signs)
        rows = np.c_[-s[:, None] * normals, np.ones(5)]  # s (n.x + b) >= t, t <= 1
        found = linprog([0, 0, 0, -1.0], A_ub=rows, b_ub=s * offsets, bounds=[(None, None)] * 3 + [(None, 1.0)])
        feasible += bool(found.status == 0 and found.x[3] > 1e-9)
    assert feasible == 26


def test_the_variation_of_a_wave_is_below_its_fourier_bound():
    """barron-theorem-l2: V <= 2 r C_f, with C_f = 2 for sin(2 w.x), |w| = 1, on the unit ball."""
    variations = np.sqrt(2 * barron_theorem_l2.predicted((2, 5, 10), 300, 0)[:, 0])  # the first bound is V^2 / 2
    assert 0.5 < variations.max() <= 2 * 1 * 2


@pytest.mark.full
def test_a_block_left_out_costs_less_with_skip_connections():
    """resnet-unrolled-sum: mean accuracy lost without one block: residual network < plain network."""

    class Block(nn.Module):
        def __init__(self, skip):
            super().__init__()
            self.skip, self.body = skip, nn.Sequential(nn.Linear(32, 32), nn.ReLU())

        def forward(self, x):
            return self.skip * x + self.body(x)

    split, lost = digits(400, 400, seed=0), []
    for skip in (1.0, 0.0):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), *(Block(skip) for _ in range(5)), nn.Linear(32, 10))
        net = gnomon.train(net, (split.x, split.y), steps=200, batch=100, optimizer=gnomon.training.Adam(3e-3)).model
        found = block_ablation(net, (split.x_test[:256], split.y_test[:256]))
        assert len(found.without) == 5 and found.accuracy > 0.7
        lost.append(found.accuracy - np.mean(list(found.without.values())))
    assert 0 <= lost[0] < lost[1] - 0.1
