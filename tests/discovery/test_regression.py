import numpy as np
from scipy.linalg import lstsq

from gnomon.discovery import TermSelection, best_terms_by_count
from gnomon.discovery.elimination import term_elimination_order
from gnomon.discovery.regression import RegressionMoments, choice, thresholded_ridge
from tests.oracles.subsets import best_subset


def problem(noise=0.1, seed=0, correlated=0.5):
    draw = np.random.default_rng(seed)
    columns = draw.standard_normal((200, 8)) + correlated * draw.standard_normal((200, 1))
    target = 2 * columns[:, 1] - columns[:, 4] + 0.5 * columns[:, 6] + noise * draw.standard_normal(200)
    return columns, target


def test_the_path_meets_the_best_subset_of_every_size_near_the_truth():
    columns, target = problem()
    path = {len(c.support): c for c in best_terms_by_count(columns, target)}
    for size in (2, 3, 4):
        assert path[size].support == best_subset(columns, target, size)
    inner = lstsq(columns[:, [1, 4, 6]], target)[0]
    left = np.linalg.norm(columns[:, [1, 4, 6]] @ inner - target) / np.linalg.norm(target)
    assert np.isclose(path[3].misfit, left, rtol=1e-6)


def test_the_criterion_is_smallest_at_the_truth_in_nine_of_ten_draws():
    right = 0
    for seed in range(20):
        best = min(best_terms_by_count(*problem(seed=seed)), key=lambda c: c.criterion)
        right += best.support == (1, 4, 6)
    assert right >= 18


def test_thresholding_keeps_what_is_above_its_threshold():
    columns, target = problem(noise=0.0, correlated=0.0)
    moments = RegressionMoments.of(columns, target, 200.0)
    assert thresholded_ridge(moments, 0.05, 0.0) == (1, 4, 6)
    assert thresholded_ridge(moments, 0.5, 0.0) == (1,)


def test_a_floor_keeps_numerical_errors_out():
    columns, target = problem(noise=0.0)
    target = target + 1e-4 * columns[:, 0]  # a discretization error that looks like a term
    moments = RegressionMoments.of(columns, target, 200.0)
    assert choice(moments, TermSelection(floor=1e-2)).support == (1, 4, 6)
    assert choice(moments, TermSelection(floor=1e-6)).support == (0, 1, 4, 6)


