"""Clauses of the scope on noise, margins and minima of training that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import linprog, minimize, nnls
from torch import nn

from gnomon.atlas.claims.dynamics_implicit_bias import (
    linear_conv_net_fourier_l1,
    logistic_no_finite_minimiser,
    max_margin_gd,
    sgd_flat_minima,
    sgd_modified_loss,
    spectral_bias_pinn,
    wide_two_layer_logistic_bias,
)
from gnomon.data import digits
from gnomon.landscape import sharpness
from gnomon.robustness import noise_sensitivity


def test_more_frequencies_are_learned_at_each_of_four_snapshots():
    """spectral-bias-frequency: after 100, 1000, 10000 and 80000 steps descent on a wide ReLU network has more frequencies."""
    t = 2 * np.pi * np.arange(512) / 512
    t = np.minimum(t, 2 * np.pi - t)
    kernel = (2 * (np.pi - t) * np.cos(t) + np.sin(t)) / (2 * np.pi)
    rates = np.fft.rfft(kernel).real[2:200:2] / 512  # eigenvalues of even frequencies, the odd ones are zero
    assert np.all(np.diff(rates) < 0)
    learned = [int(((1 - (1 - 0.3 * rates) ** steps) >= 0.5).sum()) for steps in (100, 1000, 10_000, 80_000)]
    assert all(b >= 2 * a for a, b in zip(learned, learned[1:], strict=False)) and learned[0] > 0


def test_the_table_of_three_people_is_completed_with_the_least_nuclear_norm():
    """nuclear-norm-completion: Bob 4 ? ? 4, Alice ? 5 4 ?, Joe ? 5 ? ?: the seen entries stay, the norm is the least."""
    table = np.array([[4, 0, 0, 4], [0, 5, 4, 0], [0, 5, 0, 0]], float)
    seen = table > 0
    z = np.zeros_like(table)
    for _ in range(3000):  # Douglas-Rachford splitting
        x = np.where(seen, table, z)
        u, s, v = np.linalg.svd(2 * x - z, full_matrices=False)
        z = z + (u * np.maximum(s - 1.0, 0)) @ v - x

    def bound(entries):  # <Y, W> / |Y|_2 is at most the least norm, for every Y that is zero at the unseen entries
        y = np.zeros_like(table)
        y[seen] = entries
        return -(y * table).sum() / np.linalg.norm(y, 2)

    dual = min(minimize(bound, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12}).fun
               for start in np.random.default_rng(0).uniform(0, 1, (3, 5)))  # fmt: skip
    assert np.array_equal(x[seen], table[seen]) and np.linalg.norm(x, "nuc") < np.linalg.norm(table, "nuc") - 0.05
    assert np.linalg.norm(x, "nuc") == pytest.approx(-dual, rel=1e-4)


def test_noise_at_the_inputs_of_a_fitted_network_is_its_gradient_penalty():
    """input-noise-equals-l2: excess loss / (s^2 mean |grad f|^2) = 1 +- 0.1 for an MLP that fits its targets, s = 0.01."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    x = torch.randn(300, 4).double()
    y = net(x)[:, 0].detach()
    slopes = torch.func.vmap(torch.func.grad(lambda z: net(z)[0]))(x).detach()
    penalty = 0.01**2 * float(slopes.square().sum(1).mean())
    found = noise_sensitivity(net, (x, y), sigma=0.01, draws=60)
    assert 2 * found.penalty == pytest.approx(penalty, rel=1e-6)  # the loss is half the squared error
    assert found.rise / found.penalty == pytest.approx(1, abs=0.1)


def test_the_flow_of_the_loss_itself_is_one_order_worse_for_an_epoch():
    """sgd-modified-loss: the mean epoch differs from the flow of C by O(r^2), slope 2 +- 0.2."""
    h, a, start = sgd_modified_loss.problem(4, 4, 0)
    mean, rest, errors, rates = h.mean(0), np.linalg.solve(h.sum(0), np.einsum("kij,kj->i", h, a)), [], []
    for r in (0.001, 0.002, 0.004, 0.008):
        ends = []
        for order in ((0, 1, 2, 3), (3, 2, 1, 0)):  # an order and its reverse have the mean of all pairs
            w = start
            for k in order:
                w = w - r * h[k] @ (w - a[k])
            ends.append(w)
        errors.append(np.linalg.norm(np.mean(ends, 0) - rest - expm(-4 * r * mean) @ (start - rest)))
        rates.append(r)
    assert np.polyfit(np.log(rates), np.log(errors), 1)[0] == pytest.approx(2, abs=0.2)


