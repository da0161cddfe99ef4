"""Values, evidence and false-alarm rates that findings state, written out by hand."""

from dataclasses import replace
from math import nan, sqrt

import pytest
import torch
from scipy.stats import fisher_exact, norm
from torch import nn

from gnomon.checks import find_explosion, gradient_check
from gnomon.checks.data.compared_labels import LabelComparison, compare_labels
from gnomon.checks.data.leaks import DataLeaks, fisher_p_value
from gnomon.checks.data.suspects import SuspectLabels
from gnomon.checks.data.targets import class_findings, regression_target_findings
from gnomon.checks.network.applied import _cancels
from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.core.results import Interval
from gnomon.findings import network as rows_of
from gnomon.training import SGD

PLAIN = LayerSignal("0", "Linear", "nonzero", 8, 8, ForwardStatistics(1.0, 0.0, 0.0), BackwardStatistics(1.0, 1.0))


def numbers(finding):
    """The evidence of a finding that is a number."""
    return [value.value for value in finding.evidence if not isinstance(value.value, str)]


def test_input_scale_states_the_root_of_the_mean_square():
    (finding,) = signal_findings((PLAIN,), input_mean_square=1e6)
    assert finding.values["size"] == pytest.approx(1000)
    assert numbers(finding) == [1e6]


@pytest.mark.parametrize(
    ("units", "dead", "accepted"), [(8, 0.96, 0.9), (64, 0.8, 0.75), (256, 0.64, 0.625), (10_000, 0.53, 0.52)]
)
def test_dead_units_are_accepted_up_to_four_deviations_of_similar_inputs(units, dead, accepted):
    similar = replace(PLAIN, units=units, forward=ForwardStatistics(1.0, 0.99, dead))
    (finding,) = signal_findings((similar,))
    assert numbers(finding) == [dead, pytest.approx(accepted)]
    assert finding.values["share"] == dead
    assert not signal_findings((replace(similar, forward=ForwardStatistics(1.0, 0.99, accepted - 0.005)),))


def test_a_narrow_layer_states_the_share_of_the_signal():
    before = replace(PLAIN, backward=BackwardStatistics(1e-3, 1.0), forward=ForwardStatistics(4.0, 0.0, 0.0))
    narrow = replace(PLAIN, name="1", forward=ForwardStatistics(1e-5, 0.0, 0.0), size=1000)
    (finding,) = signal_findings((before, narrow, replace(PLAIN, name="2")))
    assert finding.values["share"] == pytest.approx(2.5e-6)
    assert numbers(finding) == [pytest.approx(2.5e-6), pytest.approx(1e-4)]


def test_merged_inputs_name_the_first_layer_and_state_the_last_correlation():
    for first, last, row in ((0.89, 1 - 0.9e-4, "SIMILAR"), (0.1, 1 - 0.9e-6, "MERGED"), (0.1, 1 - 1.1e-6, "SIMILAR")):
        correlations = (first, 1 - 1.1e-4, 1 - 0.95e-4, last)
        layers = [
            replace(PLAIN, name=str(i), forward=ForwardStatistics(1.0, c, 0.0)) for i, c in enumerate(correlations)
        ]
        (finding,) = signal_findings((*layers, replace(PLAIN, name="last")))
        assert finding.row is getattr(rows_of, f"{row}_INPUTS")
        assert finding.where == "2" and finding.values["correlation"] == last
        assert numbers(finding) == [last, 1 - 1e-4]
        assert not signal_findings((replace(layers[0], forward=ForwardStatistics(1.0, 0.91, 0.0)), *layers[1:], PLAIN))


def test_noisy_labels_state_their_rate_and_false_alarms():
    noisy = SuspectLabels(
        tuple(range(2000)), torch.zeros(2000), torch.zeros(2000), 0.08, Interval(0.05, 0.12, 0.998), 0.9, 0.5, 1.0
    )
    (finding,) = noisy.findings
    assert finding.false_alarm == pytest.approx(2e-3)
    assert finding.values == {"share": 0.08, "first": "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"}
    assert numbers(finding) == [0.08]