def test_elimination_drops_the_term_that_costs_least_of_every_regression():
    """Against a fit from the rows for every set of terms on the way."""
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((2, 60, 6)) + draw.standard_normal((2, 60, 1))
    rows = rows + 1j * draw.standard_normal(rows.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    target = draw.standard_normal((2, 60)) + rows @ np.arange(6.0)
    gram, cross = rows.conj().swapaxes(1, 2) @ rows, (rows.conj().swapaxes(1, 2) @ target[:, :, None])[:, :, 0]
    order, cost = term_elimination_order(gram, cross)

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
    moments = RegressionMoments.of(columns, target, 200.0)
    found = moments.misfits_with((1, 4))
    for j in (0, 6, 7):
        assert np.isclose(found[j] ** 0.5, moments.candidate(tuple(sorted((1, 4, j))), 1e-3).misfit, rtol=1e-6)
    assert np.isinf(found[[1, 4]]).all()


def test_moments_are_those_of_unit_columns_and_an_empty_column_has_none():
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((7, 3)) + 1j * rng.standard_normal((7, 3))
    columns[:, 1] = 0.0
    target = rng.standard_normal(7) * (2 + 1j)
    moments = RegressionMoments.of(columns, target, 5.0)
    unit = columns / np.array([np.linalg.norm(columns[:, 0]), 1.0, np.linalg.norm(columns[:, 2])])
    np.testing.assert_allclose(moments.gram, unit.conj().T @ unit)
    np.testing.assert_allclose(moments.cross, unit.conj().T @ target)
    assert np.isclose(moments.square, np.linalg.norm(target) ** 2) and moments.independent == 5.0
    ridge = moments.weights((0, 2), 0.3)
    np.testing.assert_allclose(ridge, np.linalg.solve(moments.gram[::2, ::2] + 0.3 * np.eye(2), moments.cross[::2]))
    np.testing.assert_allclose(moments.weights((0, 2)), lstsq(unit[:, ::2], target)[0])


def test_one_term_of_a_complex_regression_costs_what_a_fit_with_it_says():
    rng = np.random.default_rng(1)
    columns = rng.standard_normal((30, 4)) + 1j * rng.standard_normal((30, 4))
    target = columns @ [1.0, 2j, 0.0, -0.5] + 0.3 * rng.standard_normal(30)
    moments = RegressionMoments.of(columns, target, 30.0)
    for support in ((), (1,), (0, 3)):
        found = moments.misfits_with(support)
        for j in range(4):
            if j in support:
                assert np.isinf(found[j])
                continue
            chosen = sorted((*support, j))
            rest = columns[:, chosen] @ lstsq(columns[:, chosen], target)[0] - target
            assert np.isclose(found[j], np.linalg.norm(rest) ** 2 / np.linalg.norm(target) ** 2, rtol=1e-9)


def test_a_column_that_others_make_gains_nothing():
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((20, 3))
    columns[:, 2] = columns[:, 0] - 2 * columns[:, 1]
    target = rng.standard_normal(20)
    moments = RegressionMoments.of(columns, target, 20.0)
    rest = columns[:, :2] @ lstsq(columns[:, :2], target)[0] - target
    assert np.isclose(moments.misfits_with((0, 1))[2], np.linalg.norm(rest) ** 2 / np.linalg.norm(target) ** 2)
    assert np.isfinite(RegressionMoments.of(columns, 0 * target, 20.0).misfits_with((0,))[1:]).all()


def test_the_criterion_weighs_misfit_and_terms_by_independent_rows():
    columns, target = problem(noise=0.5)
    rest = columns[:, [1, 4]] @ lstsq(columns[:, [1, 4]], target)[0] - target
    share = np.linalg.norm(rest) ** 2 / np.linalg.norm(target) ** 2
    for rows, m in ((30.0, 30.0), (1.5, 2.718), (2.7, 2.718), (2.8, 2.8)):
        found = RegressionMoments.of(columns, target, rows).candidate((1, 4), 0.05)
        assert np.isclose(found.misfit, share**0.5, rtol=1e-9)
        assert np.isclose(found.criterion, m * np.log(share + 0.05**2) + 2 * np.log(m), rtol=1e-9)
    empty = RegressionMoments.of(columns, target, 30.0).candidate((), 0.05)
    assert np.isclose(empty.misfit, 1.0) and np.isclose(empty.criterion, 30 * np.log(1 + 0.05**2))
    assert RegressionMoments.of(columns, 0 * target, 30.0).candidate((1,), 0.05).misfit == 0.0


def test_thresholding_with_ridge_drops_terms_round_by_round():
    """Unit columns with a common part: the weights of a round decide, and the next round is fitted without them."""
    columns, target = problem(noise=0.3, correlated=1.0)
    moments = RegressionMoments.of(columns, target, 200.0)
    unit, size = columns / np.linalg.norm(columns, axis=0), np.linalg.norm(target)
    for tolerance in np.geomspace(1e-3, 1, 15):
        for ridge in (0.0, 0.5):
            chosen = list(range(8))
            while chosen:
                a = unit[:, chosen]
                w = np.linalg.solve(a.T @ a + ridge * np.eye(len(chosen)), a.T @ target)
                left = [j for j, v in zip(chosen, w, strict=True) if abs(v) >= tolerance * size]
                if left == chosen:
                    break
                chosen = left
            assert thresholded_ridge(moments, tolerance, ridge) == tuple(chosen)


def test_the_path_has_the_best_candidate_of_every_size_down_to_none():
    columns, target = problem()
    found = best_terms_by_count(columns, target)
    assert [len(c.support) for c in found] == list(range(8, -1, -1))
    alone = best_terms_by_count(columns, target, TermSelection(thresholds=1))
    assert all(a.criterion <= b.criterion + 1e-12 for a, b in zip(found, alone, strict=True))


def test_the_path_has_the_best_of_elimination_and_of_thresholds():
    """Eight columns of ten rows, for which thresholds find a better support of some size."""
    better = 0
    for seed in (10, 39, 102):
        rng = np.random.default_rng(seed)
        columns = rng.standard_normal((10, 8)) + 0.0 * rng.standard_normal((10, 1))
        target = columns[:, :3] @ rng.standard_normal(3) + rng.standard_normal(10)
        moments, selection = RegressionMoments.of(columns, target, 10.0), TermSelection()
        gone = term_elimination_order(moments.gram[None], moments.cross[None])[0][0].tolist()
        supports = {tuple(sorted(gone[k:])) for k in range(9)}
        alone = {len(s): moments.candidate(s, selection.floor).criterion for s in supports}
        supports |= {thresholded_ridge(moments, float(t), 1e-6) for t in np.logspace(-4, 0, 24)}
        for found in best_terms_by_count(columns, target):
            sizes = [moments.candidate(s, 2e-3).criterion for s in supports if len(s) == len(found.support)]
            assert np.isclose(found.criterion, min(sizes), rtol=1e-12)
            better += found.criterion < alone[len(found.support)] - 1e-6
    assert better >= 3


def test_the_choice_is_a_local_optimum_of_one_term_more_less_or_exchanged():
    for seed in range(6):
        columns, target = problem(noise=2.0, seed=seed, correlated=3.0)
        moments = RegressionMoments.of(columns, target, 40.0)
        selection = TermSelection(floor=1e-3)
        best = choice(moments, selection)
        inside, outside = best.support, [j for j in range(8) if j not in best.support]
        near = [tuple(i for i in inside if i != j) for j in inside]
        near += [tuple(sorted((*base, j))) for base in [inside, *near] for j in outside]
        assert all(moments.candidate(s, 1e-3).criterion >= best.criterion - 1e-8 for s in near)
        start = (moments.candidate((0, 3), 1e-3),)  # from a poor start one exchange after the other
        assert choice(moments, selection, start).criterion < start[0].criterion


def test_options_of_the_selection_have_these_defaults():
    found = TermSelection()
    assert (found.floor, found.ridge, found.thresholds, found.draws, found.seed) == (2e-3, 1e-6, 24, 50, 0)
