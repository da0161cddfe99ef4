"""The learning rate of the short run of gradient descent, and how long theory and measurement agree."""

from math import inf

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.dynamics import predict_from_kernel
from gnomon.examination.step import StepContext
from gnomon.examination.steps.match import HALF_OF_LARGEST, RATE_REDUCTION, TheoryMatch, _match, _reduced_until_stable
from gnomon.examination.subject import build_subject
from gnomon.landscape import sharpness
from gnomon.tangent import ntk
from gnomon.training import SGD, train


@pytest.mark.parametrize(
    "share_of_limit, reductions", [(0.9, 0), (1.1, 1), (0.9 * RATE_REDUCTION, 1), (5.0, 2), (20.0, 3), (90.0, 3)]
)
def test_the_rate_falls_until_a_trial_run_is_stable(share_of_limit, reductions):
    """The loss of a linear network is a parabola: gradient descent is stable below 2 / largest eigenvalue."""
    torch.manual_seed(0)
    x = torch.randn(32, 3)
    subject = build_subject(nn.Linear(3, 1), (x, x.sum(1)), None, optimizer=None, seed=0)
    largest = sharpness(subject.module, (x, x.sum(1, keepdim=True))).largest_lr
    rule = SGD(share_of_limit * largest)
    context = StepContext(0, inf, False, FakeClock(0.01))
    found, words = _reduced_until_stable(subject, subject.probe, rule, 24, context)
    assert found.lr == pytest.approx(rule.lr / RATE_REDUCTION**reductions)
    assert words == HALF_OF_LARGEST if reductions == 0 else "unstable" in words


def compared(predicted_for: nn.Module, steps: int = 12) -> TheoryMatch:
    """Training of x -> 2 x by a network with one weight, and the prediction with the kernel of another network."""
    x, net = torch.tensor([[1.0], [-1.0]]), nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(0.0)
    rule = SGD(0.1)
    times = torch.arange(steps + 1, dtype=torch.float64) * rule.lr
    kernel = ntk(predicted_for, x).double()
    kernel = kernel + 1e-9 * torch.eye(2, dtype=torch.float64)
    predicted = predict_from_kernel(kernel, 2 * x.double(), f0=net(x).detach().double(), optimizer=rule, times=times)
    return _match(predicted, train(net, (x, 2 * x), optimizer=rule, steps=steps, record=[*range(steps + 1)]), rule)


def test_a_linear_network_agrees_until_the_last_step():
    match = compared(nn.Linear(1, 1, bias=False))
    assert match.gap < 1e-5 and match.agrees_until() == 12


def test_agreement_ends_before_the_first_gap_above_five_percent():
    """Inputs times 1.1: a kernel that is 1.21 times as large, so the predicted loss falls faster than the measured."""

    class Enlarged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(1, 1, bias=False)

        def forward(self, x):
            return self.layer(1.1 * x)

    match = compared(Enlarged())
    gaps = ((match.measured.loss - match.predicted.loss).abs() / match.measured.loss[0]).tolist()
    last = match.agrees_until()
    assert 0 < last < 12 and max(gaps[: last + 1]) <= 0.05 < gaps[last + 1] < 0.1
    assert match.gap == pytest.approx(max(gaps))