def test_classes_of_three_or_more_are_off_by_one_only_if_the_first_alone_is_missing():
    (finding,) = class_findings(torch.tensor([1, 2, 3]), 4)
    assert (finding.kind, finding.values["last"]) == ("labels-off-by-one", 3)
    assert not class_findings(torch.tensor([2, 3]), 4)  # the first two are missing
    assert not class_findings(torch.tensor([1, 1]), 2)
    (finding,) = class_findings(torch.tensor([1, 2, 3]), 4, torch.tensor([0, 1, 1, 2]))
    assert (finding.kind, finding.values) == ("class-missing", {"first": 0, "share": 0.25})


def test_imbalance_states_the_share_of_the_largest_class_and_the_ratio():
    labels = torch.tensor([0] * 40 + [1] * 2 + [2] * 8)
    (finding,) = class_findings(labels, 3)
    assert finding.values == {"largest": pytest.approx(0.8), "ratio": 20.0}
    assert not class_findings(labels[1:], 3)  # 39 to 2
    two = torch.tensor([0] * 88 + [1] * 12)  # three quarters of the way from one half to one are 0.875
    assert class_findings(two, 2)[0].values["largest"] == pytest.approx(0.88)
    assert not class_findings(two[5:], 2)


def test_the_scale_of_targets_states_center_spread_and_first_loss():
    y = torch.tensor([[98.0, 2.0], [102.0, 4.0]])  # variances 4 and 1, means 100 and 3
    (finding,) = regression_target_findings(y)
    size, center = sqrt(2.5), sqrt((100**2 + 3**2) / 2)
    start = ((98**2 + 102**2 + 2**2 + 4**2) / 4 + 1) / 2.5
    expected = {"center": pytest.approx(center), "size": pytest.approx(size), "start": pytest.approx(start)}
    assert finding.values == expected
    (finding,) = regression_target_findings(torch.full((3,), -7.0))
    assert (finding.kind, finding.values["center"]) == ("constant-targets", -7.0)
    assert not regression_target_findings(torch.tensor([-7.0]))


@pytest.mark.parametrize(("y", "found"), [(10.5, True), (9.5, False), (-10.5, True), (-9.5, False)])
def test_the_mean_of_targets_may_be_ten_spreads_from_zero(y, found):
    assert bool(regression_target_findings(torch.tensor([y - 1.0, y + 1.0]))) == found


def test_labels_unrelated_in_train_alone_state_both_scores():
    record = LabelComparison(-0.01, 0.02, 0.6, 0.03, examples=500)
    (finding,) = record.findings
    assert finding.values == {"train": 0.0, "test": 0.6}
    assert numbers(finding) == [-0.01, 0.6]
    assert finding.false_alarm == 1e-5
    assert not replace(record, train=0.061).findings  # more than three deviations better than a guess
    assert not replace(record, within=0.149).findings  # less than five deviations
    assert not replace(record, within=0.099, chance_test=0.01).findings  # less than a tenth explained


def test_labels_noisier_in_train_state_the_difference_and_twice_the_level():
    z = float(norm.isf(2.5e-4))
    record = LabelComparison(0.5, 0.01, None, 1.0, 0.06, z + 0.01, 2, 0.2, 0.0, 10, 500)
    (finding,) = record.findings
    assert finding.values == {"share": 0.06, "which": ""}
    assert numbers(finding) == [0.06, z + 0.01]
    assert finding.false_alarm == 5e-4
    assert not replace(record, z=z - 0.01).findings
    assert not replace(record, difference=0.049).findings
    by_class = replace(record, z=0.0, worst_z=float(norm.isf(2.5e-5)) + 0.01)  # the level is shared by ten classes
    (finding,) = by_class.findings
    assert finding.values == {"share": 0.2, "which": " with label 2"}
    assert numbers(finding) == [0.2, by_class.worst_z]
    assert not replace(by_class, worst_z=float(norm.isf(2.5e-5)) - 0.01).findings
    assert not replace(by_class, worst_difference=0.09).findings


