"""Clauses of the scope on memories, residual and convolutional layers that no claim measures; the ledger names them."""

from math import comb, log, pi, sqrt

import numpy as np
import pytest
import torch
from scipy.integrate import quad, solve_ivp
from scipy.signal import convolve2d
from torch import nn

from gnomon import models, robustness
from gnomon.atlas.claims.architecture import (
    barron_linf_klusowski,
    barron_theorem_l2,
    dense_associative_memory,
    hopfield_capacity_0138,
    hopfield_crosstalk,
    hopfield_sublinear_capacity,
    resnet_depth_benefit,
    weierstrass_theorem,
)
from gnomon.atlas.claims.interpretability import invertible_refutes_bottleneck
from gnomon.data import digits
from gnomon.scattering import gabor_fit


def test_hebbs_weights_keep_and_complete_25_patterns_of_500_bits():
    """hebbian-learning: W = (1/d) sum x x^T, w_ii = 0; n = 0.05 d patterns are fixed; 20 % flipped bits: >= 0.99."""
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], size=(25, 500))
    net = models.HopfieldNetwork(torch.from_numpy(x))
    by_hand = sum(np.outer(row, row) for row in x) / 500
    np.fill_diagonal(by_hand, 0.0)
    np.testing.assert_allclose(net.weights.numpy(), by_hand, atol=1e-15)
    assert np.array_equal(np.where(by_hand @ x.T >= 0, 1.0, -1.0).T, x)
    flipped = x.copy()
    for row in flipped:
        row[rng.choice(500, 100, replace=False)] *= -1
    assert float((net.recall(torch.from_numpy(flipped)).numpy() * x).mean()) >= 0.99


def test_crosstalk_is_gaussian_with_the_printed_flip_probabilities():
    """hopfield-crosstalk: C ~ N(0, n/d); its tail beyond 1 is (1 - erf(sqrt(d / 2n))) / 2 with density sqrt(d/2 pi n)."""
    for load, printed in ((0.1, 0.000783), (0.13, 0.00277), (0.16, 0.00621), (0.2, 0.01267)):
        tail = quad(lambda z, a=load: sqrt(1 / (2 * pi * a)) * np.exp(-(z**2) / (2 * a)), 1, np.inf)[0]
        assert tail == pytest.approx(printed, abs=1e-5)
        exact = hopfield_crosstalk.predicted(1000, (load,))[0]
        assert exact == pytest.approx(tail, rel=0.1) and exact < tail  # n - 1 in place of n
    rng, sizes = np.random.default_rng(0), []
    for _ in range(4):
        x = rng.choice([-1.0, 1.0], size=(100, 1000))
        w = x.T @ x / 1000
        np.fill_diagonal(w, 0.0)
        sizes.append((x * (x @ w) - 999 / 1000).var())  # a bit's own pattern gives 999 / 1000, the rest is crosstalk
    assert np.mean(sizes) == pytest.approx(99 / 1000, rel=0.05)


def test_overlaps_at_the_printed_loads_of_a_hopfield_network():
    """hopfield-capacity-0138: overlap >= 0.97 at 0.13, <= 0.8 at 0.16, <= 0.5 at 0.2; half is lost within 0.138..0.16."""
    overlaps = []
    for load, networks in ((0.13, 10), (0.138, 10), (0.16, 2), (0.2, 2)):  # overlaps scatter below the transition
        rngs = [np.random.default_rng(seed) for seed in range(networks)]
        overlaps.append(np.mean([hopfield_capacity_0138.overlap(load, 0.5, 1500, rng) for rng in rngs]))
    assert overlaps[0] >= 0.97 and overlaps[1] > 0.9 > 0.8 >= overlaps[2] and overlaps[3] <= 0.5


def test_all_patterns_are_kept_at_half_of_the_sublinear_capacity():
    """hopfield-sublinear-capacity: share at d/(2 ln d) ~ exp(-1/sqrt(4 pi ln d)) = 0.90; d/(4 ln d): all at once."""
    changed = hopfield_sublinear_capacity.share_of_changed_patterns
    for units in (256, 1024):
        asymptotic = np.exp(-1 / sqrt(4 * pi * log(units)))
        assert asymptotic == pytest.approx(0.9, abs=0.02)
        assert 1 - changed(2, units, 40, 0).mean() == pytest.approx(asymptotic, abs=0.04)
    assert np.mean(changed(4, 256, 100, 0) == 0) >= 0.95 and np.mean(changed(2, 256, 100, 0) == 0) < 0.5


