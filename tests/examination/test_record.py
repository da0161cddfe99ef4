"""The record of an examination: words, data, files; steps that fail or are stopped lose nothing."""

import json
import re
from time import perf_counter

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.clock import Ticking
from gnomon.examination import examine
from gnomon.examination.run import walk
from gnomon.examination.step import AbstractStep, Outcome, Skipped
from gnomon.examination.subject import subject
from gnomon.report import Section
from tests.examination.patients import cnn, data, examined

TRAIN, TEST = data(120, 60)


@pytest.fixture(scope="module")
def found():
    return examined(cnn, TRAIN, TEST, budget=2, name="a <b>net</b>")


def test_every_step_has_a_section(found):
    keys = [s.key for s in found.sections]
    assert keys == ["architecture", "data", "signal", "kernel", "stability", "limit", "forecast", "training", "regime",
                    "curvature", "margins", "invariance"]  # fmt: skip
    assert not [s.answer for s in found.sections if s.status == "failed"]


def test_the_data_are_json_with_a_version(found):
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["schema"] == 1 and len(again["sections"]) == 12 and again["manifest"]["seed"] == 0


def test_the_report_is_one_small_file(found, tmp_path):
    path = found.save(tmp_path / "deep" / "report.html")
    text = path.read_text("utf-8")
    assert len(text) < 1_000_000 and "<b>net</b>" not in text
    figures = sum(len(s.figures) for s in found.sections)
    assert figures >= 6 and text.count("<svg") == figures
    assert json.loads(re.search(r'id="gnomon-data">(.*?)</script>', text, re.S)[1])["title"].endswith("a <b>net</b>")


def test_it_shows_and_compares_itself(found):
    assert found._repr_html_().startswith("<iframe")
    other = examined(lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), TRAIN, budget=2, fit=False)
    assert "parameters" in found.compare(other)
    assert found.compare(found).count("\n") == 0


def test_the_module_is_left_as_found():
    net = cnn().train()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    state = torch.get_rng_state()
    examined(net, TRAIN, budget=1, fit=True)
    assert net.training and all(p.grad is None for p in net.parameters()) and torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())


class Named(AbstractStep):
    title, question, share = "t", "q", 1.0

    def __init__(self, key, act):
        self.key, self.act = key, act  # type: ignore[misc]

    def run(self, subject, context):
        self.act(context)
        return Outcome(Section(self.key, "t", "q", "fine"), {self.key: 1})


def steps(*acts):
    return [Named(str(i), act) for i, act in enumerate(acts)]


def raising(error):
    def act(context):
        raise error

    return act


def walked(*acts, budget=5.0, clock=perf_counter):
    given = subject(cnn, TRAIN, None, optimizer=None, seed=0)
    return walk(steps(*acts), given, budget=budget, seed=0, fit=False, progress=None, clock=clock)


def nothing(context):
    pass


def test_a_step_that_fails_does_not_stop_the_rest():
    sections, facts, partial = walked(raising(ZeroDivisionError("by zero")), raising(Skipped("no need")), nothing)
    assert [s.status for s in sections] == ["failed", "skipped", "good"] and not partial
    assert "ZeroDivisionError" in sections[0].answer and sections[1].answer == "no need" and "2" in facts


def test_an_interrupt_leaves_what_there_is():
    sections, facts, partial = walked(nothing, raising(KeyboardInterrupt()), nothing)
    assert partial and [s.status for s in sections] == ["good", "skipped", "skipped"] and set(facts) == {"0"}


def test_time_that_is_left_goes_on_and_overruns_are_bounded():
    """On a clock that stands still but where a step moves it."""
    clock, seen = Ticking(0.0), []

    def overrun(context):
        clock.now += 5.0

    def look(context):
        seen.append(context.seconds)

    walked(nothing, look, budget=4.0, clock=clock)
    walked(overrun, look, budget=3.0, clock=clock)
    assert seen == [4.0, 0.5]  # all of it, where the first step took none; a third of its half, where all was spent


@pytest.mark.parametrize(
    "net, train, words",
    [
        ("text", TRAIN, "a module or a function"),
        (lambda: 3, TRAIN, "returned a int"),
        (lambda width: cnn(), TRAIN, "without arguments"),
        (cnn, TRAIN[0], "a pair of inputs and targets"),
        (cnn, (TRAIN[0], TRAIN[1][:-1]), "a target for each input"),
        (cnn, (TRAIN[0], TRAIN[1].float()), r"y\.long\(\)"),
        (cnn, (TRAIN[0], TRAIN[1] + 5), "one output for each class"),
        (cnn, (TRAIN[0], TRAIN[1] - 1), "classes 0, 1, 2"),
        (cnn, (TRAIN[0] * torch.where(torch.arange(120) == 7, torch.nan, 1.0)[:, None, None, None], TRAIN[1]), "example 7 of x is not finite"),
        (cnn, (TRAIN[0].flatten(1), TRAIN[1]), "forward raised"),
        (cnn, (["a", "b"], TRAIN[1][:2]), "no tensor with an example axis"),
    ],
)  # fmt: skip
def test_bad_input_is_told(net, train, words):
    with pytest.raises(gnomon.GnomonError, match=words):
        examine(net, train)


def test_a_network_whose_weights_are_not_finite_is_told():
    net = cnn()
    with torch.no_grad():
        net[0].weight.fill_(float("nan"))
    with pytest.raises(gnomon.InputError, match="finite outputs"):
        examine(net, TRAIN)