def test_more_noise_puts_more_runs_into_the_flat_well():
    """sgd-flat-minima: without noise runs stay in their well, and the share of the flat well grows with the noise."""
    temperatures = (0.0, 0.15, 0.3, 0.6, 1.5)
    found = [sgd_flat_minima.shares(20.0, 2.0, t, 40, 800, 0.004, 0).mean() for t in temperatures]
    assert found[0] == 0.5 and all(b > a - 0.02 for a, b in zip(found, found[1:], strict=False))
    assert found[-1] > 0.65 and found[-1] > found[1] + 0.1


@pytest.mark.full
def test_small_batches_end_no_sharper_than_full_ones_on_digits():
    """sgd-flat-minima: largest Hessian eigenvalue after batches of 8 <= after full batches, at one training loss, 4 of 5."""
    wins = 0
    for seed in range(5):
        split, found = digits(200, 0, seed=seed), []
        x, y = split.x.flatten(1), split.y
        for batch in (8, 200):
            torch.manual_seed(seed)
            net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            for step in range(20_000):
                pick = torch.randperm(200)[:batch] if batch < 200 else slice(None)
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x[pick]), y[pick]).backward()
                optimizer.step()
                if step % 10 == 0 and float(nn.functional.cross_entropy(net(x), y).detach()) <= 0.05:
                    break
            found.append(sharpness(net, (x, y)).value)
        wins += found[0] <= found[1]
    assert wins >= 4


def test_sampled_gradients_leave_a_poor_minimum_that_their_mean_does_not_leave():
    """sgd-advantages: from the poor one of two minima full descent stays, steps on sampled losses reach the deep one."""
    slope = lambda w: w**3 - w - 0.2  # noqa: E731  # of (w^2 - 1)^2 / 4 - 0.2 w, deeper at 1.09 than at -0.88
    rng, full, sampled = np.random.default_rng(0), -0.88 * np.ones(400), -0.88 * np.ones(400)
    for step in range(3000):
        rate = 0.05 if step < 2000 else 0.01
        full = full - rate * slope(full)
        sampled = sampled - rate * (slope(sampled) + 1.5 * rng.choice([-1.0, 1.0], 400))  # two examples, tilted apart
    assert np.all(full < 0) and np.mean(sampled > 0) > 0.75


@pytest.mark.full
def test_sgd_minimizes_a_loss_with_corners_and_hardly_depends_on_one_example():
    """sgd-advantages: |<w, x> - y| without a derivative at 0; one exchanged example moves the result in proportion 1 / n."""
    rng, moved = np.random.default_rng(0), []
    sizes = (50, 200, 800)
    for n in sizes:
        x = rng.normal(size=(n, 3))
        y = x @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_t(2, size=n)
        ends = []
        for changed in (False, True):
            data, goal = x.copy(), y.copy()
            if changed:
                data[0], goal[0] = np.array([1.0, 1.0, 1.0]), 5.0
            order, w, mean = np.random.default_rng(1), np.zeros(3), np.zeros(3)
            for step in range(8000):
                i = order.integers(n)
                w = w - 0.3 / (1 + step) ** 0.5 * np.sign(data[i] @ w - goal[i]) * data[i]
                mean += w * (step >= 4000) / 4000
            ends.append(mean)
        moved.append(np.linalg.norm(ends[0] - ends[1]))
        rows = np.block([[x, -np.eye(n)], [-x, -np.eye(n)]])  # least absolute deviations as a linear program
        best = linprog(
            np.r_[np.zeros(3), np.ones(n)], A_ub=rows, b_ub=np.r_[y, -y], bounds=[(None, None)] * 3 + [(0, None)] * n
        )
        assert np.abs(x @ ends[0] - y).mean() <= 1.02 * best.fun / n
    assert np.polyfit(np.log(sizes), np.log(moved), 1)[0] < -0.6


