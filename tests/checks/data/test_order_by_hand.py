"""Order of rows, weak segments, augmentation and other classes: scores written out by hand, from both sides."""

from math import sqrt
from types import SimpleNamespace

import pytest
import torch

from gnomon.checks.data import augmented_inputs, relabeled, row_order, weak_segments
from gnomon.checks.data.augmented_inputs import augmented_input_findings
from gnomon.checks.data.relabeled import relabeled_class_findings
from gnomon.checks.data.repeated_value import repeated_value_findings
from gnomon.checks.data.row_order import row_order_findings
from gnomon.checks.data.weak_segments import weak_segment_findings


def normal(n, columns, seed=0):
    return torch.randn(n, columns, generator=torch.Generator().manual_seed(seed)).double()


def other_votes(monkeypatch, q, r, n):
    """The finding if train calls this share of n test examples of class 0 class 2, and test itself another share."""
    y, y_test = torch.arange(4 * n) % 3, torch.cat([torch.zeros(n), torch.ones(n)]).long()
    votes = [y_test.clone(), y_test.clone()]
    for vote, share in zip(votes, (q, r), strict=True):
        vote[: round(share * n)] = 2
    left = [torch.cat([y, votes[0]]), votes[1]]
    monkeypatch.setattr(
        relabeled, "leave_one_out_kernel_predictions",
        lambda rows, table, **known: torch.nn.functional.one_hot(left.pop(0), 3).double(),
    )  # fmt: skip
    return relabeled_class_findings(normal(4 * n, 2), y, normal(2 * n, 2), y_test)


@pytest.mark.parametrize(
    ("q", "r", "n", "found"),
    # z is 0.35 / sqrt(2 0.325 0.675 / n): 4.73 and 5.28; with 400 examples the difference of 0.3 decides
    [
        (0.5, 0.15, 80, False),
        (0.5, 0.15, 100, True),
        (0.49, 0.2, 400, False),
        (0.51, 0.2, 400, True),
        (0.2, 0.51, 400, False),
    ],
)
def test_a_class_is_relabeled_from_five_standard_errors_and_three_tenths(monkeypatch, q, r, n, found):
    result = other_votes(monkeypatch, q, r, n)
    assert bool(result) is found
    if found:
        told = {key: result[0].values[key] for key in ("true", "given", "by_train", "by_test", "examples")}
        assert told == {"true": 0, "given": 2, "by_train": pytest.approx(q), "by_test": pytest.approx(r), "examples": n}


@pytest.mark.parametrize(("share", "found"), [(0.58, False), (0.62, True)])
def test_classes_are_renumbered_if_six_tenths_are_called_by_one_other_number(share, found):
    y = torch.arange(200) // 100
    votes = y.clone()
    for c in (0, 1):
        votes[100 * c : 100 * c + round(100 * share)] = 1 - c
    assert bool(relabeled._renumbered_classes(votes, y, [0, 1])) is found


def baseline(monkeypatch, given, after, y):
    scores = [given, after]
    monkeypatch.setattr(
        augmented_inputs, "simple_model_baseline", lambda data: SimpleNamespace(score=scores.pop(0), examples=9)
    )
    x = normal(len(y), 3)
    return augmented_input_findings(x, x, y)


@pytest.mark.parametrize(
    ("given", "after", "found"),
    # classes of a quarter: a score of 0.625 is half of the way from guessing to no errors, 0.8125 three quarters of it
    [
        (0.62, 0.25, False),
        (0.63, 0.25, True),
        (1.0, 0.62, True),
        (1.0, 0.63, False),
        (0.8125, 0.52, True),
        (0.8125, 0.54, False),
    ],
)
def test_half_of_the_skill_over_guessing_must_be_there_and_be_kept(monkeypatch, given, after, found):
    assert bool(baseline(monkeypatch, given, after, torch.arange(80) % 4)) is found


def test_an_augmented_score_below_zero_is_shown_as_zero(monkeypatch):
    (found,) = baseline(monkeypatch, 0.9, -0.3, normal(50, 1))
    assert (found.values["given"], found.values["after"]) == (0.9, 0.0)
    assert found.evidence[0].value == pytest.approx(-1 / 3)


def test_inputs_may_be_shifted_to_both_sides_by_one_deviation():
    x, y = normal(200, 3), torch.arange(200) % 2
    for shift, found in ((-1.1, True), (-0.9, False), (1.1, True)):
        result = augmented_input_findings(x, x + shift * float(x.std()), y)
        assert bool(result) is found
    assert result[0].values["other_mean"] == pytest.approx(float(x.mean() + 1.1 * x.std()))
    assert result[0].values["other_std"] == pytest.approx(float(x.std()))


