"""Shifts of inputs, targets and masks: shares, distances and z-scores by hand, and both sides of every threshold."""

from math import exp, sqrt

import pytest
import torch

from gnomon.checks.data import shift_description, shifted_masks
from gnomon.checks.data.changed_images import _difference as image_difference
from gnomon.checks.data.changed_images import changed_image_findings
from gnomon.checks.data.shift_description import class_cue_findings, describe_shift
from gnomon.checks.data.standardized_alone import standardized_alone_findings
from gnomon.checks.data.target_shift import _difference as distribution_difference
from gnomon.checks.data.target_shift import _far_outside, target_shift_findings
from gnomon.checks.data.train_only_features import train_only_feature_findings


def column(*values):
    return torch.tensor(values, dtype=torch.float64)


def waves(offsets):
    """Series 0, 1, 0, 1, ... of length 8, each raised by its offset: the contrast is 1 / 2 and the roughness 2."""
    return torch.tensor([0.0, 1.0] * 4, dtype=torch.float64) + torch.as_tensor(offsets).double()[:, None]


def test_statistics_of_one_series_by_hand():
    found = shift_description._of(torch.stack([waves([3.0])[0], 2 * waves([0.0])[0]]))
    assert found["mean value"].tolist() == [3.5, 1.0]
    assert found["standard deviation"].tolist() == [0.5, 1.0]
    assert found["roughness"].tolist() == pytest.approx([2.0, 2.0])


def test_separation_counts_pairs_and_ties_as_half():
    """Of the pairs of 0, 1, 2 with 1/2, 1: none, one and a half, and two are in this order."""
    assert shift_description._separation(column(0, 1, 2), column(0.5, 1)) == pytest.approx(3.5 / 6)
    assert shift_description._separation(column(0.5, 1), column(0, 1, 2)) == pytest.approx(3.5 / 6)
    assert shift_description._separation(column(0, 1), column(5, 4, 9)) == 1.0


def test_a_share_of_the_variance_is_corrected_for_chance():
    """Two classes at 1 and 11, each with deviations of 1: 4 / 2 within, 104 / 3 in all."""
    share = shift_description._share_between_classes(column(0, 2, 10, 12), torch.tensor([3, 3, 8, 8]))
    assert share == pytest.approx(1 - 2 / (104 / 3))
    assert shift_description._share_between_classes(column(0, 2, 0, 2), torch.tensor([3, 3, 8, 8])) == 0.0
    assert shift_description._share_between_classes(column(7, 7, 7, 7), torch.tensor([3, 3, 8, 8])) == 0.0


@pytest.mark.parametrize(("above", "name"), [(30, "mean value"), (29, None)])
def test_a_shift_is_named_if_three_quarters_of_the_pairs_are_in_order(above, name):
    found = describe_shift(waves([2.0] * above + [0.0] * (40 - above)), waves([1.0] * 40))
    assert (found and found.name) == name
    if found:
        assert (found.train, found.test) == (2 * 30 / 40 + 0.5, 1.5)


def test_both_sets_need_forty_series_of_length_eight():
    lower, higher = waves([0.0] * 40), waves([9.0] * 40)
    assert describe_shift(lower, higher) and not describe_shift(lower[:39], higher)
    assert not describe_shift(lower, higher[:39]) and not describe_shift(lower[:, :7], higher[:, :7])