def test_weights_grow_with_the_logarithm_of_time_up_to_a_million():
    """logistic-no-finite-minimiser: |w| = a ln t + b with R^2 >= 0.99 for gradient flow, t from 10^2 to 10^6."""
    z = logistic_no_finite_minimiser.problem(20, 3, 0)
    times = np.geomspace(1e2, 1e6, 9)
    flow = solve_ivp(lambda _, w: z.T @ (1 / (1 + np.exp(z @ w))) / 20, (0, 1e6), np.zeros(3), method="LSODA",
                     t_eval=times, rtol=1e-8, atol=1e-10)  # fmt: skip
    sizes, losses = np.linalg.norm(flow.y, axis=0), np.log1p(np.exp(-z @ flow.y)).mean(0)
    assert (
        np.corrcoef(np.log(times), sizes)[0, 1] ** 2 >= 0.99 and np.all(np.diff(losses) < 0) and 0 < losses[-1] < 1e-5
    )


def test_descent_on_the_logistic_loss_turns_to_the_largest_margin():
    """max-margin-gd: cosine of w with the hard-margin direction at least 0.999 on the logistic loss, in steps of its log."""
    z = logistic_no_finite_minimiser.problem(20, 3, 1)
    system = np.vstack([z.T, np.ones(20)])
    rest = system @ nnls(system, np.eye(4)[-1])[0] - np.eye(4)[-1]
    best, w = rest[:3] / np.linalg.norm(rest[:3]), np.zeros(3)
    rate, cosines = 0.5 / (z**2).sum(1).max(), []
    for step in range(1, 20_001):
        slopes = -np.logaddexp(0, z @ w)  # log of 1 / (1 + e^margin)
        w = w + rate * np.exp(slopes - slopes.max()) @ z
        if step in (20, 200, 2000, 20_000):
            cosines.append(w @ best / np.linalg.norm(w))
    assert np.all(np.diff(cosines) > 0) and cosines[-1] >= 0.999


def test_the_smoothed_margin_stays_between_its_bounds_along_training():
    """smooth-margin-sandwich: g - ln n / |w| <= g~ <= g at every step of descent on the exponential loss."""
    z = max_margin_gd.problem(1, 10, 0)[0]
    w, slack = np.array([0.3, 0.8]), []
    for _ in range(400):
        m = z @ w
        smooth = -np.log(np.exp(-m).sum())
        assert smooth - m.min() <= 1e-10 and m.min() - np.log(10) - smooth <= 1e-10
        slack.append((m.min() - smooth) / np.log(10))
        w = w + 0.1 * z.T @ np.exp(-m) / np.exp(-m).sum()
    assert max(slack) > 0.5 and min(slack) < 0.35


@pytest.mark.full
def test_training_both_layers_suffers_less_from_irrelevant_inputs():
    """wide-two-layer-logistic-bias: the test error of the output layer alone grows faster with the number of inputs."""
    low, high = (wide_two_layer_logistic_bias.errors(True, 4, 256, d, 100, 200, 0) for d in (4, 15))
    growth = {name: np.mean(high[name]) - np.mean(low[name]) for name in low}
    both, output = growth["both layers and 5 points"], growth["output layer"]
    assert output > both + 0.03


