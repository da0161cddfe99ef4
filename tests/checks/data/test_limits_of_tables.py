"""Smallest number of rows and largest number of columns of each check of a table: found on one side, left on the other."""

import pytest
import torch

from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.drifted_columns import drifted_column_findings
from gnomon.checks.data.leaked_target import leaked_target_findings
from gnomon.checks.data.outliers import outlier_findings
from gnomon.checks.data.repeated_rows import repeated_row_findings
from gnomon.checks.data.repeated_value import repeated_value_findings
from gnomon.checks.data.row_order import row_order_findings
from gnomon.checks.data.sentinels import sentinel_findings
from gnomon.checks.data.train_only_features import train_only_feature_findings
from gnomon.checks.data.weak_segments import weak_segment_findings


def normal(n, columns, seed=0):
    return torch.randn(n, columns, generator=torch.Generator().manual_seed(seed)).double()


def outliers(n, columns):
    x = normal(n, columns)
    x[3, 0], x[7, 0] = 1000.0, 2000.0
    return outlier_findings(x)


def drifted(n, columns):
    x, test = normal(n, columns), normal(n, columns, seed=1)
    test[:, 0] += 5
    return drifted_column_findings(x, test)


def leaked(n, columns):
    x = normal(n, columns)
    y = torch.arange(n) % 2
    x[:, 1] = y + 0.01 * x[:, 1]
    return leaked_target_findings(x, y, classes=2)


def sentinels(n, columns):
    x = torch.rand(n, columns, generator=torch.Generator().manual_seed(0))
    x[::15, 1] = -999.0
    return sentinel_findings(x)


def codes(n, columns):
    x = normal(n, columns)
    code = torch.randint(0, 30, (n,), generator=torch.Generator().manual_seed(2))
    x[:, 1] = code
    return category_code_findings(x, normal(30, 1, seed=3)[code], classes=0)


def ordered(n, columns):
    x = normal(n, columns)
    x[:, 1] = torch.arange(n)
    return row_order_findings(x, normal(n, 1, seed=4), in_order=False)


def segments(n, columns):
    x = torch.rand(n, columns, generator=torch.Generator().manual_seed(5))
    return weak_segment_findings(x, (x[:, 0] > 0.7).double())


def repeats(n, columns):
    x = normal(n, columns)
    y = x[:, :1] + 0.3 * normal(n, 1, seed=6)
    return repeated_value_findings(x, y, torch.ones(n))


def only_in_train(n, columns):
    x = normal(n, columns)
    test = x.clone()
    test[:, 0] = 0.0
    y = torch.arange(n) % 2
    x[:, 0] = y + 0.1 * x[:, 0]
    return train_only_feature_findings(x, y, test)


def copies(n, columns):
    x = normal(n, columns)
    x[n // 3 :] = x[torch.arange(n - n // 3) % (n // 3)]
    return repeated_row_findings(x)


@pytest.mark.parametrize(
    ("check", "columns"),
    [(outliers, 2000), (drifted, 500), (leaked, 500), (sentinels, 2000), (codes, 200), (ordered, 100), (segments, 100),
     (repeats, 2000)],
)  # fmt: skip
def test_wider_tables_are_not_searched(check, columns):
    n = 900 if check is codes else 400
    assert check(n, columns) and not check(n, columns + 1)


@pytest.mark.parametrize(
    ("check", "rows"),
    [(outliers, 100), (leaked, 100), (ordered, 60), (segments, 200), (repeats, 100), (only_in_train, 60), (copies, 100)],
)  # fmt: skip
def test_shorter_tables_are_not_judged(check, rows):
    assert check(rows, 5) and not check(rows - 1, 5)


def test_two_columns_are_needed_to_compare_columns():
    assert drifted(400, 2) and not drifted(400, 1) and leaked(400, 2)


@pytest.mark.parametrize(("moved", "found"), [(2, True), (3, False)])
def test_more_than_half_of_the_columns_have_another_reason_to_drift(moved, found):
    x, test = normal(400, 5), normal(400, 5, seed=1)
    test[:, :moved] += 5
    assert bool(drifted_column_findings(x, test)) is found


@pytest.mark.parametrize(("step", "found"), [(0.24, False), (0.26, True)])
def test_a_column_drifts_from_a_distance_of_a_quarter(step, found):
    """Uniform numbers in train; in test the lowest share is moved above all others: the distance is this share."""
    x = torch.arange(2000).double()[:, None] / 2000
    both = torch.cat([x, x], 1)
    test = both.clone()
    test[test[:, 0] < step, 0] += 1
    assert bool(drifted_column_findings(both, test)) is found


@pytest.mark.parametrize(("distance", "found"), [(19.0, False), (21.0, True)])
def test_outliers_are_twenty_times_as_far_as_the_other_values(distance, found):
    """Numbers -1 ... 1 have the median 0; distances from it are compared."""
    x = torch.linspace(-1, 1, 401).double()[:, None].repeat(1, 2)
    x[0, 0], x[1, 0] = distance, distance + 1
    assert bool(outlier_findings(x)) is found
    x[1, 0] = -0.99
    assert outlier_findings(x) == ()  # a single one may be real


@pytest.mark.parametrize(("share", "found"), [(0.019, True), (0.021, False)])
def test_outliers_are_few(share, found):
    x = torch.linspace(-1, 1, 1000).double()[:, None].repeat(1, 2)
    x[: int(1000 * share), 0] = 500.0 + torch.arange(int(1000 * share)).double()
    assert bool(outlier_findings(x)) is found


@pytest.mark.parametrize(("rows", "found"), [(4, False), (5, True), (360, True), (361, False)])
def test_a_sentinel_stands_in_some_rows_and_not_in_most(rows, found):
    """At least five rows, and at most 60 % of 600."""
    x = torch.rand(600, 2, generator=torch.Generator().manual_seed(0))
    x[:rows, 0] = -999.0
    assert bool(sentinel_findings(x)) is found
