"""The shortcuts against refits: every row left out, every density written out, every choice made by hand."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.model_selection import KFold, PredefinedSplit

from gnomon.estimators import NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.estimators.problem import MAX_SELECTION_ROWS, examined_rows
from gnomon.estimators.selection import GRID
from gnomon.linalg.ridge_modes import ridge_modes
from tests.oracles import arccosine

N = 14


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 3))
    y = np.stack([x[:, 0] ** 2 + 0.1 * rng.normal(size=N), rng.normal(size=N)], 1)
    return x, arccosine.kernels(x, depth=2)[1] / 7.0, y - y.mean(0)


def fitted(gram, y, weights, ridge, at):
    """The weighted ridge function at a row, from its normal equations."""
    kept = weights > 0
    K, w = gram[np.ix_(kept, kept)], np.diag(weights[kept])
    c = np.linalg.solve(w @ K + ridge * np.eye(kept.sum()), w @ y[kept])
    return gram[at, kept] @ c


@pytest.mark.parametrize("weights", [np.ones(N), np.arange(N) % 3 + 1.0, np.linspace(0.2, 2.7, N)])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_leaving_out_is_what_refits_find(problem, weights, ridge):
    _, gram, y = problem
    found = ridge_modes(*map(torch.from_numpy, (gram, y, weights))).left_out(ridge).numpy()
    for i in range(N):
        without = weights.copy()
        without[i] -= min(1.0, weights[i])  # a row, or one of its copies
        np.testing.assert_allclose(found[i], y[i] - fitted(gram, y, without, ridge, i), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weights", [np.ones(N), np.arange(N) % 3 + 1.0])
def test_the_evidence_is_a_density_at_its_best_amplitude(problem, weights):
    _, gram, y = problem
    found = ridge_modes(*map(torch.from_numpy, (gram, y, weights)))
    copies = np.repeat(np.arange(N), weights.astype(int))
    K = gram[np.ix_(copies, copies)] + 0.1 * np.eye(len(copies))

    def density(s):
        return sum(multivariate_normal(np.zeros(len(copies)), s * K).logpdf(y[copies, j]) for j in range(2))

    s = found.amplitude(0.1)
    assert found.log_evidence(0.1) == pytest.approx(density(s), rel=1e-9)
    assert density(s) > max(density(0.99 * s), density(1.01 * s))


def test_auto_is_the_best_by_brute_force():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(18, 2))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=18)
    (x,), (target,) = arccosine.standardized(X), arccosine.standardized(y[:, None])
    scores = {}
    for depth in range(1, 6):
        for fixed in range(depth):
            gram = arccosine.kernels(x, depth=depth, fixed=fixed)[1]
            gram /= np.diag(gram).mean()
            for ridge in GRID:
                left = [np.arange(18) != i for i in range(18)]
                misses = [
                    target[i] - gram[i, k] @ np.linalg.solve(gram[np.ix_(k, k)] + ridge * np.eye(17), target[k])
                    for i, k in enumerate(left)
                ]
                scores[depth, fixed, ridge] = np.square(misses).mean()
    best = min(scores, key=scores.get)
    found = NTKRegressor(fixed_layers="auto").fit(X, y)
    assert (found.depth_, found.fixed_layers_, found.ridge_) == best
    assert found.selection_.score == pytest.approx(scores[best], rel=1e-6)
    assert len(found.selection_.tried) == 15 and "the best of 15 networks by leave-one-out" in str(found.selection_)


@pytest.mark.parametrize("splitter", [KFold(3), PredefinedSplit([-1, 0, 0] * 8), 4])
def test_folds_are_those_of_the_caller(splitter):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=24) > 0).astype(int)
    found = NTKClassifier(depth=1, select=splitter).fit(X, y)
    (x,) = arccosine.standardized(X)
    gram = arccosine.kernels(x, depth=1)[1]
    gram /= np.diag(gram).mean()
    t = 2.0 * y - 1
    folds = KFold(4) if splitter == 4 else splitter
    scores = {}
    for ridge in GRID:
        errors = []
        for train, test in folds.split(X, y):
            mean = t[train].mean()
            c = np.linalg.solve(gram[np.ix_(train, train)] + ridge * np.eye(len(train)), t[train] - mean)
            errors += list((t[test] - mean - gram[np.ix_(test, train)] @ c) ** 2)
        scores[ridge] = np.mean(errors)
    assert found.ridge_ == min(scores, key=scores.get) and found.selection_.criterion == "held-out rows"


def test_folds_of_weighted_rows_are_those_of_copies():
    rng = np.random.default_rng(5)
    X, weights, fold = rng.normal(size=(18, 2)), np.arange(18) % 3 + 1, np.arange(18) // 6
    y = X[:, 0] ** 2 + 0.2 * rng.normal(size=18) + 2.0 * fold  # folds with means of their own
    copies = np.repeat(np.arange(18), weights)
    one = NTKRegressor(depth=1, select=PredefinedSplit(fold)).fit(X, y, sample_weight=weights)
    two = NTKRegressor(depth=1, select=PredefinedSplit(fold[copies])).fit(X[copies], y[copies])
    assert one.ridge_ == two.ridge_ and one.selection_.score == pytest.approx(two.selection_.score, rel=1e-8)


def test_folds_are_trained_for_the_time_that_is_given():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(15, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    (x,), (target,) = arccosine.standardized(X), arccosine.standardized(y[:, None])
    found = NTKRegressor(t=2.0, select=KFold(3)).fit(X, y)
    for depth, fixed, ridge, score in found.selection_.tried:
        gram = arccosine.kernels(x, depth=depth, fixed=fixed)[1]
        errors = []
        for train, test in KFold(3).split(X):
            mean = target[train].mean()
            told = arccosine.flow_map(gram[np.ix_(train, train)], gram[np.ix_(test, train)], 2.0) @ (
                target[train] - mean
            )
            errors += list((target[test] - mean - told) ** 2)
        assert ridge == 0 and score == pytest.approx(np.mean(errors), rel=1e-6)


def test_the_score_by_evidence_is_minus_the_log_density_of_a_row():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(14, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=14)
    found = NNGPRegressor(depth=1, select="evidence").fit(X, y)
    (x,), (target,) = arccosine.standardized(X), arccosine.standardized(y[:, None])
    gram = arccosine.kernels(x, depth=1)[0]
    noisy = gram / np.diag(gram).mean() + found.ridge_ * np.eye(14)
    s = float((target.T @ np.linalg.solve(noisy, target)).item()) / 14
    density = multivariate_normal(np.zeros(14), s * noisy).logpdf(target[:, 0])
    assert found.selection_.score == pytest.approx(-density / 14, rel=1e-6)


def test_many_rows_are_judged_by_a_fixed_draw():
    draw = examined_rows(5 * MAX_SELECTION_ROWS)
    assert len(set(draw.tolist())) == MAX_SELECTION_ROWS and torch.equal(draw, examined_rows(5 * MAX_SELECTION_ROWS))
    assert examined_rows(10).tolist() == list(range(10))


def test_time_is_judged_by_its_own_shrinkage():
    """Early stopping that learned nothing leaves the targets; that learned all is the ridgeless shortcut."""
    rng = np.random.default_rng(4)
    gram, y = torch.from_numpy(arccosine.kernels(rng.normal(size=(9, 2)), depth=1)[1]), torch.randn(9, 1).double()
    one = torch.ones(9).double()
    torch.testing.assert_close(ridge_modes(gram, y, one, time=0.0).left_out(0.0), y)
    late, end = ridge_modes(gram, y, one, time=1e9).left_out(1e-6), ridge_modes(gram, y, one).left_out(1e-6)
    torch.testing.assert_close(late, end)


def test_the_grid_of_ridges_begins_at_half_a_decade_above_the_first_power():
    assert pytest.approx([10 ** (k / 2) for k in range(-13, 4)]) == GRID


def test_a_splitter_is_given_the_table_and_then_the_labels():
    seen = []

    class Splitter(KFold):
        def split(self, X, y=None, groups=None):
            seen.append((X.shape, None if y is None else np.asarray(y).tolist()))
            return super().split(X, y, groups)

    labels = np.array([0, 1] * 6)
    NTKClassifier(depth=1, select=Splitter(3)).fit(np.random.default_rng(0).standard_normal((12, 2)), labels)
    assert seen[0][0] == (12, 2) and seen[0][1] == labels.tolist()
