"""Clauses of the scope on descent, normalization and depth, measured on small networks; the ledger names these tests."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from torch import nn

from gnomon.atlas.claims.landscape_optimization import batchnorm_stacked_gradient_explosion as stacked
from gnomon.atlas.claims.landscape_optimization import sgd_convergence, vanishing_exploding_criterion
from gnomon.data import digits
from gnomon.landscape import sharpness
from gnomon.landscape.slices import convexity


def classifier(*widths, normalized=False, activation=nn.ReLU, he=False):
    """Returns a dense network on digits with these hidden widths."""
    parts, last = [nn.Flatten()], 64
    for width in widths:
        parts += [nn.Linear(last, width), *([nn.BatchNorm1d(width)] if normalized else []), activation()]
        last = width
    net = nn.Sequential(*parts, nn.Linear(last, 10))
    for layer in net if he else ():
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    return net


def test_more_than_one_percent_of_segments_break_convexity_in_a_network():
    """convex-vs-nonconvex-loss: share of broken segments > 0.01 for a tanh network, 0 for a linear model."""
    torch.manual_seed(0)
    x = torch.randn(30, 4).double()
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    assert convexity(net, (x, x[:, 0]), segments=60, radius=3.0).broken > 0.01
    assert convexity(nn.Linear(4, 1).double(), (x, x[:, 0]), segments=60, radius=3.0).broken == 0


def test_the_lipschitz_constant_of_the_gradient_is_the_largest_norm_of_the_hessian():
    """smoothness-definition: |H(w)| <= L everywhere, and |grad h(a) - grad h(b)| / |a - b| -> |H(a)| along its top vector."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 4))
    limit = np.linalg.norm(z, 2) ** 2 / (4 * 40)
    s = lambda w: 1 / (1 + np.exp(-z @ w))  # noqa: E731
    grad = lambda w: z.T @ (s(w) - 1) / 40  # noqa: E731
    for w in (np.zeros(4), *rng.normal(size=(20, 4))):
        hessian = (z * (s(w) * (1 - s(w)))[:, None]).T @ z / 40
        values, vectors = np.linalg.eigh(hessian)
        step = 1e-5 * vectors[:, -1]
        ratio = np.linalg.norm(grad(w + step) - grad(w - step)) / 2e-5
        assert ratio == pytest.approx(values[-1], rel=1e-6) and values[-1] <= limit * (1 + 1e-12)
        assert (w != 0).any() or values[-1] == pytest.approx(limit)


@pytest.mark.full
def test_the_smallest_gradient_of_a_tanh_network_stays_below_its_bound():
    """gd-epsilon-critical-rate: min_t |grad h| <= sqrt(2 L (h_0 - h*) / T), L the largest curvature along the path."""
    torch.manual_seed(0)
    x = torch.randn(12, 2).double()
    y = torch.sin(2 * x[:, 0])
    size = 3 * 5

    def loss(w):
        return (torch.tanh(x @ w[:10].reshape(2, 5)) @ w[10:] - y).square().mean() / 2

    hessian = torch.autograd.functional.hessian
    w, curvature = torch.randn(size).double(), 0.0
    start = w.clone()
    for _ in range(3):  # the rate 1 / L and the L of its own path are found together
        w, largest, norms, values = start.clone(), 0.0, [], []
        for _ in range(60):
            leaf = w.clone().requires_grad_()
            value = loss(leaf)
            (g,) = torch.autograd.grad(value, leaf)
            largest = max(largest, float(torch.linalg.matrix_norm(hessian(loss, w), 2)))
            norms.append(float(g.norm()))
            values.append(float(value.detach()))
            w = w - g / (curvature or 50.0)
        if curvature and largest <= curvature * (1 + 1e-9):
            break
        curvature = max(curvature, 1.2 * largest)
    bound = np.sqrt(2 * curvature * values[0] / np.arange(1, 61))  # h* >= 0
    shares = np.minimum.accumulate(norms) / bound
    assert shares.max() <= 1 and shares.max() > 0.1 and all(b < a for a, b in zip(values, values[1:], strict=False))


