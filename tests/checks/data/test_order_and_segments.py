"""Order of rows, weak segments, augmentation, repeated values, numbers of classes: planted, and healthy data."""

from math import sqrt

import pytest
import torch

from gnomon.checks.data.augmented_inputs import augmented_input_findings
from gnomon.checks.data.relabeled import relabeled_class_findings
from gnomon.checks.data.repeated_value import repeated_value_findings
from gnomon.checks.data.row_order import _correlation, row_order_findings
from gnomon.checks.data.weak_segments import _z, weak_segment_findings


def generator(seed):
    return torch.Generator().manual_seed(seed)


def kinds(findings):
    return [(finding.kind, finding.level.name) for finding in findings]


@pytest.mark.parametrize("block", range(20))
def test_shuffled_rows_raise_no_alarm(block):
    for seed in range(20 * block, 20 * block + 20):
        g = generator(seed)
        x = torch.randn(60 + seed % 200, 5, generator=g)
        y = (x[:, 0] > 1).long() if seed % 2 else x[:, :1]
        assert row_order_findings(x, y, in_order=False) == ()


def test_rows_sorted_by_class_are_a_problem_only_for_a_loader():
    x, y = torch.rand(90, 2, generator=generator(0)), torch.arange(90) // 30
    assert kinds(row_order_findings(x, y, in_order=True)) == [("row-order", "PROBLEM")]
    assert kinds(row_order_findings(x, y, in_order=False)) == [("row-order", "NOTE")]


