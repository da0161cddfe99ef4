"""Numbers that steps compute themselves: scores, thresholds and numbers of examples, written out by hand."""

from math import inf, sqrt
from statistics import NormalDist
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Value
from gnomon.examination.cost import StepCost
from gnomon.examination.step import StepContext
from gnomon.examination.steps import kernel_size, limit, outcome
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.kernel import _ease
from gnomon.examination.steps.kernel_size import KernelMethod
from gnomon.examination.subject import build_subject
from gnomon.kernels import Limit
from gnomon.linalg.label_test import LabelTest

X = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0], [3.0, -1.0], [0.5, 0.5], [-2.0, 0.0]])


def linear(weights):
    """A linear network without bias."""
    net = nn.Linear(len(weights[0]), len(weights), bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor(weights))
    return net


def within(seconds):
    """A context with this many seconds on a clock that stands still."""
    return StepContext(0, seconds, False, FakeClock(0.0))


def test_squared_errors_are_divided_by_the_variance_of_all_outputs():
    y = torch.tensor([[1.0, 2.0], [3.0, 0.0], [2.0, -2.0], [0.0, 1.0], [5.0, 1.0], [1.0, 4.0]])
    net = linear([[1.0, -1.0], [0.5, 2.0]])
    of = build_subject(net, (X, y), None, optimizer=None, seed=0)
    found = outcome._errors(of, net, torch.clone, of.train, 6, 0)
    expected = (X @ net.weight.detach().T - y).double().square().sum(1)
    spread = float(((y - y.mean(0)) ** 2).double().mean(0).sum())
    assert sorted(found.tolist()) == pytest.approx(sorted((expected / spread).tolist()), rel=1e-5)


def test_right_examples_are_counted_and_reweighted_to_the_classes_of_train():
    y = torch.tensor([0, 1, 1, 0, 1, 0])
    net = linear([[1.0, 0.0], [0.0, 1.0]])
    of = build_subject(net, (X, y), None, optimizer=None, seed=0)
    right, labels = outcome._right(of, net, of.train, 6, 0)
    assert int(right.sum()) == 4 and len(labels) == 6  # the fifth is a tie, which goes to class 0; the last is wrong
    hits, seen = torch.tensor([1.0, 0.0, 1.0, 1.0]).double(), torch.tensor([0, 0, 1, 1])
    assert outcome._alike(hits, seen, torch.tensor([0, 0, 0, 1])) == pytest.approx(0.75 * 0.5 + 0.25 * 1.0)
    assert outcome._alike(hits, seen, torch.tensor([0, 0, 2, 2])) == pytest.approx(
        0.5
    )  # without class 1: its share is 0
    assert outcome._alike(hits, seen, torch.tensor([2, 2])) is None
    assert outcome._alike(hits, seen, None) is None


@pytest.mark.parametrize(("simple", "possible"), [(0.63, True), (0.61, False)])
def test_a_simple_model_is_mentioned_if_it_leads_by_two_points(simple, possible):
    values = [Value("train", 0.9, id="accuracy-on-train"), Value("test", 0.6, id="accuracy-on-test")]
    said = outcome._good((*values, Value("simple", simple, id="simple-accuracy")), "examples")
    assert ("so more is possible" in said) == possible
    assert "90.0% of the training examples and 60.0% of the test examples" in said


@pytest.mark.parametrize(("deviations", "related"), [(3.4, False), (3.6, True)])
def test_labels_are_related_three_and_a_half_deviations_above_a_guess(deviations, related):
    deviation = sqrt(0.3 * 0.7 / 400)
    assert DataChecks(0.3, 0.3 + deviations * deviation, 400).related == related
    assert not DataChecks(0.3, 0.9, 0).related


@pytest.mark.parametrize(("modes", "words"), [(25, "easy"), (26, "moderately hard"), (50, "moderately"), (51, "hard")])
def test_labels_are_easy_in_a_quarter_of_the_modes_and_hard_beyond_half(modes, words):
    said = _ease(modes, 100, LabelTest(0.1, 0.5, torch.zeros(4).double()), "labels")
    assert f"labels are {words} for this network" in said.split(":")[0] or words == "moderately"
    assert ("moderately" in said) == (25 < modes <= 50)
    assert "about 90)" in said


