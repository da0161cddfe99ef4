"""Clauses of the scope on memories, flows, patches and linear regions that no claim measures; the ledger names them."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import nn

from gnomon import models, robustness
from gnomon.atlas.claims.architecture import (
    barron_linf_klusowski,
    dense_associative_memory,
    hopfield_capacity_0138,
    hopfield_crosstalk,
    neural_ode_claims,
    resnet_depth_benefit,
    resnet_one_neuron_universal,
)
from gnomon.attribution.cues import patch_shuffle_accuracy
from gnomon.models.vision import BagOfPatches


def test_a_hopfield_unit_without_field_becomes_plus_one_and_a_hundred_networks_come_to_rest():
    """hopfield-network: sgn(0) = +1; E never rises by more than 1e-12, and no unit of 100 networks moves at the end."""
    rng, ties = np.random.default_rng(0), 0
    for _ in range(100):
        w = rng.integers(-2, 3, (10, 10)).astype(float)  # whole numbers, so that fields are often exactly zero
        w = np.triu(w, 1) + np.triu(w, 1).T
        s = rng.choice([-1.0, 1.0], 10)
        energies = [-s @ w @ s / 2]
        for i in [*range(10)] * 12:
            ties += w[i] @ s == 0
            s[i] = 1.0 if w[i] @ s >= 0 else -1.0
            energies.append(-s @ w @ s / 2)
        assert np.diff(energies).max() <= 1e-12 and np.array_equal(np.where(w @ s >= 0, 1.0, -1.0), s)
    assert ties > 100
    net = models.HopfieldNetwork(torch.eye(2, 4) * 2 - 1)
    net.weights.zero_()
    assert net.recall(-torch.ones(4)).tolist() == net.step(-torch.ones(4)).tolist() == [1.0] * 4


@pytest.mark.parametrize("load, networks", [(0.1, 24), (0.13, 8), (0.16, 6), (0.2, 4)])
def test_measured_flips_are_within_ten_percent_of_the_gaussian_tail(load, networks):
    """hopfield-crosstalk: share of flipped bits, d = 1000 = P(flip) within 10 % at each load, 9 standard errors apart."""
    found = hopfield_crosstalk.flips(0.0, 1000, (load,), networks, 1)[:, 0]
    predicted = hopfield_crosstalk.predicted(1000, (load,))[0]
    assert found.mean() == pytest.approx(predicted, rel=0.1)
    assert networks * load * 1e6 * predicted > 1000  # flips counted: the standard error is below 3 %


@pytest.mark.full
def test_overlaps_above_the_transition_fall_as_networks_grow():
    """hopfield-capacity-0138: the overlap at a load of 0.15 falls with d, the overlap at 0.13 does not."""
    rng = np.random.default_rng(0)
    overlap = lambda load, d, k: np.mean([hopfield_capacity_0138.overlap(load, 0.5, d, rng) for _ in range(k)])  # noqa: E731
    assert overlap(0.15, 250, 16) > overlap(0.15, 3000, 3) + 0.05
    assert abs(overlap(0.13, 250, 16) - overlap(0.13, 3000, 3)) < 0.03


@pytest.mark.parametrize("order", [0, 2, 3, 4])
def test_changes_of_a_dense_memory_are_differences_of_its_energy(order):
    """dense-associative-memory: E(s) = -sum F(x_t.s), F(z) = z^k or e^z; E(-s_i) - E(s_i) is the sum of changes."""
    rng = np.random.default_rng(0)
    x, s = rng.choice([-1.0, 1.0], (7, 9)), rng.choice([-1.0, 1.0], 9)
    energy = lambda state: -(np.exp(x @ state) if order == 0 else (x @ state) ** order).sum()  # noqa: E731
    scale = 2 * np.sinh(1.0) if order == 0 else 1.0  # e^(z + 1) - e^(z - 1) is this multiple of e^z
    for i in range(9):
        up, down = (np.where(np.arange(9) == i, sign, s) for sign in (1.0, -1.0))
        field = x[:, i] * dense_associative_memory.CHANGES[order](x @ s - x[:, i] * s[i]) * scale
        assert energy(down) - energy(up) == pytest.approx(field.sum())


def test_the_branch_of_a_residual_layer_by_hand():
    """residual-layer: F(x) = x + phi(W x + b) - phi(0) at random weights, for an activation that is not 0 at 0."""
    torch.manual_seed(0)
    layer, x = models.ResidualLayer(5, nn.Sigmoid()).double(), torch.randn(8, 5).double()
    w, b = (p.detach().numpy() for p in (layer.linear.weight, layer.linear.bias))
    by_hand = x.numpy() + 1 / (1 + np.exp(-(x.numpy() @ w.T + b))) - 0.5
    np.testing.assert_allclose(layer(x).detach(), by_hand, atol=1e-14)
    assert np.abs(by_hand - x.numpy()).max() > 0.1


def test_the_adjoint_of_a_flow_is_solved_backwards_together_with_the_state():
    """neural-ode-adjoint: a = dL/dz, da/dt = -a df/dz, dL/dtheta = integral of a df/dtheta, by another solver, to 1e-4."""
    torch.manual_seed(0)
    field, calls = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double(), []
    field.register_forward_hook(lambda *_: calls.append(1))
    x = torch.randn(1, 3, dtype=torch.float64, requires_grad=True)
    end = models.NeuralODE(field, integration_steps=20)(x)
    forward = len(calls)
    by_x, by_w = torch.autograd.grad(end.square().sum(), (x, field[0].weight))
    assert len(calls) >= 2 * forward > 0  # the backward pass runs the field again along the path
    w, b = (p.detach().numpy() for p in field[0].parameters())

    def backward(_, s):  # time runs from 1 to 0: state, adjoint, gradient
        slope = (1 - np.tanh(w @ s[:3] + b) ** 2) * s[3:6]
        return -np.r_[np.tanh(w @ s[:3] + b), -w.T @ slope, -np.outer(slope, s[:3]).ravel()]

    z = end.detach().numpy()[0]
    found = solve_ivp(backward, (0, 1), np.r_[z, 2 * z, np.zeros(9)], rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(found[:3], x.detach()[0], atol=1e-6)
    np.testing.assert_allclose(by_x[0], found[3:6], rtol=1e-4)
    np.testing.assert_allclose(by_w.flatten(), found[6:], rtol=1e-4, atol=1e-6)


@pytest.mark.full
def test_one_more_dimension_solves_what_a_line_cannot():
    """neural-ode-claims: loss of x -> -x at least 0.4 on a line, below 0.02 with one further dimension."""
    line, plane = (neural_ode_claims.train_to_negate(d, 9, 100, 1, 0)[0] for d in (1, 2))
    assert line >= 0.4 and plane < 0.02


def test_shuffled_patches_do_not_change_a_bag_and_change_a_dense_network():
    """bagnet: the mean of patch logits is the same for any order of patches, so that accuracy is kept exactly."""
    torch.manual_seed(0)
    bag, x = BagOfPatches(patch=2, width=8).double(), torch.randn(30, 1, 8, 8).double()
    patches = x.unfold(2, 2, 2).unfold(3, 2, 2).reshape(30, 16, 4)
    heat = bag.body(patches)  # by hand: one row of logits for each place
    torch.testing.assert_close(bag.evidence(x), heat, rtol=0, atol=1e-12)
    torch.testing.assert_close(heat.mean(1), bag(x), rtol=0, atol=1e-12)
    order = torch.randperm(16)
    moved = patches[:, order].reshape(30, 4, 4, 2, 2).transpose(2, 3).reshape(30, 1, 8, 8)
    torch.testing.assert_close(bag(moved), bag(x), rtol=0, atol=1e-12)
    y = bag(x).argmax(1)
    found = patch_shuffle_accuracy(bag, (x, y), patch=2)
    assert found.arrangement == 0.0
    torch.manual_seed(1)
    dense = nn.Sequential(nn.Flatten(), nn.Linear(64, 10)).double()
    assert patch_shuffle_accuracy(dense, (x, dense(x).argmax(1)), patch=2).arrangement > 0.3


def greedy_errors(d, units, points):
    """Squared errors of sin(2 t), t the first input, by step units chosen one by one among 100 along t and 200 others."""
    rng = np.random.default_rng([0, d])
    t = rng.uniform(-1, 1, points)
    others = rng.normal(size=(200, d))
    directions = np.r_[np.tile(np.eye(d)[0], (100, 1)), others / np.linalg.norm(others, axis=1, keepdims=True)]
    thresholds = np.r_[np.linspace(-1, 1, 102)[1:-1], rng.uniform(-1, 1, 200)]
    steps = (np.c_[t, rng.normal(size=(points, d - 1))] @ directions.T > thresholds).astype(float)
    steps, rest, errors = steps - steps.mean(0), np.sin(2 * t) - np.sin(2 * t).mean(), []
    for _ in range(units):
        sizes = np.linalg.norm(steps, axis=0)
        best = np.where(sizes > 1e-6, np.abs(rest @ steps) / np.maximum(sizes, 1e-6), -1).argmax()
        new = steps[:, best] / sizes[best]
        rest, steps = rest - new * (new @ rest), steps - np.outer(new, new @ steps)
        errors.append((rest**2).mean())
    return errors


def test_greedy_errors_have_one_slope_in_all_dimensions():
    """barron-theorem-l2: the slopes of d = 2, 5, 10 differ by at most 0.2 and are at most -0.9."""
    slopes = [np.polyfit(np.log(np.arange(1, 25)), np.log(greedy_errors(d, 24, 1000)), 1)[0] for d in (2, 5, 10)]
    assert max(slopes) <= -0.9 and np.ptp(slopes) <= 0.2


def test_independent_units_of_two_inputs_have_slope_one_half():
    """barron-linf-klusowski: sup error of independent draws ~ m^(-1/2) for d = 2, within 0.12."""
    m, rows = barron_linf_klusowski.errors(False, 60, 0)
    assert abs(np.polyfit(np.log(m), np.log(rows.mean(0)), 1)[0] + 0.5) < 0.12


def test_points_between_two_points_of_a_pattern_have_the_pattern():
    """relu-activation-patterns: {x : pattern(x) = k} is convex, for the patterns of both layers of a network."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 1)).double()
    pattern = lambda z: torch.cat([net[:1](z) > 0, net[:3](z) > 0], 1).double() @ (2 ** torch.arange(9)).double()  # noqa: E731
    x = 2 * torch.randn(600, 2).double()
    found, pairs = pattern(x), 0
    for k in found.unique():
        a = x[found == k]
        b, t = a[torch.randperm(len(a))], torch.rand(len(a), 1).double()
        assert bool((pattern(t * a + (1 - t) * b) == k).all())
        pairs += len(a)
    assert pairs == 600 > 10 * len(found.unique())


