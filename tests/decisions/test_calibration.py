"""Calibration against sums by hand."""

from dataclasses import replace

import pytest
import torch

from gnomon.decisions.calibration import SIGNIFICANCE_LEVEL, calibration


def judged(sure, correct):
    """Two classes: the first has the confidence, and is the label where the decision is right."""
    p = torch.stack([sure, 1 - sure], 1)
    return calibration(p, (~correct).long())


def test_bins_that_err_in_opposite_directions_do_not_cancel():
    """Ten bins of two: five too sure by 0.6, five too modest by 0.1; in the mean 0.35, with signs 0.25."""
    sure = torch.cat([torch.full((10,), 0.6), torch.full((10,), 0.9)]).double()
    correct = torch.cat([torch.zeros(10), torch.ones(10)]).bool()
    result = judged(sure, correct)
    assert result.error == pytest.approx(0.5 * 0.6 + 0.5 * 0.1)
    assert len(result.bins) == 10
    assert result.bins[0] == pytest.approx((0.6, 0.0)) and result.bins[-1] == pytest.approx((0.9, 1.0))
    assert result.gap == pytest.approx(0.75 - 0.5) and "too sure" in result.verdict


def test_bins_hold_neighbors_in_confidence_and_count_by_their_size():
    sure = torch.tensor([0.9, 0.55, 0.7]).double()  # three bins of one each, in the order of confidence
    result = judged(sure, torch.tensor([True, False, True]))
    assert [v for row in result.bins for v in row] == pytest.approx([0.55, 0.0, 0.7, 1.0, 0.9, 1.0])
    assert result.error == pytest.approx((0.55 + 0.3 + 0.1) / 3)
    uneven = torch.linspace(0.55, 0.95, 19).double()  # nine bins of two and one of one
    result = judged(uneven, torch.zeros(19).bool())
    assert len(result.bins) == 10 and result.error == pytest.approx(0.75)  # never right: the mean confidence


@pytest.mark.parametrize("right, kinds", [(16, ["overconfident"]), (17, []), (19, [])])
def test_a_gap_of_more_than_five_points_is_a_note(right, kinds):
    result = judged(
        torch.full((2000,), 0.89).double(), torch.arange(2000) < 100 * right
    )  # 0.09, 0.04 and -0.06 too sure
    assert [finding.kind for finding in result.findings] == kinds
    assert all(finding.level.name == "NOTE" for finding in result.findings)
    word = {16: "too sure", 17: "well calibrated", 19: "less sure"}[right]
    assert word in result.verdict and len(result.plots()[0].marks[0].x) == 10


@pytest.mark.parametrize("n, tells", [(20, False), (2000, True)])
def test_few_examples_do_not_tell(n, tells):
    """A network that is too sure by nine points: within chance of 20 examples, beyond that of 2,000."""
    result = judged(torch.full((n,), 0.89).double(), torch.arange(n) < 0.8 * n)
    assert result.tells == tells and bool(result.findings) == tells
    assert ("too few examples" in result.verdict) != tells


def test_calibrated_networks_are_called_too_sure_as_rarely_as_the_level_says():
    """Five points are accepted, so that the rate is far below the level; without them it is the level."""
    g = torch.Generator().manual_seed(0)
    trials = [judged(torch.full((200,), 0.8).double(), torch.rand(200, generator=g) < 0.8) for _ in range(400)]
    beyond = sum(trial.gap > trial.margin for trial in trials)
    assert beyond <= 13  # of 400 at 1 %: 4 expected, 13 or fewer in 99.99 % of cases
    assert sum(bool(trial.findings) for trial in trials) <= beyond


def test_the_error_of_the_gap_is_the_deviation_of_a_mean():
    p = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2]]).double()
    found = calibration(p, torch.tensor([0, 1, 0, 0]))
    gaps = torch.tensor([-0.1, 0.6, -0.3, -0.2]).double()
    assert found.deviation == pytest.approx(float((gaps - gaps.mean()).square().mean()) ** 0.5 / 2)
    assert (found.level, SIGNIFICANCE_LEVEL, found.margin) == (
        0.01,
        0.01,
        pytest.approx(2.3263478740408408 * found.deviation),
    )


@pytest.mark.parametrize(("margin", "tells"), [(0.06, True), (0.099, True), (0.101, False)])
def test_examples_tell_if_chance_explains_at_most_ten_points(margin, tells):
    found = calibration(torch.tensor([[0.9, 0.1], [0.6, 0.4]]).double(), torch.tensor([0, 1]))
    assert replace(found, deviation=margin / 2.3263478740408408).tells == tells