def test_the_cloud_of_sgd_shrinks_to_the_minimum_if_the_steps_decay():
    """sgd-convergence: rates lr 10 / (10 + t): mean squares fall as the rate, below a tenth of those at a constant rate."""
    constant = sgd_convergence.observed(0.3, 400, 60, 0).mean(0)
    early, late = (sgd_convergence.control(0.3, 400, steps, 0).mean(0) for steps in (100, 2000))
    assert (late < 0.1 * constant).all() and (late < 0.2 * early).all()
    rate = 0.3 * 10 / 2010
    theory = rate * sgd_convergence.NOISE_STDS**2 / (2 * sgd_convergence.CURVATURES - 1 / 3)  # rates 3 / t
    np.testing.assert_allclose(late, theory, rtol=0.25)


def test_steps_on_the_wine_data_fall_as_the_condition_number():
    """data-normalisation-conditioning: steps to 1e-6 are kappa log(1e6) / 2 to a factor 2, before and after: >= 10^3 fewer."""
    raw, counts = load_wine().data, []
    for x in (raw - raw.mean(0), (raw - raw.mean(0)) / raw.std(0)):
        values = np.linalg.eigvalsh(x.T @ x)[::-1]
        share = 1 / values  # the initial distance is such that each direction has the same excess loss
        loss = lambda t, v=values, s=share: (v * s * (1 - v / v[0]) ** (2.0 * t)).sum()  # noqa: E731
        low, high = 0.0, 1e10
        while high - low > 1:
            middle = (low + high) / 2
            low, high = (middle, high) if loss(middle) > 1e-6 * len(values) else (low, middle)
        counts.append(high)
        kappa = values[0] / values[-1]
        assert 0.5 <= high / (kappa * np.log(1e6) / 2) <= 2
    assert counts[0] >= 1000 * counts[1]


@pytest.mark.full
def test_ten_sigmoid_layers_learn_in_thirty_passes_with_batch_normalization():
    """batchnorm-advantages-list: training loss < 0.1 after 30 passes over 300 digits with it, > 2.0 without."""
    split, losses = digits(300, 0, seed=0), []
    for normalized in (True, False):
        torch.manual_seed(0)
        net = classifier(*[48] * 10, normalized=normalized, activation=nn.Sigmoid)
        optimizer = torch.optim.Adam(net.parameters(), 0.01)
        for _ in range(30):
            for part in torch.randperm(300).split(100):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(split.x[part]), split.y[part]).backward()
                optimizer.step()
        losses.append(float(nn.functional.cross_entropy(net(split.x), split.y).detach()))
    assert losses[0] < 0.1 and losses[1] > 2.0


def largest_change_of_gradient(net, split, rates):
    """Returns max |g(w - r g) - g(w)| / |r g| over learning rates r, for the gradient g of the training loss."""
    p = list(net.parameters())

    def gradient():
        loss = nn.functional.cross_entropy(net(split.x), split.y)
        return nn.utils.parameters_to_vector(torch.autograd.grad(loss, p))

    w, g, found = nn.utils.parameters_to_vector(p).detach(), gradient(), []
    for rate in rates:
        nn.utils.vector_to_parameters(w - rate * g, p)
        found.append(float((gradient() - g).norm() / (rate * g.norm())))
    nn.utils.vector_to_parameters(w, p)
    return max(found)


@pytest.mark.full
def test_gradients_change_less_along_their_step_with_batch_normalization():
    """batchnorm-hessian-smoothing: max |g(w - r g) - g(w)| / |r g| is lower in >= 80 % of steps; He weights, rate 0.4."""
    split, found = digits(300, 0, seed=0), []
    for normalized in (True, False):
        torch.manual_seed(0)
        net, rows = classifier(64, 64, 64, normalized=normalized, he=True), []
        optimizer = torch.optim.SGD(net.parameters(), lr=0.4)
        for _ in range(40):
            rows.append(largest_change_of_gradient(net, split, (0.1, 0.4)))
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x), split.y).backward()
            optimizer.step()
        found.append(np.array(rows))
    assert (found[0] < found[1]).mean() >= 0.8


