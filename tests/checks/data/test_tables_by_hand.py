"""Checks of single columns against slow loops, scipy, and thresholds with a case on each side."""

import numpy as np
import pytest
import torch
from scipy import stats

from gnomon.checks.data import category_codes, drifted_columns, groups, leaked_target, outliers, row_numbers
from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.drifted_columns import drifted_column_findings
from gnomon.checks.data.leaked_target import leaked_target_findings
from gnomon.checks.data.outliers import outlier_findings
from gnomon.checks.data.row_numbers import row_number_findings


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def explained(predicted, y):
    return float(1 - ((predicted - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum())


def test_codes_explain_by_the_mean_of_the_other_rows_of_each_code():
    place, y = torch.tensor([0, 0, 0, 1, 1, 2]), normal(6, 2)
    others = [[j for j in range(6) if j != i and place[j] == place[i]] for i in range(6)]
    rows = [y[some].mean(0) if some else y[[j for j in range(6) if j != i]].mean(0) for i, some in enumerate(others)]
    assert category_codes._explained_by_code(place, y) == pytest.approx(explained(torch.stack(rows), y))


def test_sizes_explain_by_the_best_polynomial_of_the_other_rows():
    x = torch.linspace(-3, 5, 20, dtype=torch.float64)
    y = (x / 2).sin() + 0.2 * normal(20)
    scores = []
    for degree in range(1, 7):
        left = [np.arange(20) != i for i in range(20)]
        fits = [np.polynomial.Polynomial.fit(x[keep], y[keep], degree)(x[i]) for i, keep in enumerate(left)]
        scores.append(explained(torch.tensor(fits, dtype=torch.float64), y))
    assert category_codes._explained_by_size(x, y[:, None]) == pytest.approx(max(scores), rel=1e-6)
    lines = [np.polynomial.Polynomial.fit(x[:2], y[:2], 1)] * 2
    assert lines[0](0.0) == lines[1](0.0) and category_codes._explained_share(y, torch.ones(20)) == 0.0


@pytest.mark.parametrize(
    ("values", "rows", "codes"),
    [(range(7), 900, False), (range(8), 32, True), (range(8), 31, False), (range(300), 1200, True),
     (range(301), 1204, False), ([0, 1, 2, 3, 4, 5, 9, 20], 900, True), ([0, 1, 2, 3, 4, 5, 6, 7.019], 900, True),
     ([0, 1, 2, 3, 4, 5, 6, 7.021], 900, False)],
)  # fmt: skip
def test_codes_are_few_equally_spaced_values(values, rows, codes):
    assert category_codes._are_codes(torch.tensor(list(values), dtype=torch.float64), rows) is codes


@pytest.mark.parametrize(("by_size", "found"), [(0.36, False), (0.34, True)])
def test_codes_must_explain_fifteen_points_more_than_sizes(by_size, found, monkeypatch):
    monkeypatch.setattr(category_codes, "_explained_by_code", lambda place, targets: 0.5)
    monkeypatch.setattr(category_codes, "_explained_by_size", lambda column, targets: by_size)
    x = (torch.arange(40.0) % 10)[:, None].repeat(1, 200)
    findings = category_code_findings(x, torch.arange(40) % 2, classes=2)
    assert [(f.values["column"], f.values["codes"]) for f in findings] == ([(0, 10)] if found else [])
    assert category_code_findings(x.repeat(1, 2)[:, :201], torch.arange(40) % 2, classes=2) == ()


def test_ranks_correlate_as_in_scipy():
    table, y = normal(30, 3), normal(30, seed=1)
    found = leaked_target._rank_correlations(torch.cat([table, torch.ones(30, 1)], 1), y)
    assert found.tolist() == pytest.approx([*(stats.spearmanr(table[:, j], y)[0] for j in range(3)), 0.0])


def test_columns_are_scored_by_class_means():
    table = torch.tensor([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [10.0, 1.0]], dtype=torch.float64)
    accuracy, share = leaked_target._class_scores(table, torch.tensor([5, 5, 7, 7]))
    # means 1 and 7 of 0, 2 | 4, 10: the border is 4, whose distance is 3 to both; variance 14, between 9
    assert accuracy.tolist() == [0.75, 0.5] and share.tolist() == pytest.approx([9 / 14, 0.0])
    assert leaked_target._class_scores(table, torch.zeros(4))[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("classes", "score", "best", "second", "found"),
    [(2, 0.996, 0.91, 0.74, True), (2, 0.994, 0.91, 0.74, False), (2, 0.996, 0.89, 0.74, False),
     (2, 0.996, 0.91, 0.76, False), (0, 0.996, 0.996, 0.89, True), (0, 0.994, 0.994, 0.89, False),
     (0, 0.996, 0.996, 0.91, False)],
)  # fmt: skip
def test_a_leaked_target_stands_alone(classes, score, best, second, found, monkeypatch):
    pair = torch.tensor([0.9, score]), torch.tensor([second, best])
    monkeypatch.setattr(leaked_target, "_class_scores", lambda table, y: pair)
    monkeypatch.setattr(leaked_target, "_rank_correlations", lambda table, y: pair[1].sqrt())
    y = torch.arange(100) % 2
    findings = leaked_target_findings(torch.zeros(100, 2), y, classes=classes)
    assert [finding.values["column"] for finding in findings] == ([1] if found else [])
    assert leaked_target_findings(torch.zeros(99, 2), y[:99], classes=classes) == ()
    assert leaked_target_findings(torch.zeros(100, 501), y, classes=classes) == ()


def test_outliers_are_cut_between_distances_in_interquartile_ranges():
    column = torch.arange(101, dtype=torch.float64)  # quartiles 25, 50 and 75
    column[0], column[100] = -3000.0, 2550.0  # distances 61 and 50; the next is 0.98
    center, distance, factor = outliers._cut(column)
    assert (center, factor) == (50.0, pytest.approx(2500 / 49)) and distance == pytest.approx(2500.0)
    assert outliers._cut(torch.ones(101, dtype=torch.float64)) is None


@pytest.mark.parametrize(("far", "others", "found"), [(10.1, 0.5, True), (9.9, 0.4, False), (10.1, 0.51, False)])
def test_outliers_are_ten_interquartile_ranges_away_and_twenty_times_the_others(far, others, found):
    column = torch.linspace(-1, 1, 1001, dtype=torch.float64).clamp(
        -0.5, 0.5
    )  # half of the values between -1/2 and 1/2
    column = column.sign() * 0.5 * (column.abs() > 0.25) + column * (column.abs() <= 0.25)
    column = torch.where(column.abs() == 0.5, column.sign() * 2 * others * 0.5, column)
    low, high = column.quantile(0.25), column.quantile(0.75)
    assert float(high - low) == pytest.approx(2 * others)
    column[:2] = -far * 2 * others if found or far < 10 else -19.9 * others
    assert bool(outlier_findings(column[:, None])) is found


@pytest.mark.parametrize(("rows", "found"), [(1, False), (2, True), (20, True), (21, False)])
def test_outliers_are_few(rows, found):
    x = torch.linspace(0, 1, 1000, dtype=torch.float64)[:, None].repeat(1, 2)
    x[:rows, 1] = 1e6
    assert bool(outlier_findings(x)) is found
    few = torch.linspace(0, 1, 100, dtype=torch.float64)[:, None]
    few[:2] = 1e6
    assert outlier_findings(few) and outlier_findings(few[:99]) == ()


def shifted(share, n=400, columns=2, moved=1):
    """Columns of train, and of test in which a share of the rows lies above all of train."""
    x = torch.arange(n, dtype=torch.float64)[:, None].repeat(1, columns) / n
    z = x.clone()
    z[: round(share * n), :moved] = 2.0
    return x, z


@pytest.mark.parametrize(("share", "found"), [(0.24, False), (0.26, True)])
def test_a_quarter_of_the_rows_must_have_moved(share, found):
    findings = drifted_column_findings(*shifted(share))
    assert [finding.values["count"] for finding in findings] == ([1] if found else [])


@pytest.mark.parametrize(("columns", "found"), [(74, True), (76, False)])
def test_drift_is_beyond_chance_for_all_columns_together(columns, found):
    """D = 53 / 170 of 170 and 170 rows: 2 exp(-2 D^2 85) = 1.33e-7, which 1e-5 allows 75 times."""
    x, z = shifted(53 / 170, n=170, columns=columns)
    chance = 2 * np.exp(-2 * (53 / 170) ** 2 * 170 * 170 / 340)
    assert 74 < 1e-5 / chance < 76
    assert bool(drifted_column_findings(x, z)) is found


@pytest.mark.parametrize(("moved", "found"), [(2, True), (3, False)])
def test_a_table_that_moved_as_a_whole_blames_no_column(moved, found):
    assert bool(drifted_column_findings(*shifted(0.5, columns=4, moved=moved))) is found
    assert drifted_column_findings(*shifted(0.5, columns=501)) == ()
    assert drifted_columns.drifted_column_findings(*shifted(0.5, columns=1)) == ()


@pytest.mark.parametrize(
    ("values", "found"),
    [(range(100), True), ([*range(99), 157], True), ([*range(99), 161], False), ([*range(99), 98.97], False),
     ([*range(98), 99.03, 100.03], True), ([*range(98), 98.03, 99.0], False), ([*range(99), 98], False)],
)  # fmt: skip
def test_row_numbers_are_terms_of_one_progression(values, found):
    assert row_numbers._numbers_rows(torch.tensor(list(values), dtype=torch.float64) / 7) is found


def test_the_nearest_row_saves_errors_of_guessing():
    own, test = torch.tensor([0.0, 2.0, 4.0]), torch.tensor([0.4, 1.6, 3.9, 4.2])
    y, z = torch.tensor([1, 0, 0]), torch.tensor([1, 0, 1, 0])
    # nearest: 1 0 0 0, wrong once; the mode 0 is wrong twice
    saved, score = row_numbers._saved_by_nearest(own, y, test, z, 2)
    assert (saved, score) == (0.5, 1.0)
    numbers, others = torch.tensor([1.0, 2.0, 6.0]), torch.tensor([2.0, 2.0, 5.0, 7.0])
    # squared errors of nearest rows 1 0 1 1, of the mean three 1 1 4 16
    saved, score = row_numbers._saved_by_nearest(own, numbers, test, others, 0)
    assert saved == pytest.approx(1 - 3 / 22) and score == pytest.approx(19 / (0 + 1 + 9 + 225) ** 0.5)
    assert row_numbers._saved_by_nearest(own, torch.zeros(3), test, torch.zeros(4), 2) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("saved", "score", "between", "found"),
    [(0.31, 3.6, 0.82, True), (0.29, 3.6, 0.82, False), (0.31, 3.4, 0.82, False), (0.31, 3.6, 0.78, False)],
)
def test_row_numbers_give_the_target_away_on_one_side_of_each_threshold_only(saved, score, between, found, monkeypatch):
    monkeypatch.setattr(row_numbers, "_saved_by_nearest", lambda *arguments: (saved, score))
    inside = round(50 * between)
    numbers = torch.arange(100.0)
    test = torch.cat([numbers[1 : inside + 1], numbers[-(50 - inside) :]])
    own = torch.cat([numbers[:1], numbers[inside + 1 : 50 + inside]])
    x, z = own[:, None], test[:, None]
    assert len(x) + len(z) == 100
    assert bool(row_number_findings(x, torch.zeros(50), z, torch.zeros(50), classes=2)) is found
    assert row_number_findings(x[:49], torch.zeros(49), z, torch.zeros(50), classes=2) == ()


def test_the_column_with_the_largest_gain_is_named(monkeypatch):
    scores = iter((0.5, 0.9, 0.6))
    monkeypatch.setattr(category_codes, "_explained_by_code", lambda place, targets: next(scores))
    monkeypatch.setattr(category_codes, "_explained_by_size", lambda column, targets: 0.1)
    x = (torch.arange(40.0) % 10)[:, None].repeat(1, 3)
    (finding,) = category_code_findings(x, torch.arange(40) % 2, classes=2)
    assert finding.values["column"] == 1 and finding.values["by_code"] == 0.9


@pytest.mark.parametrize(("radius", "found"), [(2.4, False), (2.6, True)])
def test_groups_end_where_distances_jump_by_two_and_a_half(radius, found, monkeypatch):
    """Test examples at the center, two of train beside it with their label, and all others on a circle around it."""
    angle = torch.linspace(0, 2 * np.pi, 160, dtype=torch.float64)
    circle = radius * torch.stack([angle.cos(), angle.sin()], 1)
    near = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    x, z = torch.cat([near, circle]), torch.zeros(50, 2, dtype=torch.float64)
    monkeypatch.setattr(groups, "joint_example_rows", lambda x, z, seed: torch.cat([x, z]))
    y, y_test = torch.cat([torch.ones(2), torch.zeros(160)]).long(), torch.ones(50).long()
    findings = groups.group_findings(x, y, z, y_test)
    assert [(f.values["size"], f.values["share"]) for f in findings] == ([(2, 1.0)] if found else [])
    assert groups.group_findings(x, y, z[:49], y_test[:49]) == ()
