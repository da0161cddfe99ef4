"""Replacing every sentence, name and title by nonsense changes no decision: nothing is looked up by English text."""

import itertools
import re
import sys

import pytest
from torch import nn

from gnomon import cli
from gnomon.core.results import Plot, Value
from gnomon.examination import STEPS
from gnomon.examination.compare import Comparison
from gnomon.findings import TABLE
from gnomon.training import SGD
from tests.examination.patients import cnn, data, examined

TRAIN, TEST = data(200, 100)


def faulty():
    """Ends in softmax, and a layer before it is dead."""
    net = cnn()
    nn.init.constant_(net[2].bias, -1e3)
    return nn.Sequential(*net, nn.Softmax(1))


def examinations(trained):
    steps = [
        step for step in STEPS if step.key not in ("limit", "attribution", "curvature")
    ]  # slow, and they find nothing
    if not trained:
        options = {"budget": 2, "fit": False, "examination_steps": steps}
        found = [
            examined(faulty(), TRAIN, TEST, **options),
            examined(cnn(), (1000 * TRAIN[0], TRAIN[1]), TEST, **options),
        ]
        return found, Comparison(*found)
    found = [
        examined(faulty, TRAIN, TEST, optimizer=SGD(1e-4), budget=5, epochs=2, examination_steps=steps),
        examined(cnn, TRAIN, TEST, optimizer=SGD(0.1), budget=5, epochs=4, examination_steps=steps),
        examined(cnn(), (1000 * TRAIN[0], TRAIN[1]), TEST, budget=2, fit=False, examination_steps=steps),
    ]
    return found, Comparison(found[0], found[1])


def decisions(found, compared, monkeypatch, tmp_path):
    """Everything that is decided, without the words."""
    told = []
    for result in found:
        page = result.page()
        told.append([(f.kind, f.level, f.where, f.false_alarm) for f in result.findings])
        told.append([(s.key, s.status, s.state, [f.kind for f in s.stated_elsewhere]) for s in result.sections])
        told.append([(tile.key, None if tile.plot is None else tile.plot.id) for tile in page.tiles])
        told.append([re.sub(r"[^0-9.]", "", fact) for fact in page.facts][:3])
        told.append((result.healthy, None if result.inconclusive is None else result.inconclusive.kind))
        told.append([exit_code(result, options, monkeypatch, tmp_path)
                     for options in (["--strict"], ["--fail-on", "dead-units"], [])])  # fmt: skip
    told.append(([row[1:] for row in compared.main_rows], len(compared.rows), [plot.id for plot in compared.plots()]))
    told.append([section.value("parameters") is not None for section in found[0].sections])
    return told


def exit_code(result, options, monkeypatch, tmp_path):
    with monkeypatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.chdir(tmp_path)
        patch.setattr(sys, "argv", ["gnomon", "examine", *options])
        patch.setattr("gnomon.examination.examine", lambda *given, **named: result)
        patch.setattr(
            type(result), "save", lambda self, path, **named: None
        )  # drawing takes seconds, and decides nothing
        cli.run()
    return end.value.code or 0


def speak_nonsense(monkeypatch):
    """Every message, fix, title, question, name of a value and title of a plot becomes another meaningless word."""
    words = (f"blah{i}" for i in itertools.count())
    for row in TABLE:
        for name in ("message", "fix"):
            was = getattr(row, name)
            object.__setattr__(row, name, next(words))
            yield row, name, was
    for step in STEPS:
        monkeypatch.setattr(type(step), "title", next(words))
        monkeypatch.setattr(type(step), "question", next(words))
    for kind, field in ((Value, "name"), (Plot, "title")):
        original = kind.__init__

        def initialize(self, *given, _original=original, _field=field, **named):
            _original(self, *given, **named)
            object.__setattr__(self, _field, next(words))

        monkeypatch.setattr(kind, "__init__", initialize)


@pytest.mark.parametrize("trained", [False, pytest.param(True, marks=pytest.mark.full)])
def test_no_decision_depends_on_words(trained, monkeypatch, tmp_path, capsys):
    plain = decisions(*examinations(trained), monkeypatch, tmp_path)
    assert any("softmax-before-loss" == kind for kind, *_ in plain[0]) and plain[5][0] == 1
    changed = list(speak_nonsense(monkeypatch))
    try:
        found, compared = examinations(trained)
        words = [
            text for result in found for s in result.sections for text in (s.title, *(v.name for v in s.content.values))
        ]
        assert all(re.fullmatch(r"blah\d+", text) for text in words)
        messages = [f.message.removeprefix(f"{f.source}: ") for result in found for f in result.findings]
        assert messages and all(re.fullmatch(r"blah\d+", message) for message in messages)
        assert decisions(found, compared, monkeypatch, tmp_path) == plain
    finally:
        for row, name, was in changed:
            object.__setattr__(row, name, was)