def test_the_filter_of_two_convolutions_has_the_direction_of_the_least_spectrum():
    """linear-conv-net-fourier-l1: cosine of the trained filter with argmin |F b|_1, margins >= 1, at least 0.999."""
    z, d = linear_conv_net_fourier_l1.problem(3, 8, 0), 8
    sides = np.exp(2j * np.pi * np.arange(200) / 200)
    waves = np.fft.fft(np.eye(d), axis=0)[: d // 2 + 1]  # row k: the k-th coefficient as a linear function of b
    rows = [np.r_[np.real(side * wave), -np.eye(len(waves))[k]] for k, wave in enumerate(waves) for side in sides]
    weight = np.r_[1.0, 2 * np.ones(d // 2 - 1), 1.0]
    program = linprog(np.r_[np.zeros(d), weight], A_ub=np.vstack([rows, np.c_[-z, np.zeros((3, len(waves)))]]),
                      b_ub=np.r_[np.zeros(len(rows)), -np.ones(3)], bounds=[(None, None)] * d + [(0, None)] * len(waves))  # fmt: skip
    best = program.x[:d]
    u, v = 0.02 * np.random.default_rng([0, 1]).normal(size=(2, d))
    for _ in range(4000):
        b = np.fft.irfft(np.fft.rfft(u) * np.fft.rfft(v), d)
        m = z @ b
        g = np.fft.rfft(np.exp(m.min() - m) @ z / np.exp(m.min() - m).sum() / np.linalg.norm(z, axis=1).max())
        rate = min(0.1, 0.2 / max((u**2).sum(), (v**2).sum()))
        u, v = (p + rate * np.fft.irfft(g * np.fft.rfft(q).conj(), d) for p, q in ((u, v), (v, u)))
    assert b @ best / np.linalg.norm(b) / np.linalg.norm(best) >= 0.999


@pytest.mark.full
def test_a_plain_network_is_four_times_worse_at_the_high_frequency_of_a_poisson_problem():
    """spectral-bias-pinn: errors of sin(16 pi x) over errors of sin(2 pi x) in u'' after 550 steps: between 2 and 8."""
    torch.manual_seed(0)
    high, low = (np.mean(errors) for errors in spectral_bias_pinn.component_errors(0.0, 8, 24, 40, 550))
    assert 0.05 < low < 0.5 < high and 2 < high / low < 8


def test_dropout_spreads_a_weight_over_equal_inputs():
    """dropout-mask: of k equal inputs the penalty p / (1 - p) sum w_j^2 |X_j|^2 leaves 1 / k of the weight to each."""
    rng, p = np.random.default_rng(0), 0.5
    z = rng.normal(size=(60, 2))
    x, y = z[:, [0, 0, 0, 1]], z @ [2.0, -1.0] + 0.1 * rng.normal(size=60)
    penalty = p / (1 - p) * np.diag((x**2).sum(0))
    w = np.linalg.solve(x.T @ x + penalty, x.T @ y)
    np.testing.assert_allclose(w[:3], w[0], rtol=1e-9)
    alone = np.array([3 * w[0], 0, 0, w[3]])  # the same outputs, relying on one of the three
    cost = lambda v: ((y - x @ v) ** 2).sum() + v @ penalty @ v  # noqa: E731
    masks = 2.0 * (rng.uniform(size=(20_000, 1, 4)) > p)
    drawn = [(((masks * x) @ v - y) ** 2).sum(1).mean() for v in (w, alone)]
    assert drawn == pytest.approx([cost(w), cost(alone)], rel=0.03) and cost(alone) > 1.5 * cost(w)
    assert np.linalg.norm(x @ alone - x @ w) < 1e-9


def test_the_output_layer_tends_to_the_largest_margin_in_its_features():
    """wide-two-layer-logistic-bias: descent on ln(loss) of v alone: y <v, phi(x)> / |v| tends to its maximum, the F_2 margin."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 2))
    y = np.sign(x[:, 0] * x[:, 1])
    z = y[:, None] * np.maximum(np.c_[x, np.ones(20)] @ rng.normal(size=(3, 100)), 0) / 10
    system = np.vstack([z.T, np.ones(20)])
    rest = system @ nnls(system, np.eye(101)[-1])[0] - np.eye(101)[-1]
    best = 1 / np.linalg.norm(rest[:100] / rest[100])
    v = np.zeros(100)
    for _ in range(8000):
        m = z @ v
        v = v + 4.0 * np.exp(m.min() - m) @ z / np.exp(m.min() - m).sum()
    assert 0.97 * best <= (z @ v).min() / np.linalg.norm(v) <= best * (1 + 1e-9)


def test_training_both_layers_balances_each_unit_so_that_the_norm_is_the_variation():
    """wide-two-layer-logistic-bias: |v_j|^2 - |w_j|^2 stays, so (|v|^2 + |w|^2) / 2 tends to the F_1 norm sum |v_j| |w_j|."""
    rng = np.random.default_rng(0)
    angle = np.arange(12) * np.pi / 6 + 0.2
    x, y = np.stack([np.cos(angle), np.sin(angle)], 1), np.sign(np.sin(angle) * np.cos(angle))
    w, v = 0.3 * rng.normal(size=(20, 2)), 0.6 * rng.normal(size=20)
    start, shares = v**2 - (w**2).sum(1), []
    for step in range(4000):
        hidden = np.maximum(x @ w.T, 0)
        m = y * (hidden @ v)
        pull = y * np.exp(m.min() - m) / np.exp(m.min() - m).sum()
        slope = ((pull[:, None] * (hidden > 0)) * v).T @ x
        v, w = v + 2e-3 * pull @ hidden, w + 2e-3 * slope
        if step in (0, 3999):
            sizes = np.linalg.norm(w, axis=1)
            shares.append((np.abs(v) * sizes).sum() / ((v**2).sum() + (sizes**2).sum()) * 2)
    assert np.abs(v**2 - (w**2).sum(1) - start).max() < 0.02 * (v**2).max()
    assert shares[0] < 0.9 < 0.95 < shares[1] <= 1 and m.min() > 0