@pytest.mark.full
def test_stacked_batch_normalization_at_depth_forty_grows_gradients_by_1_46():
    """batchnorm-stacked-gradient-explosion: growth of squared gradients 1.46 +- 0.03: depth 40, width 512, batch 256."""
    torch.manual_seed(0)
    assert np.exp(np.mean(stacked.growth(True, 40, 512, 256, 2))) == pytest.approx(1.46, abs=0.03)


@pytest.mark.full
def test_growth_of_signals_is_the_logarithm_of_their_factor_to_two_hundredths():
    """vanishing-exploding-criterion: |rate - ln rho| <= 0.02 for rho = 0.5, 1 and 2 at width 300."""
    torch.manual_seed(0)
    found = vanishing_exploding_criterion.rates(torch.relu, 14, 300, 30).mean(0)
    np.testing.assert_allclose(found, np.log([0.5, 1, 2]), atol=0.02)


@pytest.mark.full
def test_gradients_of_weights_keep_their_mean_square_over_twenty_layers():
    """gradient-variance-two-layers: E (dF / dW_l)^2 is the same in 20 layers at E W^2 = 2 / n, to 10 %."""
    torch.manual_seed(0)
    width, rows = 256, []
    for _ in range(300):
        h = torch.randn(width, 1)
        weights, states, gates = [], [], []
        for _ in range(20):
            states.append(h)
            weights.append(torch.randn(width, width) * (2 / width) ** 0.5)
            z = weights[-1] @ h
            gates.append(z > 0)
            h = z.relu()
        g, sizes = torch.randn(width, 1), []
        for w, state, gate in zip(weights[::-1], states[::-1], gates[::-1], strict=True):
            g = g * gate
            sizes.append(float(g.square().mean() * state.square().mean()))  # the mean of (g_j h_k)^2
            g = w.T @ g
        rows.append(sizes)
    mean = np.mean(rows, axis=0)
    assert np.abs(mean / mean.mean() - 1).max() <= 0.1


@pytest.mark.full
def test_a_hundred_layers_train_with_skip_connections_and_not_without():
    """skip-connections-smooth-gradients: h + f(h) / sqrt(L) at 100 layers: loss below half; without the identity unchanged."""
    draw, losses = torch.Generator().manual_seed(0), []
    x = torch.randn(64, 16, generator=draw)
    y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    for skip in (1.0, 0.0):
        torch.manual_seed(0)
        layers, head = nn.ModuleList(nn.Linear(16, 16) for _ in range(100)), nn.Linear(16, 1)
        for layer in layers:
            nn.init.kaiming_normal_(layer.weight)
        optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], 2e-3)
        for step in range(25):
            h = x
            for layer in layers:
                h = skip * h + layer(torch.relu(h)) / 10
            loss = (head(h) - y).square().mean()
            if step == 0:
                first = float(loss.detach())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append((first, float(loss.detach())))
    assert losses[0][1] < 0.5 * float(y.var()) and losses[1][1] > 0.8 * float(y.var())


def test_activations_of_tanh_layers_have_mean_zero_under_xavier():
    """init-xavier: zero mean in every layer for symmetric weights (within 4 standard errors); sigmoids have mean 1/2."""
    torch.manual_seed(0)
    x = torch.randn(400, 128)
    for activation, center in ((torch.tanh, 0.0), (torch.sigmoid, 0.5)):
        h = x
        for _ in range(6):
            h = activation(h @ nn.init.xavier_normal_(torch.empty(128, 128)).T)
            units = h.mean(0)  # one mean for each unit, over inputs
            error = float(units.std() / 128**0.5) + 1e-3
            assert abs(float(h.mean()) - center) <= 4 * error + (0.02 if center else 0)
    for n, m in ((300, 300), (100, 400)):  # S0: std 1 / sqrt(D_in) keeps Var(y) = D_in Var(x) Var(w) whatever D_out is
        y = torch.randn(500, n) @ torch.randn(n, m) / n**0.5
        assert float(y.var()) == pytest.approx(1.0, abs=0.05)