def test_the_column_that_drifts_most_is_named_whatever_its_direction():
    n, y = 400, normal(400, 1, seed=9)
    rows = torch.arange(n).double()[:, None] / n
    x = torch.cat([rows + 0.5 * normal(n, 1, seed=1), -rows + 0.1 * normal(n, 1, seed=2)], 1)
    (found,) = row_order_findings(x, y, in_order=False, names=("up", "down"))
    assert found.values["column"] == "down" and found.values["rho"] < -0.9
    assert found.values["count"] == sum(abs(row_order._correlation(c)) > 0.5 for c in x.T)
    (alone,) = row_order_findings(x[:, 1:], y, in_order=False)
    assert alone.values["count"] == 1
    (falling,) = row_order_findings(normal(n, 1), -rows[:, 0], in_order=True)
    assert falling.kind == "row-order"


@pytest.mark.parametrize(("n", "found"), [(100, False), (180, True)])
def test_a_drift_needs_six_standard_errors(n, found):
    """A rank correlation of about 0.55: 5.5 and 7.4 standard errors."""
    order = torch.arange(n).double()
    x = (order + 0.42 * n * normal(n, 1, seed=3)[:, 0])[:, None]
    rho = row_order._correlation(x[:, 0])
    assert 0.5 < rho and (rho * sqrt(n - 1) > 6.0) is found
    assert bool(row_order_findings(x, normal(n, 1, seed=4), in_order=False)) is found


@pytest.mark.parametrize(("n", "found"), [(60, False), (100, True)])
def test_classes_are_sorted_from_six_standard_errors(n, found):
    """About a tenth of the pairs differs, and 55 % would agree by chance: 5.6 and 7.2 standard errors."""
    y = (torch.arange(n) >= 0.7 * n).long()
    for i in range(n // 20 - 1):
        y[3 + 4 * i] = 1
    same, p = float((y[1:] == y[:-1]).double().mean()), float((torch.bincount(y) / n).square().sum())
    assert same >= 0.9 and ((same - p) * sqrt(n - 1) / sqrt(p * (1 - p)) > 6) is found
    assert bool(row_order_findings(torch.rand(n, 1), y, in_order=True)) is found


def test_equal_errors_on_both_sides_have_a_finite_z_score():
    """A thousandth of the variance 0.25 * 100 / 99 stands for both variances of zero."""
    errors = torch.tensor([1.0, 0.0] * 50).double()
    pooled = 25 / 99 * 1e-3
    inside = errors == 1
    assert weak_segments._z(errors, inside) == pytest.approx(1 / sqrt(pooled / 50 + pooled / 50))


@pytest.mark.parametrize(
    ("share", "side"),
    [(0.1, "at most"), (0.2, "at most"), (0.3, "at most"), (0.5, "above"), (0.7, "above"),
     (0.8, "above"), (0.9, "above")],
)  # fmt: skip
def test_a_segment_ends_at_the_quantile_that_separates_the_errors_best(share, side):
    x = torch.rand(1000, 2, generator=torch.Generator().manual_seed(5)).double()
    t = float(x[::2, 1].quantile(share))
    bad = x[:, 1] > t if side == "above" else x[:, 1] <= t
    (found,) = weak_segment_findings(x, bad.double())
    assert (found.values["column"], found.values["side"]) == (1, side)
    assert found.values["threshold"] == pytest.approx(t) and found.values["within"] == 1.0
    assert found.values["examples"] == int(bad[1::2].sum()) and found.values["tested"] == 500


@pytest.mark.parametrize(
    ("within", "outside", "found"), [(0.31, 0.1, True), (0.29, 0.1, False), (0.19, 0.0, False), (0.21, 0.0, True)]
)
def test_a_weak_segment_has_three_times_the_error_and_a_fifth_more(within, outside, found):
    """Errors are constant inside and outside, so that the z-score is large in any case."""
    x = torch.rand(1000, 1, generator=torch.Generator().manual_seed(6)).double()
    t = float(x[::2, 0].quantile(0.2))
    errors = torch.where(x[:, 0] <= t, within, outside).double()
    assert bool(weak_segment_findings(x, errors)) is found


@pytest.mark.parametrize(("noise", "found"), [(0.9e-2, False), (1.1e-2, True)])
def test_a_target_that_equals_an_input_up_to_a_ten_thousandth_is_a_copy(noise, found):
    x = normal(400, 2)
    y = x[:, :1] + noise * torch.where(torch.arange(400) % 2 == 0, 1.0, -1.0)[:, None] * x[:, :1].std(correction=0)
    assert bool(repeated_value_findings(x, y, torch.ones(400))) is found