@pytest.mark.parametrize(("apart", "found"), [(0.01, True), (-0.01, False)])
def test_a_cue_exceeds_chance_by_four_deviations(apart, found):
    """Classes explain 3 / 10 and four deviations, 2 x sqrt(2) / 99 for two classes and 100 examples in each set.

    With offsets c d + or - 1 for class c, classes explain 1 - (100 / 98) / ((100 + 25 d^2) / 99).
    """
    wanted = 0.3 + 4 * 2 * sqrt(2) / 99 + apart
    d = sqrt(((100 / 98) * 99 / (1 - wanted) - 100) / 25)
    y = torch.arange(100) % 2
    noise = 2.0 * (torch.arange(100) % 4 // 2) - 1
    cue, plain = waves(d * y + noise), waves(noise)
    rows = class_cue_findings(cue, y, plain, y)
    assert len(rows) == found
    if found:
        assert rows[0].values["name"] == "mean value" and rows[0].values["other"] == 0.0
        assert rows[0].values["own"] == pytest.approx(wanted) and rows[0].values["examples"] == 100


def test_the_distance_of_two_distributions_by_hand():
    """F_1 is 1 / 4, 1 / 2, 1 at 0, 1, 2 and F_2 is 0, 2 / 3, 1."""
    assert distribution_difference(column(2, 0, 2, 1), column(1, 2, 1)) == pytest.approx(1 / 4)
    assert distribution_difference(column(0, 0), column(1, 1)) == 1.0


@pytest.mark.parametrize(("moved", "columns", "found"), [(54, 1, True), (53, 1, False), (56, 3, True), (55, 3, False)])
def test_targets_are_shifted_beyond_a_distance_of_chance(moved, columns, found):
    """2 columns exp(-2 D^2 100) is below 1e-6 for 200 and 200 examples from D = 0.2693, and for 3 columns 0.2794."""
    y = torch.arange(200.0).double()
    test = torch.where(y < moved, y + 200, y)
    tables = [torch.stack([y] * (columns - 1) + [t], 1) for t in (y, test)]
    rows = target_shift_findings(*tables)
    assert len(rows) == found
    if found:
        distance, level = (value.value for value in rows[0].evidence)
        assert distance == pytest.approx(moved / 200)
        assert level == pytest.approx(2 * exp(-2 * (moved / 200) ** 2 * 100))
        told = rows[0].values
        assert (told["mean"], told["test_mean"], told["examples"]) == (99.5, 99.5 + moved, 200)
        assert told["deviation"] == pytest.approx(float(y.std())) and told["outside"] == moved / 200
        assert told["test_deviation"] == pytest.approx(float(test.std()))


@pytest.mark.parametrize(("moved", "found"), [(1990, False), (2010, True)])
def test_targets_of_many_examples_must_differ_by_a_tenth(moved, found):
    y = torch.arange(20_000.0)[:, None]
    assert len(target_shift_findings(y, torch.where(y < moved, y + 20_000, y))) == found


def test_targets_far_outside_are_beyond_the_range_by_its_width():
    inside = column(*range(11))
    assert _far_outside(column(-10, 20, 5, 5), inside) == 0.0
    assert _far_outside(column(-10.1, 20.1, 5, 5), inside) == 0.5
    assert _far_outside(column(0, 1), column(3, 3)) == 0.0


@pytest.mark.parametrize(("outside", "found"), [(1, False), (2, True)])
def test_two_percent_far_outside_matter(outside, found):
    y = torch.arange(100.0) % 10
    wrong = y.clone()
    wrong[:outside] = 1000.0
    rows = target_shift_findings(wrong, y)
    assert len(rows) == found and (not rows or rows[0].values["outside"] == 0.02)
    assert not target_shift_findings(wrong[:49], y[:49])


@pytest.mark.parametrize(
    ("n", "ones", "found"),
    [
        (200, (131, 69), True),  # z = 0.31 / 0.05
        (200, (129, 71), False),
        (2000, (1200, 780), True),  # a ratio of 1.54
        (2000, (1200, 820), False),  # of 1.46
        (2000, (340, 120), True),  # 0.17 and 0.06
        (2000, (300, 120), False),  # 0.15 and 0.06 differ by less than a tenth
    ],
)
def test_rates_of_labels_differ_in_z_in_ratio_and_by_a_tenth(n, ones, found):
    p, q = ((torch.arange(n) < k).double() for k in ones)
    same = (torch.arange(n) % 2).double()
    for one, other in ((p, q), (q, p)):
        rows = target_shift_findings(torch.stack([same, one], 1), torch.stack([same, other], 1))
        assert len(rows) == found
        if found:
            told, r = rows[0].values, sum(ones) / (2 * n)
            assert (told["labels"], told["total"], told["label"]) == (1, 2, 1)
            assert (told["rate"], told["test_rate"]) == (float(one.mean()), float(other.mean()))
            z = (told["rate"] - told["test_rate"]) / sqrt(r * (1 - r) * 2 / n)
            assert rows[0].evidence[0].value == pytest.approx(z)


def pictures(n, left, right):
    """Images of 2 x 2 pixels that alternate by 1 around a mean on the left and one on the right."""
    noise = 2.0 * (torch.arange(n) % 2) - 1
    return torch.tensor([[left, right], [left, right]]).double() + noise[:, None, None, None]


def test_the_difference_of_mean_images_by_hand():
    """Variances 30 / 29 and 40 / 39 and a difference of 1, next to pixels that are constant and do not count."""
    a, b = pictures(30, 1.0, 0.0), pictures(40, 2.0, 0.0)
    a[..., 1] = b[..., 1] = 7.0
    assert image_difference(a, b) == pytest.approx(sqrt(1 / (1 / 29 + 1 / 39)))
    a, b = pictures(30, 1.0, 0.0), pictures(40, 2.0, 2.0)
    assert image_difference(a, b) == pytest.approx(sqrt((1 + 4) / 2 / (1 / 29 + 1 / 39)))
    assert image_difference(a, b[..., :1]) == image_difference(0 * a, 0 * b) == 0.0


@pytest.mark.parametrize(
    ("apart", "left_over", "found"),
    [(1.32, 0.0, True), (1.30, 0.0, False), (3.0, 0.44, True), (3.0, 0.46, False)],
)
def test_a_change_is_named_if_images_differ_before_and_agree_after_it(apart, left_over, found):
    """The standard error is sqrt(2 / 29) = 0.2626: z = 5 is a difference of 1.313, and z = 1.7 one of 0.4464."""
    train, test = pictures(30, 0.0, apart), pictures(30, apart + left_over, left_over)
    rows = changed_image_findings(train, test)
    assert [row.values["change"] for row in rows] == ["mirrored"] * found
    assert not changed_image_findings(train[:29], test) and not changed_image_findings(train, test[:29])


@pytest.mark.parametrize(("off", "found"), [(0.9e-4, True), (1.1e-4, False)])
def test_own_statistics_are_exact_up_to_rounding(off, found):
    x = pictures(10, 0.0, 0.0).flatten(1)
    assert len(standardized_alone_findings(x + off)) == found
    assert len(standardized_alone_findings(x * (1 + off))) == found
    assert len(standardized_alone_findings(x * sqrt(9 / 10) * (1 + off))) == found  # n - 1 examples
    assert not standardized_alone_findings(x[:8]) and not standardized_alone_findings(x[:, :1])


def test_the_share_of_an_image_that_masks_explain_leaves_out_the_edge():
    """Inside the edge of six pixels are values 0, 2, 10, 12 in two classes: 4 of 104 are within the classes."""
    image, code = 99 * torch.rand(1, 14, 14).double(), torch.randint(2, (1, 14, 14))
    image[0, 6:8, 6:8] = column(0, 2, 10, 12).reshape(2, 2)
    code[0, 6:8, 6:8] = torch.tensor([[0, 0], [1, 1]])
    assert shifted_masks._share_between_classes(image, code, 3) == pytest.approx(1 - 4 / 104)


@pytest.mark.parametrize(("right", "found"), [(71, True), (69, False)])
def test_features_of_train_alone_must_beat_guessing_by_a_fifth(right, found):
    """A mark that tells the class in 71 or 69 of 100 cases; guessing is right in 50."""
    y = torch.arange(400) % 2
    told = torch.where(torch.arange(400) // 2 % 100 < right, y, 1 - y).double()
    x = torch.stack([told, torch.arange(400).double() % 7], 1)
    rows = train_only_feature_findings(x, y, x * column(0.0, 1.0))
    assert len(rows) == found
    if found:
        assert rows[0].values["accuracy"] == pytest.approx(0.71) and rows[0].values["guess"] == 0.5
        assert rows[0].evidence[0].value == pytest.approx(0.21 / sqrt(0.25 / 400))


@pytest.mark.parametrize(("spread", "found"), [(0.0099, True), (0.0101, False)])
def test_a_feature_counts_as_constant_below_a_hundredth_of_its_spread(spread, found):
    y = torch.arange(100) % 2
    x = torch.stack([y.double(), torch.arange(100).double() % 7], 1)
    assert len(train_only_feature_findings(x, y, x * column(spread, 1.0))) == found
