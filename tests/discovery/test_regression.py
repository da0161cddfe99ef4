import numpy as np
from scipy.linalg import lstsq

from gnomon.discovery import Selection, bic_path
from gnomon.discovery.elimination import eliminated
from gnomon.discovery.regression import Moments, choice, stridge
from tests.oracles.subsets import best_subset


def problem(noise=0.1, seed=0, correlated=0.5):
    draw = np.random.default_rng(seed)
    columns = draw.standard_normal((200, 8)) + correlated * draw.standard_normal((200, 1))
    target = 2 * columns[:, 1] - columns[:, 4] + 0.5 * columns[:, 6] + noise * draw.standard_normal(200)
    return columns, target


def test_the_path_meets_the_best_subset_of_every_size_near_the_truth():
    columns, target = problem()
    path = {len(c.support): c for c in bic_path(columns, target)}
    for size in (2, 3, 4):
        assert path[size].support == best_subset(columns, target, size)
    inner = lstsq(columns[:, [1, 4, 6]], target)[0]
    left = np.linalg.norm(columns[:, [1, 4, 6]] @ inner - target) / np.linalg.norm(target)
    assert np.isclose(path[3].misfit, left, rtol=1e-6)


def test_the_criterion_is_smallest_at_the_truth_in_nine_of_ten_draws():
    right = 0
    for seed in range(20):
        best = min(bic_path(*problem(seed=seed)), key=lambda c: c.criterion)
        right += best.support == (1, 4, 6)
    assert right >= 18


def test_thresholding_keeps_what_is_above_its_threshold():
    columns, target = problem(noise=0.0, correlated=0.0)
    moments = Moments.of(columns, target, 200.0)
    assert stridge(moments, 0.05, 0.0) == (1, 4, 6)
    assert stridge(moments, 0.5, 0.0) == (1,)


def test_a_floor_keeps_numerical_errors_out():
    columns, target = problem(noise=0.0)
    target = target + 1e-4 * columns[:, 0]  # a discretization error that looks like a term
    moments = Moments.of(columns, target, 200.0)
    assert choice(moments, Selection(floor=1e-2)).support == (1, 4, 6)
    assert choice(moments, Selection(floor=1e-6)).support == (0, 1, 4, 6)


def test_elimination_drops_the_term_that_costs_least_of_every_regression():
    """Against a fit from the rows for every set of terms on the way."""
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((2, 60, 6)) + draw.standard_normal((2, 60, 1))
    rows = rows + 1j * draw.standard_normal(rows.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    target = draw.standard_normal((2, 60)) + rows @ np.arange(6.0)
    gram, cross = rows.conj().swapaxes(1, 2) @ rows, (rows.conj().swapaxes(1, 2) @ target[:, :, None])[:, :, 0]
    order, cost = eliminated(gram, cross)

    def left(i, chosen):
        found = lstsq(rows[i][:, chosen], target[i])[0] if chosen else np.zeros(0)
        return np.linalg.norm(rows[i][:, chosen] @ found - target[i]) ** 2

    for i in range(2):
        chosen = list(range(6))
        for k in range(6):
            rise = {j: left(i, [c for c in chosen if c != j]) - left(i, chosen) for j in chosen}
            assert order[i, k] == min(rise, key=rise.get) and np.isclose(cost[i, k], rise[order[i, k]], rtol=1e-8)
            chosen.remove(int(order[i, k]))


def test_one_term_more_costs_what_a_fit_with_it_says():
    columns, target = problem()
    moments = Moments.of(columns, target, 200.0)
    found = moments.misfits_with((1, 4))
    for j in (0, 6, 7):
        assert np.isclose(found[j] ** 0.5, moments.candidate(tuple(sorted((1, 4, j))), 1e-3).misfit, rtol=1e-6)
    assert np.isinf(found[[1, 4]]).all()
