"""Temperature, label smoothing and distillation against scipy and sums by hand."""

import inspect
from math import log

import numpy as np
import pytest
import torch
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_softmax, softmax
from scipy.stats import chi2
from torch import nn

from gnomon.core.errors import InputError
from gnomon.core.results import Interval
from gnomon.decisions.temperature import Temperature, best_temperature, distill, distillation_loss, label_smoothing_gap

G = torch.Generator().manual_seed(0)
F = 3 * torch.randn(40, 3, generator=G).double()
LABELS = torch.where(torch.rand(40, generator=G) < 0.5, F.argmax(1), torch.randint(3, (40,), generator=G))


def loss(t):
    """Mean negative log likelihood of the labels at a temperature."""
    return -float(log_softmax(F.numpy() / t, axis=1)[np.arange(40), LABELS.numpy()].mean())


def test_the_temperature_and_its_likelihood_interval_are_those_of_scipy():
    found = best_temperature(F, LABELS)
    best = minimize_scalar(loss, bounds=(0.01, 100), method="bounded", options={"xatol": 1e-10})
    top = best.fun + chi2.ppf(0.95, 1) / 80
    assert found.value == pytest.approx(best.x, rel=1e-5)
    assert found.interval.low == pytest.approx(brentq(lambda t: loss(t) - top, 0.01, best.x), rel=1e-5)
    assert found.interval.high == pytest.approx(brentq(lambda t: loss(t) - top, best.x, 100), rel=1e-5)
    assert (found.before, found.after) == pytest.approx((loss(1.0), best.fun), rel=1e-10)
    assert (found.examples, found.interval.confidence) == (40, 0.95)


def test_an_interval_without_an_end_stops_at_the_end_of_the_grid():
    """Two of three right with a logit of one: p = 2 / 3 at T = 1 / ln 2, and T = 100 is as likely as chance allows."""
    found = best_temperature(torch.tensor([[1.0, 0.0]] * 3), torch.tensor([0, 0, 1]))
    least = log(3) - 2 / 3 * log(2)
    top = least + chi2.ppf(0.95, 1) / 6
    low = 1 / brentq(lambda s: np.log1p(np.exp(-s)) + s / 3 - top, 2, 100)
    assert (found.value, found.after) == pytest.approx((1 / log(2), least), rel=1e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, 100.0), rel=1e-6)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1], [0, 1, 2], [0, 1, -1]])
def test_labels_without_a_best_temperature_are_refused(labels):
    with pytest.raises(InputError):
        best_temperature(torch.tensor([[1.0, 0.0]] * 3), torch.tensor(labels))


def test_one_logit_and_equal_logits_are_refused():
    for logits in (torch.ones(3, 1), torch.ones(3, 2)):
        with pytest.raises(InputError):
            best_temperature(logits, torch.tensor([0, 0, 0]))


@pytest.mark.parametrize(("low", "found"), [(0.99, 0), (1.0, 0), (1.01, 1)])
def test_an_interval_above_one_is_a_finding(low, found):
    findings = Temperature(2.0, Interval(low, 2.2, 0.95), 0.5, 0.4, 100).findings
    assert len(findings) == found
    assert all(finding.false_alarm == pytest.approx(0.025) for finding in findings)  # one end of an interval of 95 %


def test_the_gap_of_smoothed_labels_is_where_their_loss_is_stationary():
    """softmax of (gap, 0, ..., 0) is the smoothed target."""
    for s, k in ((0.1, 10), (0.3, 4)):
        p = softmax(np.append(label_smoothing_gap(s, k), np.zeros(k - 1)))
        assert p == pytest.approx(np.append(1 - s + s / k, np.full(k - 1, s / k)))


def test_the_loss_of_distillation_is_a_cross_entropy_at_one_temperature():
    student, teacher = F[:5], F[5:10]
    for t in (1.0, 2.5):
        expected = -(softmax(teacher.numpy() / t, 1) * log_softmax(student.numpy() / t, 1)).sum(1).mean()
        assert float(distillation_loss(student, teacher, t)) == pytest.approx(expected, rel=1e-12)
    assert torch.equal(distillation_loss(student, teacher), distillation_loss(student, teacher, 1.0))
    for t in (0.0, -1.0):
        with pytest.raises(InputError):
            distillation_loss(student, teacher, t)


def test_a_student_is_compared_with_its_teacher_at_temperature_one():
    teacher, student = nn.Linear(3, 3).double(), nn.Linear(3, 3).double()
    found = distill(teacher, student, F, steps=20, lr=0.05)
    with torch.no_grad():
        made, told = found.student(F).numpy(), teacher(F).numpy()
    kl = (softmax(told, 1) * (log_softmax(told, 1) - log_softmax(made, 1))).sum(1).mean()
    assert found.divergence == pytest.approx(kl, rel=1e-10) and kl > 1e-3
    assert found.agreement == (made.argmax(1) == told.argmax(1)).mean()
    assert found.losses[-1] == pytest.approx(float(distillation_loss(*map(torch.tensor, (made, told)), 2.0)), rel=1e-12)
    defaults = inspect.signature(distill).parameters
    assert [defaults[key].default for key in ("t", "steps", "lr", "seed")] == [2.0, 500, 3e-3, 0]