@pytest.mark.parametrize(("wide", "n", "found"), [(0.821, 10**6, True), (0.819, 10**6, False), (0.5, 100, False)])
def test_a_network_is_below_its_limit_by_two_points_and_by_more_than_chance(wide, n, found):
    run = SimpleNamespace(test_accuracy=[0.1, 0.8 if n > 100 else 0.4], shortage="")
    below = limit.below_limit_findings
    assert bool(below(run, wide, n, hidden=True)) == found
    if n == 100:  # 0.4 and 0.5 differ by less than the chance of two shares of 100
        chance = NormalDist().inv_cdf(1 - limit.significance_level("below-limit")) * sqrt(2 * 0.25 / 100)
        assert 0.1 < chance
        run.test_accuracy = [0.5 - chance - 0.01]
        (finding,) = below(run, 0.5, 100, hidden=True)
        assert finding.values == {"wide": 0.5, "reached": run.test_accuracy[-1]}
        run.test_accuracy = [0.5 - chance + 0.01]
        assert not below(run, 0.5, 100, hidden=True)


@pytest.mark.parametrize("pair", [3e-5, 1e-4])
@pytest.mark.parametrize("test", [0, 300])
def test_the_size_of_a_kernel_fits_into_half_of_the_time(monkeypatch, pair, test):
    """Seconds are 0.01 + pair n^2 for a kernel of n examples: the sizes follow from the same formula."""
    monkeypatch.setattr(limit, "_seconds", lambda of, who, n, context: 0.01 + pair * n**2)
    x = torch.zeros(10, 2)
    held = None if test == 0 else (torch.zeros(test, 2), torch.zeros(test))
    of = build_subject(linear([[1.0, 1.0]]), (x + torch.randn(10, 2), torch.zeros(10)), held, optimizer=None, seed=0)
    cost = {n: 0.01 + pair * n * (n + min(test, limit.count_test_examples(n))) for n in limit.SIZES}
    for n in limit.SIZES:
        found = limit.affordable_kernel_examples(Limit(of.module), of, within(2.001 * cost[n]))
        assert found == n
    assert limit.affordable_kernel_examples(Limit(of.module), of, within(1.999 * cost[800])) == 512


def test_the_time_of_a_tangent_kernel_grows_between_linear_and_quadratic():
    means = KernelMethod(nn.Linear(1, 1), False, 2.0)
    first = kernel_size.FIRST
    assert means.estimate(first) == 2.0
    assert means.estimate(4 * first) == pytest.approx(16.0)
    sizes = kernel_size.SIZES
    for n in sizes:
        assert means.affordable(within(2 * means.estimate(n) * 1.001), 0.5) == n
    assert means.affordable(within(inf), 0.5) == max(sizes)
    assert kernel_size._guess(3, StepCost(0.5, 0.01, 0.0)) == pytest.approx(3 * (0.5 + 2 * first * 0.01))


def test_with_little_time_all_of_the_first_kernel_counts_as_pairs(monkeypatch):
    """Below nine times the first kernel's 0.1 s no second one is timed: 0.1 / 16^2 for each pair."""
    monkeypatch.setattr(limit, "_seconds", lambda of, who, n, context: 0.1)
    x = torch.randn(10, 2)
    of = build_subject(linear([[1.0, 1.0]]), (x, torch.zeros(10)), None, optimizer=None, seed=0)
    with pytest.raises(limit.StepSkipped, match="would take about 3.2 s"):  # twice 64^2 / 16^2 times 0.1 s
        limit.affordable_kernel_examples(Limit(of.module), of, within(0.89))
    assert (
        limit.affordable_kernel_examples(Limit(of.module), of, within(0.91)) == 800
    )  # a second kernel costs nothing more
