"""Distilled networks: which points are used, fidelity, and relative errors outside the data."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core import InputError
from gnomon.discovery import TermLibrary, TermSelection, distill_equation, extrapolation_gap
from gnomon.discovery.distillation import DistilledEquation, ExtrapolationGap, _columns, _fields
from gnomon.discovery.equation import Equation, Residuals


class Formula(nn.Module):
    def forward(self, x):
        return 2 * x[:, :1] * x[:, 1:] - 0.5 * x[:, 1:] + 0.2 * torch.sin(5 * x[:, :1])


def test_a_table_is_fitted_by_least_squares_and_fidelity_is_its_share_of_the_variance():
    x = torch.rand(150, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.5
    found = distill_equation(
        Formula(), TermLibrary(only=("x1*x2", "x2")), x, selection=TermSelection(draws=5, floor=1e-3)
    )
    a = np.stack([x[:, 0] * x[:, 1], x[:, 1]], 1)
    y = Formula()(x)[:, 0].numpy()
    weights, *_ = np.linalg.lstsq(a, y, rcond=None)
    assert found.equation.coefficients == pytest.approx(weights)
    assert found.fidelity == pytest.approx(1 - np.sum((y - a @ weights) ** 2) / np.sum((y - y.mean()) ** 2))
    with pytest.raises(InputError, match="3 outputs"):
        _columns(np.ones((4, 2)), np.ones((4, 3)))


def test_fields_leave_out_a_twentieth_and_at_least_four_points_at_each_end():
    for n, edge in ((60, 4), (99, 4), (100, 5), (200, 10)):
        data, target, keep = _fields(np.random.default_rng(0).standard_normal((3, n)), np.ones((3, n)), 0.2)
        assert target[keep].shape == (n - 2 * edge, 3) and data.steps == {"x": 0.2, "t": 1.0}


def test_terms_below_three_percent_are_errors_of_the_network():
    """A column of 5 % of the output is kept by the default floor, one of 1 % is not."""
    x = torch.rand(400, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    class Sum(nn.Module):
        def __init__(self, share):
            super().__init__()
            self.share = share

        def forward(self, x):
            return x[:, :1] + self.share * (x[:, 1:] - x[:, :1])

    terms = [distill_equation(Sum(s), TermLibrary(only=("x1", "x2")), x).equation.terms for s in (0.005, 0.2)]
    assert terms == [("x1",), ("x1", "x2")]


def test_a_fidelity_above_95_percent_counts_as_the_law():
    law = Equation("network", ("u",), (1.0,), (0.0,), {}, (), Residuals(0.0, 0.0, "", 0.0))
    assert (
        "up to its errors" in DistilledEquation(law, 0.951).verdict
        and "only in part" in DistilledEquation(law, 0.949).verdict
    )


def test_errors_inside_and_outside_are_relative_to_the_targets():
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 3.0, 6.0])
    gap = extrapolation_gap(lambda z: z, lambda z: 2 * z, (x, y), (10 * x, y))
    assert gap.model_inside == pytest.approx(np.sqrt(1 + 1 + 9) / 7)
    assert gap.model_outside == pytest.approx(np.sqrt(64 + 17**2 + 24**2) / 7)
    assert gap.law_inside == pytest.approx(1 / 7)
    assert gap.law_outside == pytest.approx(np.sqrt(18**2 + 37**2 + 54**2) / 7)
    assert gap.ratio == pytest.approx(gap.model_outside / gap.law_outside)
    assert ExtrapolationGap(0.1, 0.5, 0.1, 0.0).ratio == pytest.approx(0.5e300)
