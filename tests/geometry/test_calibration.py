"""Calibration against sums by hand."""

import pytest
import torch

from gnomon.geometry.calibration import calibration


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
    result = judged(torch.full((20,), 0.89).double(), torch.arange(20) < right)  # 0.09, 0.04 and -0.06 too sure
    assert [finding.kind for finding in result.findings] == kinds
    assert all(finding.level.name == "NOTE" for finding in result.findings)
    word = {16: "too sure", 17: "well calibrated", 19: "less sure"}[right]
    assert word in result.verdict and len(result.plots()[0].marks[0].x) == 10