def test_a_leak_states_its_share_and_twice_the_level():
    record = DataLeaks(3, 2, 50, 0.1, 1e-6, 1.0, False, ((0, 4), (1, 5), (2, 6), (7, 8), (9, 9)))
    (finding,) = record.findings
    assert finding.values == {"share": 0.1, "test": 50, "exact": 3, "near": 2}
    assert finding.false_alarm == 2e-4
    assert numbers(finding) == [3, 2]


@pytest.mark.parametrize("counts", [(0, 5, 3, 7), (2, 4, 1, 9), (4, 4, 0, 2), (0, 3, 0, 3)])
def test_fishers_p_value_is_that_of_scipy_and_at_most_one(counts):
    c, m, c0, n = counts
    exact = fisher_exact([[c, m - c], [c0, n - c0]], alternative="greater").pvalue
    assert fisher_p_value(*counts) == pytest.approx(exact, rel=1e-9)
    assert fisher_p_value(*counts) <= 1.0


def test_every_p_value_of_fisher_is_at_most_one():
    """All ways together sum to one up to rounding, on either side of one."""
    assert all(fisher_p_value(0, m, c0, n) <= 1.0 for m in range(1, 40, 3) for n in (7, 31) for c0 in range(0, 7, 2))


def test_the_search_for_an_explosion_asks_for_the_time_after_its_first_step():
    asked = []

    def late():
        asked.append(True)
        return len(asked) == 2

    x, steps = torch.ones(4, 1), []

    def loss(f, y):
        steps.append(True)
        return f.mean()

    found = find_explosion(nn.Linear(1, 1), (x, x), loss=loss, optimizer=SGD(0.1), steps=9, late=late)
    assert (found.step, len(asked), len(steps)) == (0, 2, 2)  # before the second step, and instead of the third


def test_an_explosion_states_step_growth_and_learning_rate():
    """Outputs of a weight w under the loss -f^2 / 2 grow by 1 + lr in each step."""
    net = nn.Linear(1, 1, bias=False)
    nn.init.ones_(net.weight)
    loss = lambda f, y: -f.square().mean() / 2  # noqa: E731
    found = find_explosion(net, (torch.ones(4, 1), torch.ones(4)), loss=loss, optimizer=SGD(9.0), steps=9)
    assert (found.step, found.layer, found.lr) == (5, "", 9.0)  # 10^4 is the first power above a thousand
    assert found.growth == pytest.approx(1e4)
    (finding,) = found.findings
    assert (finding.values["step"], finding.values["lr"], finding.false_alarm) == (5, 9.0, 0.0)


def test_the_rounding_of_a_gradient_check_is_that_of_the_size_of_the_loss():
    """A loss near -1e6 with slope 0.005 is rounded as much as one near 1e6."""

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([0.5]))

        def forward(self, x):
            return -1e6 + 0.005 * (self.w - self.w.detach()) * torch.ones_like(x)

    found = gradient_check(Constant(), (torch.ones(3, 1), torch.zeros(3)), loss=lambda f, y: f.mean())
    assert found.errors["w"] == 0.0


def test_a_shift_that_a_loss_must_cancel_has_the_size_of_the_outputs_and_a_tenth():
    f, y = torch.tensor([[3.0, -1.0]]), torch.tensor([0])
    shifts = []

    def loss(outputs, labels):
        shifts.append(outputs - f)
        return outputs.sum() * nan

    _cancels(loss, f, y, 1)
    g = torch.Generator().manual_seed(0)
    size = sqrt(8) + 0.1  # of two numbers that are 4 apart
    torch.testing.assert_close(shifts[1], (size * torch.randn(1, 1, generator=g)).expand(1, 2))
    torch.testing.assert_close(shifts[2], size * torch.randn(1, 2, generator=g))


def test_labels_of_other_shapes_are_not_compared():
    x, y = torch.randn(300, 2), torch.randn(300)
    assert compare_labels(x, y, x, torch.randn(300, 2)).examples == 0
    assert compare_labels(x, y, x, y).examples == 300
