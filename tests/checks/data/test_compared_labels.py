"""Labels of train beside those of test: wrong and misplaced ones are told of, sets that are drawn alike are not accused."""

from math import erfc, log, sqrt

import pytest
import torch

from gnomon.checks.data.compared_labels import SIGNIFICANCE_LEVEL, LabelComparison, compare_labels
from gnomon.checks.data.kernel_votes import leave_one_out_kernel_predictions
from gnomon.data import digits

SPLIT = digits(1200, 500)


def table(seed, n=900, m=400, apart=2.5, classes=3):
    """Classes that overlap a little: a tenth of the examples is on the wrong side."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n + m,), generator=g)
    x = torch.randn(n + m, 4, generator=g) + apart * torch.nn.functional.one_hot(y, 4)
    return x[:n], y[:n], x[n:], y[n:]


def kinds(told):
    return [finding.kind for finding in told.findings]


def test_labels_that_are_wrong_in_train_alone_are_told_of():
    x, y, x_test, y_test = table(0)
    wrong = torch.where(torch.arange(len(y)) % 5 == 0, (y + 1) % 3, y)
    told = compare_labels(x, wrong, x_test, y_test)
    assert kinds(told) == ["noisy-labels"] and told.difference == pytest.approx(0.17, abs=0.06)
    assert kinds(compare_labels(x, y, x_test, y_test)) == []


def test_one_class_that_is_taken_for_another_is_named():
    """With eighty test examples of the class; with fifty, a third of such cases is missed."""
    x, y = torch.cat([SPLIT.x, SPLIT.x_test]), torch.cat([SPLIT.y, SPLIT.y_test])
    hit = (y == 7) & (torch.rand(len(y), generator=torch.Generator().manual_seed(0)) < 0.35)
    told = compare_labels(x[:900], torch.where(hit, 1, y)[:900], x[900:], y[900:])
    assert kinds(told) == ["noisy-labels"] and told.worst == 1 and "label 1" in told.findings[0].message
    assert kinds(compare_labels(x[:900], y[:900], x[900:], y[900:])) == []


def test_targets_out_of_order_in_train_are_told_by_test():
    x, y, x_test, y_test = table(1)
    assert kinds(compare_labels(x, y.roll(7), x_test, y_test)) == ["labels-unrelated"]
    numbers, held = x[:, :2] @ torch.ones(2), x_test[:, :2] @ torch.ones(2)
    assert kinds(compare_labels(x, numbers.roll(7), x_test, held)) == ["labels-unrelated"]
    assert kinds(compare_labels(x, numbers, x_test, held)) == []
    assert kinds(compare_labels(x, y.roll(7), x_test, y_test.roll(7))) == []  # in neither: nobody can tell by this


def test_other_shares_of_classes_are_no_wrong_labels():
    """Of an easy and two hard classes train has mostly the hard ones: accuracy differs, and by class it does not."""
    g = torch.Generator().manual_seed(2)
    y = torch.randint(0, 3, (3000,), generator=g)
    x = torch.randn(3000, 3, generator=g)
    x[:, 0] += 9.0 * (y == 0)
    x[:, 1] += 0.8 * (y == 2)
    rare = (y != 0) | (torch.arange(3000) % 6 == 0)
    x_train, y_train = x[:1500][rare[:1500]], y[:1500][rare[:1500]]
    common = (y == 0) | (torch.arange(3000) % 3 == 0)
    told = compare_labels(x_train, y_train, x[1500:][common[1500:]], y[1500:][common[1500:]])
    assert kinds(told) == [] and abs(told.z) < 3


def test_sets_that_are_drawn_alike_are_not_accused():
    told = [compare_labels(*table(seed, 300, 150, apart=1.5), seed=seed) for seed in range(12)]
    assert [kinds(one) for one in told] == [[]] * 12
    assert max(abs(one.z) for one in told) < 3.5  # of twelve, with probability 0.994
    assert abs(sum(one.z for one in told)) / sqrt(12) < 3


def test_the_numbers_of_a_class_by_hand():
    """18 of 20 against 10 of 20, by the likelihood ratio of two coins."""
    from gnomon.checks.data.compared_labels import _by_class

    right = torch.cat([torch.ones(10), torch.zeros(10), torch.ones(18), torch.zeros(2)]).double()
    difference, _, worst, apart, z, classes = _by_class(right, torch.zeros(40).long(), 20)
    ratio = 10 * log(0.5 / 0.7) + 10 * log(0.5 / 0.3) + 18 * log(0.9 / 0.7) + 2 * log(0.1 / 0.3)
    assert (difference, worst, classes) == (pytest.approx(0.4), 0, 1) and apart == pytest.approx(0.4)
    assert z == pytest.approx(sqrt(2 * ratio))
    edge = LabelComparison(difference=0.2, z=3.6, examples=100)
    assert (
        edge.noisier
        and 0.5 * erfc(3.6 / sqrt(2)) < SIGNIFICANCE_LEVEL
        and not LabelComparison(difference=0.2, z=3.4).noisier
    )


def test_votes_on_rows_that_are_not_fitted_do_not_hear_their_own_targets():
    x = torch.randn(90, 2, generator=torch.Generator().manual_seed(0))
    y = (x[:, :1] > 0).double()
    votes = leave_one_out_kernel_predictions(x, y, max_fitted=60, examples_per_fit=30)
    other = leave_one_out_kernel_predictions(x, torch.cat([y[:60], 1 - y[60:]]), max_fitted=60, examples_per_fit=30)
    assert torch.equal(votes, other) and float(((votes > 0.5).double() == y).double()[60:].mean()) > 0.85