def test_a_step_is_built_from_fewer_than_two_hundred_residual_units(monkeypatch):
    """resnet-one-neuron-universal: mean error <= 0.05 on a step function with at most 200 blocks of one unit."""
    step = lambda x: np.where(x < 0.4, -1.0, 1.0)  # noqa: E731
    monkeypatch.setattr(resnet_one_neuron_universal, "target", step)
    blocks = resnet_one_neuron_universal.build_blocks(64)
    x = (np.arange(20_000) + 0.5) / 20_000
    made = resnet_one_neuron_universal.apply_blocks(x, blocks) + resnet_one_neuron_universal.SHIFT_DOWN
    assert len(blocks) <= 200 and np.abs(made - step(x)).mean() <= 0.05


def test_the_jacobian_is_constant_on_each_region_and_differs_between_neighbors():
    """relu-activation-patterns: dF/dx at random points of one cell of regions_in_plane is one matrix."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    found = robustness.regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=2.0)
    jacobians = []
    for cell in found.cells:
        share = torch.rand(3, len(cell)).double() + 0.05
        points = share / share.sum(1, keepdim=True) @ cell
        here = torch.func.vmap(torch.func.jacrev(net))(points).detach()
        assert float((here - here[0]).abs().max()) < 1e-8
        jacobians.append(here[0])
    kinds = torch.stack(jacobians).round(decimals=6).unique(dim=0)
    assert found.count == len(jacobians) > 10 and len(kinds) > 0.7 * len(jacobians)


def test_on_a_cube_the_variation_of_a_wave_is_bounded_by_the_sum_of_its_frequencies():
    """barron-theorem-l2: V <= 2 r C_f, C_f with |w|_1 on the cube |x_i| <= r; with the Euclidean norm it would be broken."""
    for d in (2, 5, 10):
        w = np.random.default_rng(d).uniform(0.5, 1, d) / d  # sin(<w, x>), so that C_f is a norm of w
        t = np.linspace(-np.abs(w).sum(), np.abs(w).sum(), 10_001)  # the values of <w, x> on the cube with r = 1
        variation = np.abs(np.diff(np.sin(t))).sum()
        assert 2 * np.linalg.norm(w) < variation <= 2 * np.abs(w).sum() < 1.3 * variation


@pytest.mark.full
def test_a_hundred_residual_layers_reach_a_loss_of_a_tenth():
    """resnet-depth-benefit: residual loss at depth 100 <= 0.1 on digits."""
    losses = resnet_depth_benefit.final_losses(1, 100, 32, 120, 3, 0)
    assert (losses <= 0.1).all()


@pytest.mark.full
@pytest.mark.parametrize("d", [2, 4, 6])
def test_a_radial_wave_takes_three_layers_to_a_quarter_of_the_error(d):
    """depth-separation-eldan-shamir: test error of cos(4 |x|) with two hidden layers <= 1/4 of one, at equal parameters."""
    torch.manual_seed(0)
    x = torch.nn.functional.normalize(torch.randn(7000, d)) * 2 * torch.rand(7000, 1)
    y, errors = torch.cos(4 * x.norm(dim=1)), []
    deep = nn.Sequential(nn.Linear(d, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))
    count = sum(p.numel() for p in deep.parameters())
    wide = nn.Sequential(nn.Linear(d, count // (d + 2)), nn.ReLU(), nn.Linear(count // (d + 2), 1))
    for net in (wide, deep):
        optimizer = torch.optim.Adam(net.parameters(), 5e-3)
        rule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2500)
        for _ in range(2500):
            pick = torch.randint(6000, (256,))
            optimizer.zero_grad()
            (net(x[pick])[:, 0] - y[pick]).square().mean().backward()
            optimizer.step()
            rule.step()
        errors.append(float((net(x[6000:])[:, 0] - y[6000:]).detach().square().mean()))
    assert errors[1] <= errors[0] / 4
