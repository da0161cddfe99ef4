"""Clauses of the scope on the dynamics of training that no claim measures; the ledger names these tests."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from sklearn.datasets import load_diabetes

from gnomon.atlas.claims.dynamics_implicit_bias import (
    bias_must_match_data,
    gunasekar_nuclear_conjecture,
    implicit_gradient_regularisation,
    logistic_no_finite_minimiser,
    max_margin_accelerated,
    signal_before_noise,
)
from gnomon.atlas.claims.generalization import double_descent_three_cases
from gnomon.data import digits


@pytest.mark.full
def test_the_excess_nuclear_norm_falls_with_the_size_of_the_start():
    """gunasekar-nuclear-conjecture: |W_descent|_* / min |X|_* - 1 falls as the start goes to zero."""
    excess = [gunasekar_nuclear_conjecture.excess(size, 8, 12, 0.6, 2000, 1).mean() for size in (1.0, 1e-1, 1e-2, 1e-4)]
    assert np.all(np.diff(excess) < 0)


def test_stopping_and_ridge_agree_to_six_percent_for_small_eigenvalues():
    """early-stopping-equals-l2: 1 - (1 - r l)^t against l / (l + a), t = 1 / (r a), differ by <= 6 % at l <= a / 10."""
    shares, steps = np.linspace(1e-3, 0.1, 100), 10_000  # l / a, so that r l = share / steps
    stopped, ridge = 1 - (1 - shares / steps) ** steps, shares / (shares + 1)
    assert np.abs(stopped / ridge - 1).max() <= 0.06
    wide = np.linspace(0, 20, 20_001)
    gap = np.abs(1 - np.exp(-wide) - wide / (wide + 1))
    assert abs(gap.max() - 0.2036) < 0.003 and abs(wide[gap.argmax()] - 2.51) < 0.02


def test_stopping_and_ridge_predict_alike_on_the_diabetes_data():
    """early-stopping-equals-l2: descent for t steps of size r predicts as ridge with the penalty 1 / (r t), to 20 % of y."""
    x, y = load_diabetes(return_X_y=True)
    x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    gram, pull = x.T @ x / len(x), x.T @ y / len(x)
    rate, w = 0.1 / np.linalg.eigvalsh(gram)[-1], np.zeros(10)
    for step in range(1, 3001):
        w = w - rate * (gram @ w - pull)
        if step in (3, 10, 30, 100, 300, 1000, 3000):
            ridge = np.linalg.solve(gram + np.eye(10) / (rate * step), pull)
            assert np.linalg.norm(x @ (w - ridge)) <= 0.2 * np.linalg.norm(y)


@pytest.mark.full
def test_true_labels_are_thirty_points_ahead_at_the_best_moment():
    """signal-before-noise: accuracy(true labels) - accuracy(wrong labels) >= 0.3 at the best validation error."""
    found = signal_before_noise.accuracies(True, 200, 6, 100, 100, 1)
    assert np.mean(found["true labels"]) - np.mean(found["wrong labels"]) >= 0.3


def test_least_squares_on_noisy_inputs_is_ridge_regression():
    """input-noise-equals-l2: the best w for inputs with noise of variance s^2 is ridge with the penalty n s^2."""
    rng = np.random.default_rng(0)
    x, y, s, copies = rng.normal(size=(50, 4)), rng.normal(size=50), 0.5, 20_000
    gram, pull = np.zeros((4, 4)), np.zeros(4)
    for _ in range(copies // 100):
        noisy = x + s * rng.normal(size=(100, 50, 4))
        gram, pull = gram + np.einsum("rni,rnj->ij", noisy, noisy), pull + np.einsum("rni,n->i", noisy, y)
    ridge = np.linalg.solve(x.T @ x + 50 * s**2 * np.eye(4), x.T @ y)
    assert np.linalg.norm(np.linalg.solve(gram, pull) - ridge) <= 0.02 * np.linalg.norm(ridge)


def test_scaled_weights_are_exact_for_a_linear_unit_and_near_for_a_hidden_layer():
    """dropout-weight-scaling: the mean over masks is w k for a linear unit; KL <= 0.05 nats with one hidden layer."""
    rng = np.random.default_rng(0)
    masks, keep = np.array([*product((0.0, 1.0), repeat=10)]), 0.5
    h, v = np.tanh(rng.normal(size=(20, 10))), rng.normal(size=(10, 3)) / 10**0.5
    scores = np.einsum("xi,bi,ic->xbc", h, masks, v)
    np.testing.assert_allclose(scores.mean(1), keep * h @ v, rtol=1e-9, atol=1e-12)
    softmax = lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True)  # noqa: E731
    ensemble, scaled = softmax(scores).mean(1), softmax(keep * h @ v)
    assert 0 < (ensemble * np.log(ensemble / scaled)).sum(1).mean() <= 0.05


def test_many_steps_stay_five_times_nearer_to_the_modified_flow():
    """implicit-gradient-regularisation: after 20 steps of 0.05 the flow of C + (r / 4) |grad C|^2 is 5 times nearer."""
    rate, ratios = 0.05, []
    for seed in range(5):
        gradient, hessian, start = implicit_gradient_regularisation.problem(5, seed)
        w = start
        for _ in range(20):
            w = w - rate * gradient(w)
        fields = (lambda _, v: -gradient(v), lambda _, v: -gradient(v) - rate / 2 * hessian(v) @ gradient(v))  # noqa: B023
        ends = [solve_ivp(f, (0, 20 * rate), start, rtol=1e-10, atol=1e-12).y[:, -1] for f in fields]
        ratios.append(np.linalg.norm(w - ends[0]) / np.linalg.norm(w - ends[1]))
    assert np.median(ratios) >= 5


def test_sums_and_means_of_a_batch_take_the_same_step():
    """gd-sgd-variants: w - r sum_i g_i = w - (r B) mean_i g_i."""
    torch.manual_seed(0)
    x, y, w = torch.randn(8, 3), torch.randn(8), torch.randn(3, requires_grad=True)
    ends = []
    for reduce, rate in ((torch.sum, 0.01), (torch.mean, 0.08)):
        (gradient,) = torch.autograd.grad(reduce((x @ w - y).square()), w)
        ends.append(w.detach() - rate * gradient)
    torch.testing.assert_close(ends[0], ends[1])


def test_random_features_of_digits_peak_at_as_many_as_examples():
    """double-descent-model-wise: the test error of random relu features is largest at p = n and falls on both sides."""
    rng, n, sizes = np.random.default_rng(0), 100, (20, 50, 100, 300, 1000)
    errors = np.zeros(len(sizes))
    for seed in range(5):
        split = digits(n, 300, seed=seed)
        x, z = (a.flatten(1).double().numpy() for a in (split.x, split.x_test))
        targets = np.eye(10)[split.y.numpy()]
        for i, p in enumerate(sizes):
            w = rng.normal(size=(64, p))
            f, g = np.maximum(x @ w, 0), np.maximum(z @ w, 0)
            fit = np.linalg.lstsq(f, targets, rcond=1e-12)[0]
            errors[i] += ((g @ fit - np.eye(10)[split.y_test.numpy()]) ** 2).mean()
    assert errors.argmax() == 2 and errors[2] > 5 * errors[1] and errors[2] > 5 * errors[3] > 5 * errors[4]


def test_the_norm_at_the_peak_is_five_times_that_beside_it():
    """double-descent-three-cases: |w| at p = n is at least 5 times |w| at a tenth and ten times as many features."""
    found = double_descent_three_cases.log_norms(1.0, 100, 20, 0)
    peak, few, many = (np.mean(found[name]) for name in ("as many", "fewer", "more"))
    assert peak - max(few, many) >= np.log(5)


def test_the_logistic_loss_falls_to_zero_and_weights_grow_with_the_logarithm_of_time():
    """logistic-no-finite-minimiser: loss > 0 falls as 1 / t, and |w| = a ln t + b with R^2 >= 0.99."""
    z = logistic_no_finite_minimiser.problem(20, 3, 0)
    w, rate, times, sizes, losses = np.zeros(3), 1.0, (100, 300, 1000, 3000, 10_000), [], []
    for t in range(1, times[-1] + 1):
        w = w + rate * z.T @ (1 / (1 + np.exp(z @ w))) / len(z)
        if t in times:
            sizes.append(np.linalg.norm(w))
            losses.append(np.log1p(np.exp(-z @ w)).mean())
    assert 0 < losses[-1] < 1e-3 and np.polyfit(np.log(times), np.log(losses), 1)[0] < -0.8
    assert np.corrcoef(np.log(times), sizes)[0, 1] ** 2 >= 0.99


@pytest.mark.full
def test_rank_two_is_completed_to_a_tenth_and_full_rank_not_at_all():
    """bias-must-match-data: relative error <= 0.1 at rank 2 and >= 0.9 at full rank, from a small start."""
    found = bias_must_match_data.errors(2, 6, 30, 0.6, 1e-4, 5000, 0)
    assert found["error at rank 2"].max() <= 0.1 and found["error at full rank"].min() >= 0.9


def test_small_steps_need_a_number_of_steps_in_inverse_proportion():
    """learning-rate-regimes: steps to an error of e are log e / log(1 - r l_min), twice as many at half the rate."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4))
    h = x.T @ x / 40
    values, vectors = np.linalg.eigh(h)
    counts = []
    for share in (0.1, 0.05, 0.025):
        rate, e, count = share / values[-1], vectors[:, 0], 0
        while np.linalg.norm(e) > 1e-3:
            e, count = e - rate * (h @ e), count + 1
        assert count == int(np.ceil(np.log(1e-3) / np.log(1 - rate * values[0])))
        counts.append(count)
    assert counts[1] / counts[0] == pytest.approx(2, rel=0.1) and counts[2] / counts[1] == pytest.approx(2, rel=0.05)


def test_normalized_steps_that_shrink_like_one_over_the_root_of_t_reach_the_margin_like_it():
    """max-margin-accelerated: gap <= log n / |w| and |w| >= g* r sum s^-1/2 > 2 g* r (sqrt(t + 1) - 1): O(1 / sqrt t)."""
    z, w = max_margin_accelerated.problem(6, 10, 0), np.zeros((6, 2, 1))
    rate = 0.5 / (z**2).sum(2).max(1)
    for t in range(1, 2001):
        m = z @ w
        weights = np.exp(m.min(1, keepdims=True) - m)
        w = w + (rate / t**0.5)[:, None, None] * (z.mT @ weights) / weights.sum(1, keepdims=True)
        if t in (250, 500, 1000, 2000):
            size = np.linalg.norm(w, axis=(1, 2))
            gap = 0.5 - (z @ w).min((1, 2)) / size
            assert (gap >= -1e-9).all() and (gap <= np.log(10) / size).all()
            assert (size >= 0.5 * rate * 2 * ((t + 1) ** 0.5 - 1)).all()
    assert (size < rate * 0.5 * 2000).all()  # constant steps would go further: 1 / t
