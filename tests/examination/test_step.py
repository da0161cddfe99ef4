"""Steps are ordered by what they need and give, and see what they have declared and nothing else."""

from time import perf_counter

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Finding, FindingKind, Level
from gnomon.examination.run import run_steps
from gnomon.examination.step import AbstractStep, StepProducts, StepResult, StepSkipped, order_steps
from gnomon.examination.steps import STEPS
from gnomon.examination.subject import build_subject
from gnomon.report import PageContent
from gnomon.tangent import ntk

X = torch.randn(20, 3)
KINDS = [type(f"Product{i}", (), {}) for i in range(6)]


def step(i, act=lambda products, context: None, needs=(), uses=()):
    """A step that gives the i-th kind of product, after an action."""

    class Planted(AbstractStep):
        key, title, question, share = str(i), f"Step {i}", "q", 1.0

        def run(self, subject, products, context):
            return StepResult(PageContent("fine", tuple(act(products, context) or ())), KINDS[i]())

    Planted.needs, Planted.uses, Planted.gives = needs, uses, KINDS[i]
    return Planted()


def raising(error):
    def act(products, context):
        raise error

    return act


def walked(*steps, budget=5.0, clock=perf_counter):
    network = build_subject(nn.Linear(3, 1), (X, X[:, :1]), None, optimizer=None, seed=0)
    return run_steps(steps, network, end=clock() + budget, seed=0, fit=False, progress=None, clock=clock)


def test_a_step_comes_after_those_whose_products_it_needs_or_uses():
    a, b, c, d = step(0, needs=(KINDS[2],)), step(1), step(2, uses=(KINDS[3], KINDS[5])), step(3)
    assert [s.key for s in order_steps([a, b, c, d])] == ["1", "3", "2", "0"]


def test_the_steps_of_the_package_are_listed_in_the_order_in_which_they_run():
    assert order_steps(STEPS) == STEPS and len({s.key for s in STEPS}) == len(STEPS)


@pytest.mark.parametrize(
    "steps, words",
    [
        ([step(0), step(0)], "both give Product0"),
        ([step(0, needs=(KINDS[1],))], "needs Product1, which no step gives"),
        ([step(0, needs=(KINDS[1],)), step(1, uses=(KINDS[0],))], "in a circle"),
    ],
)
def test_declarations_that_cannot_be_met_are_errors(steps, words):
    with pytest.raises(ValueError, match=words):
        order_steps(steps)


def test_a_step_sees_the_products_it_declares_and_no_others():
    seen = []

    def look(products, context):
        seen.extend(products)

    walked(step(0), step(1), step(2), step(3, look, needs=(KINDS[1],), uses=(KINDS[2], KINDS[5])))
    assert seen == [KINDS[1], KINDS[2]]
    with pytest.raises(KeyError):
        StepProducts()[int]


def test_a_step_without_what_it_needs_is_skipped_and_one_that_only_uses_it_runs():
    sections, products, _ = walked(
        step(0, raising(ZeroDivisionError("by zero"))), step(1, needs=(KINDS[0],)), step(2, uses=(KINDS[0],))
    )
    assert [s.status for s in sections] == ["failed", "skipped", "good"] and list(products) == [KINDS[2]]
    assert sections[1].answer == "Skipped: needs the result of 'Step 0', which is missing."


def test_a_step_that_fails_does_not_stop_the_rest_and_keeps_its_traceback():
    sections, products, partial = walked(
        step(0, raising(ZeroDivisionError("by\nzero"))), step(1, raising(StepSkipped("no need"))), step(2)
    )
    assert [s.status for s in sections] == ["failed", "skipped", "good"] and not partial
    assert sections[0].answer == "ZeroDivisionError: by" and sections[1].answer == "no need" and KINDS[2] in products
    whole = sections[0].to_dict()["traceback"]
    assert whole.startswith("Traceback") and "raise error" in whole and "ZeroDivisionError: by\nzero" in whole
    assert "traceback" not in sections[1].to_dict()


class AdaptiveSolver(nn.Module):
    """Euler steps whose number follows from the fastest example of the batch, as adaptive solvers choose it."""

    def __init__(self):
        super().__init__()
        self.speed = nn.Linear(3, 3)

    def forward(self, x):
        steps = 1 + int(4 * self.speed(x).norm(dim=1).max())
        for _ in range(steps):
            x = x + torch.tanh(self.speed(x)) / steps
        return x


def test_a_kernel_of_examples_that_share_the_steps_of_a_solver_is_skipped_with_the_reason():
    net, x = AdaptiveSolver(), torch.cat((0.1 * torch.ones(4, 3), 30 * torch.ones(2, 3)))
    sections, _, _ = walked(step(0, lambda products, context: ntk(net, x) and None), step(1))
    assert [s.status for s in sections] == ["skipped", "good"] and "traceback" not in sections[0].to_dict()
    assert sections[0].answer.startswith("Skipped: The output for example 0 changes with the other examples")


def test_an_interrupt_leaves_what_there_is():
    sections, products, partial = walked(step(0), step(1, raising(KeyboardInterrupt())), step(2))
    assert partial and [s.status for s in sections] == ["good", "skipped", "skipped"] and list(products) == [KINDS[0]]


def test_time_that_is_left_goes_on_and_nothing_begins_after_the_end():
    """On a clock that stands still but where a step moves it."""
    clock, seen = FakeClock(0.0), []

    def overrun(products, context):
        clock.now += 5.0

    def look(products, context):
        seen.append(context.seconds)

    walked(step(0), step(1, look), budget=4.0, clock=clock)
    assert seen == [4.0]  # all of it, where the first step took none
    sections, _, _ = walked(step(0, overrun), step(1, look), budget=3.0, clock=clock)
    assert seen == [4.0] and [s.status for s in sections] == ["good", "skipped"]
    assert "larger budget" in sections[1].answer


def test_findings_of_a_step_are_in_its_section():
    loud = Finding(FindingKind("loud", Level.PROBLEM, "It is loud.", "Turn it down."))
    sections, _, _ = walked(step(0, lambda products, context: [loud]))
    assert sections[0].findings == (loud,) and sections[0].status == "problem"
