import numpy as np
from scipy.linalg import lstsq

from gnomon.discovery import Selection, bic_path
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