def longest_chain(node, seen):
    """Returns the largest number of operations of the backward pass that wait for each other."""
    if node is None:
        return 0
    if node not in seen:
        seen[node] = 1 + max((longest_chain(after, seen) for after, _ in node.next_functions), default=0)
    return seen[node]


def test_layers_wait_for_each_other_end_to_end_and_not_if_each_has_its_own_objective():
    """intermediate-objectives-unspecified: operations in a row of one backward pass: in proportion to depth, or constant."""
    whole, each = [], []
    for depth in (4, 8, 16):
        layers, heads = ([nn.Linear(5, 5) for _ in range(depth)] for _ in range(2))
        h, alone, chains = torch.randn(3, 5), torch.randn(3, 5), []
        for layer, head in zip(layers, heads, strict=True):
            h, alone = torch.tanh(layer(h)), torch.tanh(layer(alone.detach()))
            chains.append(longest_chain(head(alone).square().mean().grad_fn, {}))
        whole.append(longest_chain(heads[-1](h).square().mean().grad_fn, {}))
        each.append(max(chains))
    assert whole[2] - whole[1] == 2 * (whole[1] - whole[0]) > 0 and len(set(each)) == 1


@pytest.mark.full
def test_small_batches_end_at_a_smaller_largest_eigenvalue_at_equal_loss():
    """small-batch-flatter: lambda_max(H) with batches of 16 < with the whole set, at training loss 0.05, in >= 4 of 5 runs."""
    ratios = []
    for seed in range(5):
        split, values = digits(320, 0, seed=seed), []
        for batch in (16, 320):
            torch.manual_seed(seed)
            net = classifier(32)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            loss = 1.0
            while loss >= 0.05:
                for part in torch.randperm(320).split(batch):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(net(split.x[part]), split.y[part]).backward()
                    optimizer.step()
                loss = float(nn.functional.cross_entropy(net(split.x), split.y).detach())
            values.append(float(sharpness(net, (split.x, split.y)).value))
        ratios.append(values[0] / values[1])
    assert sum(ratio < 1 for ratio in ratios) >= 4


@pytest.mark.full
def test_averaged_weights_err_less_on_new_digits_than_the_last_ones():
    """weight-averaging-swa: test loss of the mean of SGD's weights <= that of the last ones in >= 4 of 5 runs."""
    better = 0
    for seed in range(5):
        split = digits(400, 600, seed=seed)
        torch.manual_seed(seed)
        net, mean = classifier(32), 0.0
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        for epoch in range(40):
            for part in torch.randperm(400).split(20):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(split.x[part]), split.y[part]).backward()
                optimizer.step()
            if epoch >= 15:
                now = nn.utils.parameters_to_vector(net.parameters()).detach()
                mean = now.clone() if epoch == 15 else mean + (now - mean) / (epoch - 14)
        losses = []
        for weights in (mean, now):
            nn.utils.vector_to_parameters(weights, net.parameters())
            losses.append(float(nn.functional.cross_entropy(net(split.x_test), split.y_test).detach()))
        better += losses[0] <= losses[1]
    assert better >= 4


def test_the_inner_langevin_loop_gives_the_gradient_of_the_local_entropy():
    """entropy-sgd: d/dx log int exp(-L(x') - (g / 2) |x - x'|^2) = g (<x'> - x), <x'> the mean of Langevin steps."""
    rng, gamma, x, rate = np.random.default_rng(0), 2.0, 1.6, 0.005
    loss, slope = lambda z: (z**2 - 1) ** 2, lambda z: 4 * z * (z**2 - 1)  # two wells, at -1 and 1
    grid = np.linspace(-5, 5, 20_001)
    entropy = lambda at: np.log(np.exp(-loss(grid) - gamma / 2 * (at - grid) ** 2).sum())  # noqa: E731
    exact = (entropy(x + 1e-4) - entropy(x - 1e-4)) / 2e-4
    z, total = np.full(1500, x), 0.0
    for step in range(1200):
        z = z - rate * (slope(z) + gamma * (z - x)) + (2 * rate) ** 0.5 * rng.normal(size=1500)
        total += z.mean() * (step >= 400) / 800
    assert gamma * (total - x) == pytest.approx(exact, rel=0.05) and abs(exact) > 0.5
