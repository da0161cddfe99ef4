"""The very wide version: as many examples as the time allows, and what it would need where it allows none."""

import pytest
import torch
from torch import nn

from gnomon.core.machine import loops
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import STEPS
from gnomon.examination.cost import StepCost
from gnomon.examination.step import StepContext, StepProducts, StepSkipped
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.limit import SIZES, LimitStep, affordable_kernel_examples
from gnomon.examination.subject import build_subject
from gnomon.findings.training import BELOW_LEAST_SQUARES, BELOW_LIMIT
from gnomon.kernels import Limit
from gnomon.kernels.fused import planes
from gnomon.kernels.fused.chain_loops import chain
from gnomon.program import read_program
from tests.examination.patients import examined


def network(test=40):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(100 + test, 3, generator=g)
    y = x[:, 0]
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    return build_subject(net, (x[:100], y[:100]), (x[100:], y[100:]), seed=0)


def test_time_for_nothing_is_said_with_what_it_would_need():
    of, clock = network(), FakeClock(1.0)  # a kernel of 16 examples takes a second, whatever it takes
    with pytest.raises(
        StepSkipped, match=r"kernel of 64 examples.*would take about \d+ s, but only \d+(\.\d+)? s are left"
    ):
        affordable_kernel_examples(Limit(of.module), of, StepContext(0, clock() + 12.0, False, clock))


def test_with_time_the_largest_rung_is_taken():
    of, clock = network(), FakeClock(1e-6)
    assert affordable_kernel_examples(Limit(of.module), of, StepContext(0, clock() + 100.0, False, clock)) == max(SIZES)


class Called(Exception):
    """A loop that would be compiled now is called."""


def pictures(monkeypatch):
    """One convolution on a machine where the loops of dense networks are compiled, and those of images are not."""
    monkeypatch.setattr(loops, "is_compiled", lambda loop, *arguments: loop is chain)
    for name in ("stage", "sweep"):

        def call(*arguments):
            raise Called

        monkeypatch.setattr(planes, name, call)
    x = torch.randn(90, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))
    y = (x[:, 0, 2, 2] > 0).long()
    profile = NetworkProfile(read_program(net, x), "", StepCost(0.0, 1e-3, 0.0))
    return build_subject(net, (x[:70], y[:70]), (x[70:], y[70:]), seed=0), StepProducts({NetworkProfile: profile})


def test_loops_are_not_compiled_where_that_does_not_fit_into_the_time(monkeypatch):
    """Compiling takes 23 seconds, and the kernel of torch hardly any: the section is there, within its time."""
    of, products = pictures(monkeypatch)
    clock = FakeClock(0.01)
    result = LimitStep().run(of, products, StepContext(0, clock() + 20.0, False, clock))
    assert clock.now < 20.0 and result.product.prediction.accuracy > 0.5


def test_loops_are_compiled_where_that_fits_into_the_time(monkeypatch):
    of, products = pictures(monkeypatch)
    clock = FakeClock(0.01)
    with pytest.raises(Called):
        LimitStep().run(of, products, StepContext(0, clock() + 50.0, False, clock))


@pytest.mark.parametrize("tick, entries", [(0.5, 10**8), (0.01, 10)], ids=["slow", "large"])
def test_where_neither_fits_the_section_is_skipped_with_what_it_needs(monkeypatch, tick, entries):
    of, products = pictures(monkeypatch)
    monkeypatch.setattr("gnomon.examination.steps.limit.MOST_ENTRIES", entries)
    clock = FakeClock(tick)
    with pytest.raises(
        StepSkipped, match=r"compiled once per machine, which takes about .* s here. Run one examination"
    ):
        LimitStep().run(of, products, StepContext(0, clock() + 20.0, False, clock))
    assert clock.now < 20.0


@pytest.mark.parametrize("layers, cure", [(0, BELOW_LEAST_SQUARES.fix), (1, BELOW_LIMIT.fix)])
def test_a_line_has_nothing_to_widen(layers, cure):
    x = torch.randn(900, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > x[:, 1]).long()

    def make():
        torch.manual_seed(0)
        return nn.Sequential(*[m for _ in range(layers) for m in (nn.Linear(3, 3), nn.ReLU())], nn.Linear(3, 2))

    steps = [step for step in STEPS if step.key in ("architecture", "data", "training", "limit")]
    result = examined(
        make,
        (x[:500], y[:500]),
        (x[500:], y[500:]),
        budget=60,
        optimizer="sgd",
        lr=1e-4,
        epochs=20,
        examination_steps=steps,
    )
    assert [f.fix for f in result.section("limit").findings] == [cure], str(result)