def test_an_exponential_memory_keeps_exponentially_many_patterns():
    """dense-associative-memory: F(z) = e^z keeps 2^(d/2) patterns; F(z) = z^2 keeps a number proportional to d."""
    rng, wrong = np.random.default_rng(0), dense_associative_memory.share_of_wrong_bits
    for d in (20, 24, 28):
        assert np.mean([wrong(0, d, 2 ** (d // 2), rng) for _ in range(3)]) <= 0.01
        assert wrong(2, d, 2 ** (d // 2), rng) > 0.2


def test_a_residual_block_of_changing_width_by_differences():
    """residual-projection: F(x) = V x + phi(W x + b) - phi(0), so dF/dx = V + diag(phi'(W x + b)) W."""
    rng = np.random.default_rng(0)
    v, w, b, x = rng.normal(size=(7, 5)), rng.normal(size=(7, 5)), rng.normal(size=7), rng.normal(size=5)
    sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    block = lambda z: v @ z + sigmoid(w @ z + b) - sigmoid(0.0)  # noqa: E731
    slopes = np.stack([(block(x + 1e-5 * e) - block(x - 1e-5 * e)) / 2e-5 for e in np.eye(5)], 1)
    s = sigmoid(w @ x + b)
    np.testing.assert_allclose(slopes, v + (s * (1 - s))[:, None] * w, atol=1e-8)
    v, w, b = np.eye(5), 0 * w[:5], 0 * b[:5]
    np.testing.assert_allclose(block(x), x, rtol=1e-14)  # V = Id and no weights: the identity, as without a projection


@pytest.mark.full
def test_forty_residual_layers_reach_a_loss_of_a_tenth():
    """resnet-depth-benefit: residual loss <= 0.1 on digits at depth 40, plain loss >= 1 or five times higher."""
    residual, plain = (resnet_depth_benefit.final_losses(skip, 40, 32, 120, 5, 0) for skip in (1, 0))
    assert sum(residual <= 0.1) >= 4 and sum((plain >= 1) | (plain >= 5 * residual)) >= 4


def test_each_layer_of_a_dense_block_reads_all_outputs_before_it():
    """densenet: x^{l+1} = F(x^l, ..., x^1, x): c_0 + l k inputs, and each of them changes the output."""
    torch.manual_seed(0)
    block = models.DenseBlock(4, growth=3, depth=5)
    assert [layer.in_features for layer in block.layers] == [4 + 3 * i for i in range(5)]
    x = states = torch.randn(50, 4)
    for layer in block.layers:
        states = torch.cat([states, torch.relu(layer(states))], 1)
    assert torch.equal(block(x), states)
    before = states[:, :16].detach().requires_grad_()
    (slopes,) = torch.autograd.grad(torch.relu(block.layers[4](before)).sum(), before)
    assert bool((slopes.abs().sum(0) > 0).all())


def test_a_layer_is_a_nonlinearity_of_summed_convolutions():
    """cnn-layer: x_{j+1} = rho(sum_r x_r * w_{c r}); weight (C_out, C_in, K, K); weight-sharing: K^2 C_in C_out < (HW)^2."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 6, 7)), rng.normal(size=(3, 2, 3, 3))
    layer = nn.Conv2d(2, 3, 3, bias=False).double()
    layer.weight.data = torch.from_numpy(w[:, :, ::-1, ::-1].copy())
    summed = np.stack([sum(convolve2d(x[r], w[c, r], mode="valid") for r in range(2)) for c in range(3)])
    np.testing.assert_allclose(
        torch.relu(layer(torch.from_numpy(x)[None]))[0].detach(), np.maximum(summed, 0), atol=1e-12
    )
    dense = nn.Linear(8 * 8, 8 * 8, bias=False)
    shared = nn.Conv2d(2, 3, 5, padding=2, bias=False)
    assert layer.weight.numel() == 3**2 * 2 * 3 and shared.weight.numel() == 5**2 * 2 * 3
    assert dense.weight.numel() == (8 * 8) ** 2 > shared.weight.numel()


def test_gradients_of_a_convolution_are_cross_correlations():
    """conv-backward-input: sum delta_mn w_{m-i, n-j}; conv-backward-weight: sum delta_ij x_{i-m, j-n}; autograd agrees."""
    torch.manual_seed(0)
    x, w = (torch.randn(n, n, dtype=torch.float64, requires_grad=True) for n in (5, 3))
    y = nn.functional.conv2d(x[None, None], w.flip(0, 1)[None, None], padding=2)[0, 0]  # y_ij = sum x_{i-k, j-l} w_kl
    np.testing.assert_allclose(y.detach(), convolve2d(x.detach(), w.detach()), atol=1e-12)
    delta = torch.randn(7, 7, dtype=torch.float64)
    by_x, by_w = torch.autograd.grad((y * delta).sum(), (x, w))
    x, w = x.detach(), w.detach()
    for i, j in np.ndindex(5, 5):
        assert float((delta[i : i + 3, j : j + 3] * w).sum() - by_x[i, j]) == pytest.approx(0, abs=1e-12)
    for m, n in np.ndindex(3, 3):
        assert float((delta[m : m + 5, n : n + 5] * x).sum() - by_w[m, n]) == pytest.approx(0, abs=1e-12)


def test_pooling_returns_the_maximum_of_each_window():
    """max-pooling: I'[i, j] = max of I[i + k, j + l] for 0 <= k, l < r, at stride 1 and at stride r."""
    image = torch.randn(6, 6)
    for stride in (1, 2):
        pooled = nn.functional.max_pool2d(image[None], 2, stride)[0]
        for i, j in np.ndindex(*pooled.shape):
            window = [image[stride * i + k, stride * j + m] for k in (0, 1) for m in (0, 1)]
            assert pooled[i, j] == max(window)
        assert len(pooled) == (5 if stride == 1 else 3)


def test_a_flow_runs_in_another_solver_at_any_times_and_changes_volumes_by_its_trace():
    """neural-ode-claims: solvers are exchangeable, times irregular, weights as many at any depth; d ln det/dt = tr."""
    torch.manual_seed(0)
    field = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2)).double()
    net, x = models.NeuralODE(field, integration_steps=40), torch.randn(1, 2, dtype=torch.float64)
    with torch.no_grad():
        right = lambda _, h: field(torch.from_numpy(h)).numpy()  # noqa: E731
        trace = lambda h: float(torch.func.jacrev(field)(torch.from_numpy(h)).trace())  # noqa: E731
        both = solve_ivp(lambda t, s: np.r_[right(t, s[:2]), trace(s[:2])], (0, 1), np.r_[x[0].numpy(), 0], rtol=1e-10,
                         atol=1e-12, t_eval=[0.13, 0.4, 1.0])  # fmt: skip
        np.testing.assert_allclose(net(x)[0], both.y[:2, -1], atol=1e-8)
        later = solve_ivp(right, (0.4, 1), both.y[:2, 1], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(later.y[:, -1], both.y[:2, -1], atol=1e-8)
    jacobian = torch.autograd.functional.jacobian(lambda z: net(z[None])[0], x[0])
    assert float(torch.linalg.slogdet(jacobian)[1]) == pytest.approx(both.y[2, -1], abs=1e-6)
    deeper = models.NeuralODE(field, integration_steps=400)
    assert sum(p.numel() for p in deeper.parameters()) == sum(p.numel() for p in net.parameters()) == 32


@pytest.mark.full
def test_an_invertible_network_reaches_95_percent_on_digits():
    """invertible-revnet: accuracy >= 0.95 with invertible features."""
    assert invertible_refutes_bottleneck.observed(128, 300, 0)[3] >= 0.95


@pytest.mark.full
def test_a_bag_of_patches_is_within_five_points_of_a_full_network():
    """bagnet: mean of logits of 5 x 5 patches, accuracy within 5 points of a network that sees the whole image."""
    split, found = digits(800, 400, seed=0), []
    for size in (5, 8):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 64, size), nn.ReLU(), nn.Conv2d(64, 64, 1), nn.ReLU(), nn.Conv2d(64, 10, 1))
        optimizer = torch.optim.Adam(net.parameters(), 3e-3)
        for _ in range(120):
            loss = nn.functional.cross_entropy(net(split.x).mean((2, 3)), split.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append(float((net(split.x_test).mean((2, 3)).argmax(1) == split.y_test).double().mean()))
    assert found[1] > 0.93 and found[0] >= found[1] - 0.05


def test_the_distance_to_a_family_is_the_smallest_to_its_members():
    """function-distance-metric: d_K(f, G) = inf over g of sup |f - g|; of x^2 to the constants, 1/2."""
    square = lambda x: x**2  # noqa: E731
    apart = [robustness.supremum_distance(square, lambda x, c=c: 0 * x + c, [(0.0, 1.0)], points=101).low
             for c in np.linspace(0, 1, 101)]  # fmt: skip
    assert min(apart) == pytest.approx(0.5, abs=1e-12) and np.argmin(apart) == 50


def test_bernstein_polynomials_of_a_corner_have_slope_minus_one_half():
    """weierstrass-theorem: error for |x - 1/2| has slope -0.5 +- 0.05."""
    degrees = (16, 64, 256, 1024)
    errors = weierstrass_theorem.errors(weierstrass_theorem.bernstein, degrees)[0]
    assert np.polyfit(np.log(degrees), np.log(errors), 1)[0] == pytest.approx(-0.5, abs=0.05)


def test_greedy_units_have_one_slope_in_all_dimensions_and_random_units_degrade():
    """barron-theorem-l2: slopes of d = 2, 5, 10 within 0.2; fixed random units: error rises with d."""
    units, dimensions = np.log(np.arange(1, 49)), (2, 5, 10)
    slopes = [np.polyfit(units, np.log(row), 1)[0] for row in barron_theorem_l2.observed(dimensions, 300, 0)]
    assert max(slopes) <= -0.9
    fixed = [np.mean([barron_theorem_l2.control((d,), 600, s)[0] for s in range(6)], 0) for d in (2, 20)]
    powers = [np.polyfit(units, np.log(row), 1)[0] for row in fixed]
    assert powers[0] < powers[1] - 0.1 and powers[1] > -0.9


def test_the_bound_on_random_units_needs_the_factor_nu():
    """barron-linf-klusowski: sup |f - f_m| <= c nu sqrt(d + log m) m^(-1/2 - 1/d), c = 1; nu = 100 breaks it without nu."""
    m, rows = barron_linf_klusowski.errors(True, 10, 0)
    bound = np.sqrt(2 + np.log(m)) / m
    assert bool((rows <= bound).all()) and rows.max(0)[-1] > 0.05 * bound[-1]
    assert bool((100 * rows <= 100 * bound).all()) and not bool((100 * rows <= bound).any())


def test_points_of_one_pattern_share_one_jacobian():
    """relu-activation-patterns: pattern 1{W x + b > 0} in {0, 1}^m; Jacobian constant to 1e-8; at most 2^m patterns."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3)).double()
    x = 2 * torch.randn(400, 2, dtype=torch.float64)
    patterns = (net[0](x) > 0).long() @ 2 ** torch.arange(5)
    jacobians = torch.func.vmap(torch.func.jacrev(net))(x).detach()
    kinds = patterns.unique()
    assert 2 < len(kinds) <= comb(5, 0) + comb(5, 1) + comb(5, 2) < 2**5
    means = torch.stack([jacobians[patterns == k].mean(0) for k in kinds])
    assert all(float((jacobians[patterns == k] - m).abs().max()) < 1e-8 for k, m in zip(kinds, means, strict=True))
    assert float((means[0] - means[1]).abs().max()) > 1e-3


def test_montufars_number_of_regions_in_a_plane():
    """montufar-regions: R(m) floor(m/n)^(n (L - 1)); random weights stay below a few times the number of units."""
    assert robustness.maximal_regions(2, 5, 3) == (1 + 5 + 10) * (5 // 2) ** (2 * 2) == 256
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).double()
    count = robustness.regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=3.0).count
    assert 8 < count < 6 * 16 < robustness.maximal_regions(2, 8, 2)


def test_shuffled_pixels_no_longer_fit_a_gabor_function():
    """no-free-topology-second-layer: R^2 of the fit is 1 for waves in a window and falls below 0.5 after a shuffle."""
    u = torch.arange(9.0) - 4
    waves = [torch.exp(-(u[:, None] ** 2 + u**2) / 8) * torch.cos(f * u + f) for f in (0.8, 1.2, 1.6)]
    layer = nn.Conv2d(1, 3, 9, bias=False)
    layer.weight.data = torch.stack(waves)[:, None]
    assert float(gabor_fit(layer).explained.min()) > 0.99
    order = torch.randperm(81, generator=torch.Generator().manual_seed(0))
    layer.weight.data = layer.weight.data.flatten(2)[..., order].reshape(3, 1, 9, 9)
    assert float(gabor_fit(layer).explained.max()) < 0.5
