"""Numbers of the examination in closed form, and its limits with a case on each side."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.inputs.source import Batch, InMemorySource, source
from gnomon.core.results import Finding
from gnomon.examination.fixes.layers import smaller_dropout
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.short_run import _errors
from gnomon.examination.steps.forecast import _times
from gnomon.examination.steps.invariance import InvarianceStep
from gnomon.examination.subject import build_subject
from gnomon.findings import data as data_kinds
from gnomon.training import SGD, train
from gnomon.training.plan import BatchPlan
from tests.examination.steps.setting import answered

FINDING = Finding(data_kinds.DRIFTED_COLUMNS)


def planned(net, data, **changes):
    """A subject and a trial of its training."""
    subject = build_subject(net, data, None, seed=0)
    known = {"optimizer": SGD(0.1), "batches": BatchPlan(2), "steps": 8} | changes
    return subject, TrialRun(net, subject.train, source(data), subject.loss, **known)


def test_errors_of_numbers_are_shares_of_the_variance_of_all_columns():
    """The loss is half of the squared error of an example; the columns have the variances 1 and 16."""
    y = torch.tensor([[1.0, 0.0], [3.0, 8.0]])
    subject = build_subject(nn.Linear(1, 2), (torch.ones(2, 1), y), None, seed=0)
    data = InMemorySource(Batch(torch.ones(2, 1), y), None)
    assert _errors(None, torch.tensor([8.5, 1.7]), subject, data) == pytest.approx([1.0, 0.2])
    same = InMemorySource(Batch(torch.ones(2, 1), torch.ones(2, 2)), None)
    assert _errors(None, torch.tensor([8.5, 1.75]), subject, same) == [8.5, 1.75]
    whole = InMemorySource(Batch(torch.ones(2, 1), torch.tensor([4, 2])), None)
    assert _errors(None, torch.tensor([8.0, 2.0]), subject, whole) == [1.0, 0.25]
    assert _errors(None, torch.tensor([0.0, 2.0]), subject, whole) == [0.0, 2.0]
    assert _errors(torch.tensor([0.25, 1.0]), None, subject, whole) == [0.75, 0.0]


def test_a_tenth_of_the_units_is_dropped_instead_of_many():
    net = nn.Sequential(nn.Linear(4, 4000), nn.Dropout(0.8))
    with torch.no_grad():
        net[0].weight.fill_(0.25)
        net[0].bias.zero_()
    subject, trial = planned(net, (torch.ones(9, 4), torch.ones(9, 4000)))
    (change,) = smaller_dropout(trial, FINDING, subject)
    torch.manual_seed(0)
    f = change.trial.module.train()(torch.ones(1, 4))
    assert f.max().item() == pytest.approx(1 / 0.9) and (f == 0).double().mean().item() == pytest.approx(0.1, abs=0.02)
    assert "10% instead of 80%" in change.words


def test_the_prediction_reaches_from_a_tenth_to_ten_thousand_times_of_the_fastest_mode():
    product = SimpleNamespace(kernel=torch.eye(3), spectrum=SimpleNamespace(values=torch.tensor([6.0, 1.0])))
    times = _times(product, None)
    assert len(times) == 41 and times[:2].tolist() == pytest.approx([0.0, 0.05])
    assert times[-1].item() == pytest.approx(5000.0)
    steps = _times(product, 0.25) / 0.25
    assert steps.tolist() == sorted(set(steps.round().tolist())) and steps[:2].tolist() == [0.0, 1.0]
    assert steps[-1].item() == 3000.0


@pytest.mark.parametrize(("size", "said"), [((8, 40), "1/8 of the image"), ((40, 10), "1/10 of the image")])
def test_a_pixel_is_compared_with_the_shorter_side(size, said):
    """The class is the column that is bright: a shift by one pixel moves it to the other one or away."""
    y = torch.arange(200) % 2
    x = torch.zeros(200, 1, *size)
    net = nn.Sequential(nn.Flatten(), nn.Linear(size[0] * size[1], 2, bias=False))
    weight = torch.zeros(2, *size)
    for c in (0, 1):
        x[y == c, :, :, 3 * c] = 1.0
        weight[c, :, 3 * c], weight[c, :, 3 * (1 - c) + 1] = 1.0, 0.5
    with torch.no_grad():
        net[1].weight.copy_(weight.flatten(1))
    (finding,) = answered(InvarianceStep, net, (x, y), [train(net, (x, y), steps=1, optimizer="sgd")]).content.findings
    assert said in finding.message