@pytest.mark.parametrize("pairs, found", [(8, True), (10, False)])
def test_nine_of_ten_neighbors_share_the_class_in_sorted_rows(pairs, found):
    y = torch.arange(100) // 50
    for i in range(0, pairs // 2):  # each isolated row breaks two of 99 pairs of neighbors, the border one
        y[5 + 6 * i] = 1 - y[5 + 6 * i]
    assert bool(row_order_findings(torch.rand(100, 1, generator=generator(0)), y, in_order=True)) is found


def test_one_class_has_no_order():
    assert row_order_findings(torch.rand(100, 1, generator=generator(0)), torch.zeros(100).long(), in_order=True) == ()


@pytest.mark.parametrize("noise, found", [(0.4, True), (0.9, False)])
def test_a_column_drifts_from_a_correlation_of_one_half(noise, found):
    x = torch.linspace(0, 1, 400)[:, None] + noise * torch.randn(400, 1, generator=generator(0))
    y = torch.randn(400, 1, generator=generator(1))
    assert (abs(_correlation(x[:, 0].double())) > 0.5) is found
    assert bool(row_order_findings(x, y, in_order=False)) is found


def test_the_rank_correlation_is_that_of_scipy():
    from scipy.stats import spearmanr

    x = torch.randint(0, 20, (200,), generator=generator(2)).double() + torch.arange(200) / 20
    assert _correlation(x) == pytest.approx(spearmanr(x.numpy(), range(200)).statistic, abs=1e-12)


@pytest.mark.parametrize("block", range(20))
def test_errors_without_a_pattern_have_no_weak_segment(block):
    for seed in range(20 * block, 20 * block + 20):
        g = generator(seed)
        x = torch.randn(300, 6, generator=g)
        errors = (torch.rand(300, generator=g) < 0.15).double() if seed % 2 else torch.randn(300, generator=g).square()
        assert weak_segment_findings(x, errors.double()) == ()


@pytest.mark.parametrize("high, found", [(0.15, False), (0.8, True)])
def test_a_weak_segment_is_found_on_one_half_and_confirmed_on_the_other(high, found):
    g = generator(3)
    x = torch.rand(1000, 4, generator=g)
    wrong = (torch.rand(1000, generator=g) < torch.where(x[:, 1] <= 0.2, high, 0.1)).double()
    result = weak_segment_findings(x, wrong, names=("a", "age", "b", "c"))
    assert bool(result) is found
    if found:
        assert result[0].values["column"] == "age" and result[0].values["side"] == "at most"
        assert result[0].values["within"] == pytest.approx(high, abs=0.1)


def test_errors_of_the_first_half_alone_are_not_confirmed():
    x = torch.rand(1000, 1, generator=generator(4))
    wrong = torch.zeros(1000).double()
    wrong[::2] = (x[::2, 0] > 0.8).double()
    assert weak_segment_findings(x, wrong) == ()


@pytest.mark.parametrize("n, found", [(198, False), (200, True)])
def test_a_weak_segment_needs_two_hundred_examples(n, found):
    x = torch.linspace(0, 1, n)[torch.randperm(n, generator=generator(5))][:, None]
    assert bool(weak_segment_findings(x, (x[:, 0] > 0.7).double())) is found


def test_the_z_score_is_that_of_two_means():
    errors = torch.rand(100, generator=generator(6)).double()
    inside = torch.arange(100) < 30
    a, b = errors[inside], errors[~inside]
    expected = float(a.mean() - b.mean()) / sqrt(float(a.var()) / 30 + float(b.var()) / 70)
    assert _z(errors, inside) == pytest.approx(expected, rel=2e-3)  # the variance is raised by a thousandth
    assert _z(errors, torch.arange(100) < 9) is None and _z(errors, torch.arange(100) < 51) is None


def clusters(seed=0, n=400):
    y = torch.arange(n) % 4
    return 2 * torch.eye(4)[y] + 0.3 * torch.randn(n, 4, generator=generator(seed)), y


@pytest.mark.parametrize("factor, found", [(1.9, False), (2.1, True), (0.52, False), (0.48, True)])
def test_an_augmentation_may_double_the_spread(factor, found):
    x, y = clusters()
    x = x - x.mean()
    assert (
        "augmentation-normalizes" in [kind for kind, _ in kinds(augmented_input_findings(x, factor * x, y))]
    ) is found


@pytest.mark.parametrize("shift, found", [(0.9, False), (1.1, True)])
def test_an_augmentation_may_shift_the_mean_by_one_deviation(shift, found):
    x, y = clusters()
    assert bool(augmented_input_findings(x, x + shift * x.std(), y)) is found


@pytest.mark.parametrize("seed", range(20))
def test_usual_augmentation_keeps_what_decides_the_target(seed):
    x, y = clusters(seed)
    noise = 0.3 * torch.randn(x.shape, generator=generator(seed + 1))
    assert augmented_input_findings(x, x + noise, y) == ()


def test_examples_mixed_with_others_lose_what_decides_the_target():
    x, y = clusters()
    others = x[torch.randperm(len(x), generator=generator(1))]
    assert kinds(augmented_input_findings(x, 0.1 * x + 0.9 * others, y)) == [("augmentation-destroys", "PROBLEM")]


def test_an_augmentation_of_inputs_that_say_nothing_is_not_judged():
    x, y = torch.randn(400, 4, generator=generator(0)), torch.arange(400) % 4
    assert augmented_input_findings(x, x[torch.randperm(400, generator=generator(1))], y) == ()


def walks(n=300):
    walk = torch.randn(n, 9, generator=generator(7)).cumsum(1)
    return walk[:, :-1, None], walk[:, -1:]


@pytest.mark.parametrize("ratio, found", [(0.89, False), (0.91, True)])
def test_a_forecast_must_beat_repeating_the_last_value(ratio, found):
    x, y = walks()
    errors = ratio * (y - x[:, -1]).square().mean(1) / y.var(correction=0)
    result = repeated_value_findings(x, y, errors)
    assert bool(result) is found
    if found:
        assert result[0].values["place"] == "7, 0"
        assert result[0].values["copy"] == pytest.approx(1 - float(errors.mean()) / ratio, abs=1e-6)


@pytest.mark.parametrize("noise, found", [(0.8, True), (1.1, False)])
def test_an_input_that_explains_less_than_half_is_no_forecast(noise, found):
    x = torch.randn(300, 2, generator=generator(8))
    y = x[:, :1] + noise * torch.randn(300, 1, generator=generator(9))
    assert bool(repeated_value_findings(x, y, torch.ones(300))) is found


def test_an_exact_copy_and_several_targets_are_not_forecasts():
    x = torch.randn(300, 2, generator=generator(8))
    assert repeated_value_findings(x, x[:, :1], torch.ones(300)) == ()
    assert repeated_value_findings(x, x + 0.1, torch.ones(300)) == ()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(60))
def test_classes_of_healthy_data_are_not_called_renumbered(seed):
    """Two to seven classes, from hardly different to far apart."""
    g, classes = torch.Generator().manual_seed(seed), 2 + seed % 6
    centers = torch.randn(classes, 8, generator=g) * (0.5 + seed % 4)
    y, y_test = (torch.randint(classes, (n,), generator=g) for n in (600, 300))
    x, x_test = (centers[labels] + torch.randn(len(labels), 8, generator=g) for labels in (y, y_test))
    assert "classes-renumbered" not in [f.kind for f in relabeled_class_findings(x, y, x_test, y_test)]


def test_renumbered_classes_are_told_from_wrong_labels():
    x, y = clusters(n=800)
    other = torch.tensor([0, 2, 3, 1])
    (found,) = relabeled_class_findings(x[:500], y[:500], x[500:], other[y[500:]])
    assert found.kind == "classes-renumbered" and found.values["count"] == 3
    assert found.values["pairs"].startswith("3 in train is 1 in test")
    assert relabeled_class_findings(x[:500], y[:500], x[500:], y[500:]) == ()
    merged = torch.tensor([0, 2, 2, 3])
    assert [f.kind for f in relabeled_class_findings(x[:500], merged[y[:500]], x[500:], y[500:])] == ["relabeled-class"]
