"""Margins and calibration against sums by hand."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.margins import Margins, calibration, margins
from tests.examination.steps.setting import answered


def test_bins_that_err_in_opposite_directions_do_not_cancel():
    """Ten bins of two: five too sure by 0.4, five too modest by 0.1; in the mean 0.25, with signs 0.15."""
    sure = torch.cat([torch.full((10,), 0.4), torch.full((10,), 0.9)]).double()
    correct = torch.cat([torch.zeros(10), torch.ones(10)]).bool()
    error, rows = calibration(sure, correct)
    assert error == pytest.approx(0.5 * 0.4 + 0.5 * 0.1)
    assert len(rows) == 10 and rows[0] == pytest.approx((0.4, 0.0)) and rows[-1] == pytest.approx((0.9, 1.0))


def test_bins_hold_neighbors_in_confidence_and_count_by_their_size():
    sure = torch.tensor([0.9, 0.5, 0.7]).double()  # three bins of one each, in the order of confidence
    error, rows = calibration(sure, torch.tensor([True, False, True]))
    assert [v for row in rows for v in row] == pytest.approx([0.5, 0.0, 0.7, 1.0, 0.9, 1.0])
    assert error == pytest.approx((0.5 + 0.3 + 0.1) / 3)
    uneven = torch.linspace(0.05, 0.95, 19).double()  # nine bins of two and one of one
    error, rows = calibration(uneven, torch.zeros(19).bool())
    assert len(rows) == 10 and error == pytest.approx(0.5)  # never right: the error is the mean confidence


def test_margins_are_negative_where_another_class_is_likelier():
    p = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]).double()
    assert margins(p, torch.tensor([0, 1])).tolist() == pytest.approx([0.5, -0.3])


def test_regression_explains_what_is_left_of_the_variance():
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    net = nn.Linear(1, 1)
    with torch.no_grad():
        net.weight.fill_(1.0)
        net.bias.fill_(0.5)
    found = answered(Margins, net, (x, torch.tensor([0.0, 1.0, 2.0, 5.0])))
    # residuals 1/2, 1/2, 1/2, -3/2: their mean square is 3/4; targets around 2: variance (4 + 1 + 0 + 9) / 4
    assert found.section.value("root mean square error").value == pytest.approx(0.75**0.5)
    assert found.facts["explained"] == pytest.approx(1 - 0.75 / 3.5)
    assert found.section.value("hardest examples").value.startswith("3")
