"""Findings and premises of geometry on both sides of their thresholds."""

import pytest
import torch
from torch import nn

from gnomon.attribution.blocks import BlockAblation
from gnomon.decisions.calibration import Calibration
from gnomon.decisions.homogeneous import homogeneity_degree
from gnomon.robustness import preflight
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.threat import ThreatModel
from gnomon.robustness.inverse import InvertibilityCheck
from gnomon.robustness.jacobian import linear_map
from gnomon.robustness.preflight import check_gradients
from gnomon.robustness.robust import RobustAccuracy

BINS = ((0.5, 0.5),)


def robust(broken, n):
    threat = ThreatModel(0.1, "inf", 0.0, 1.0)
    return RobustAccuracy(
        torch.ones(n, dtype=torch.bool), torch.zeros(n, 1), 1.0, (("SquareAttack", broken),), threat, ()
    )


@pytest.mark.parametrize(
    ("healthy", "faulty"),
    [
        (Calibration(0.1, 0.549, 0.5, BINS), Calibration(0.1, 0.551, 0.5, BINS)),
        (Calibration(0.1, 0.65, 0.5, BINS, 0.065), Calibration(0.1, 0.65, 0.5, BINS, 0.064)),  # 2.326 deviations
        (robust(9, 200), robust(10, 200)),
        (robust(4, 50), robust(5, 50)),
        (BlockAblation({"1": 1.1e-6}), BlockAblation({"1": 0.9e-6})),
        (InvertibilityCheck(2, 2, 1.0, 0.0, 0.9e-3), InvertibilityCheck(2, 2, 1.0, 0.0, 1.1e-3)),
    ],
)
def test_findings_begin_at_their_thresholds(healthy, faulty):
    assert not healthy.findings and len(faulty.findings) == 1


def test_examples_suffice_where_twice_the_gap_would_be_seen():
    assert [Calibration(0.1, 0.5, 0.5, BINS, d).tells for d in (0.0429, 0.0431)] == [True, False]


class Foretold(torch.autograd.Function):
    """Changes by a share of what its gradient foretells."""

    @staticmethod
    def forward(ctx, x, share):
        return share * x

    @staticmethod
    def backward(ctx, g):
        return g, None


class Scores(nn.Module):
    """Scores (1, -1) that change with the first input by a share, and with each call by a drift."""

    def __init__(self, share=1.0, drift=0.0, flat=0):
        super().__init__()
        self.share, self.drift, self.flat, self.calls = share, drift, flat, 0

    def forward(self, x):
        self.calls += 1
        h = Foretold.apply(x[:, 0], self.share) * (x[:, 1] >= self.flat)
        return torch.stack([1 + h, -1 - h], 1) + self.drift * self.calls


def failed(module, x):
    return [
        p.statement for p in preflight(module, (x, torch.zeros(len(x), dtype=torch.long)), eps=0.1).failed_assumptions
    ]


def spread(width=1.0):
    return 0.5 + width * (torch.linspace(0, 1, 100, dtype=torch.float64)[:, None].expand(100, 2) - 0.5)


def test_premises_fail_at_their_thresholds():
    gradients, same = "gradients of the model predict how its scores change", "the same input gives the same scores"
    assert [gradients in failed(Scores(share), spread()) for share in (0.31, 0.29)] == [False, True]
    assert [gradients in failed(Scores(flat=at), spread()) for at in (0.015, 0.025)] == [False, True]  # 2 and 3 of 100
    assert [same in failed(Scores(drift=d), spread()) for d in (1.4e-3, 1.6e-3)] == [False, True]  # 1.5 on average
    assert ["inputs fill the bounds" in failed(Scores(), spread(w)) for w in (0.021, 0.019)] == [False, True]


def test_networks_count_as_homogeneous_and_as_straight_within_rounding():
    class Nearly(nn.Module):
        def __init__(self, off):
            super().__init__()
            self.w, self.off = nn.Parameter(torch.ones(3, 1).double()), off

        def forward(self, x):
            return x @ self.w + self.off * (x @ self.w) ** 2

    x = torch.eye(3).double()
    assert [homogeneity_degree(Nearly(off), x) for off in (0.8e-3, 1.3e-3)] == [1, None]
    linear_map(Nearly(0.8e-4), x)
    with pytest.raises(ValueError, match="a linear network"):
        linear_map(Nearly(1.3e-4), x)


def statements(module, x, y, **options):
    return [p.statement for p in preflight(module, (x, y), eps=0.1, **options).failed_assumptions]


def test_inputs_must_lie_within_the_bounds_on_both_sides():
    y = torch.zeros(100, dtype=torch.long)
    inside = "inputs lie within the bounds"
    for bounds, fails in (((0, 1), False), ((0, 0.9), True), ((0.1, 1), True), ((-3, 5), False)):
        assert (inside in statements(Scores(), spread(), y, bounds=bounds)) == fails


@pytest.mark.parametrize(
    ("right", "n", "fails"),
    [
        (5, 10, True),
        (6, 10, False),
        (10, 19, False),
        (12, 20, True),
        (16, 20, False),
        (55, 100, True),
        (65, 100, False),
    ],
)
def test_accuracy_must_be_above_chance_by_more_than_its_interval(right, n, fails):
    y = (torch.arange(n) >= right).long()
    x = torch.linspace(0, 1, n, dtype=torch.float64)[:, None].expand(n, 2)
    assert ("clean accuracy is above chance" in statements(Scores(), x, y)) == fails


class Mixed(nn.Module):
    """Scores that depend on the mean of the batch by a share."""

    def __init__(self, share):
        super().__init__()
        self.share = share

    def forward(self, x):
        h = x[:, 0] - self.share * x[:, 0].mean()
        return torch.stack([1 + h, -1 - h], 1)


def test_scores_must_not_depend_on_the_batch():
    y, batch = torch.zeros(100, dtype=torch.long), "scores do not depend on the other examples of a batch"
    assert [batch in statements(Mixed(share), spread(), y) for share in (0.0, 1e-4, 0.1)] == [False, False, True]


def test_the_step_that_checks_gradients_stays_within_the_bounds():
    seen = []

    class Seen(nn.Linear):
        def forward(self, x):
            seen.append((float(x.detach().min()), float(x.detach().max())))
            return super().forward(x)

    net = Seen(2, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0, -1.0], [0.0, 0.0]]))
    x, y = torch.tensor([[0.0, 1.0], [0.5, 0.5]]), torch.tensor([1, 0])
    for label in (y, 1 - y):
        with AttackedModel(net).attack_mode() as classifier:
            check_gradients(classifier, x, label, ThreatModel(0.5, "inf", 0.0, 1.0))
    assert min(low for low, _ in seen) >= 0.0 and max(high for _, high in seen) <= 1.0
