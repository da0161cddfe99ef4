"""A network is healthy only if that could be told, and no section looks fine while its text reports a problem."""

import re
import sys

import pytest
import torch
from torch import nn

from gnomon import cli
from gnomon.checks.data.targets import regression_target_findings
from gnomon.cli.examine import MARKS, reason_for_inconclusive_exit
from gnomon.core.results import Finding, FindingKind, Level
from gnomon.examination import STEPS, Examination
from gnomon.report import PageContent, Section, page_html
from gnomon.training import SGD
from tests.examination.patients import data, examined, flat

TRAIN, TEST = map(flat, data(200, 100))


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def only(*keys):
    return [step for step in STEPS if step.key in ("architecture", *keys)]


def found(kind, level=Level.WARNING):
    return Finding(FindingKind(kind, level, f"It is {kind}.", "Change it."))


def exit_code(monkeypatch, tmp_path, result, *options):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["gnomon", "examine", *options])
    monkeypatch.setattr("gnomon.examination.examine", lambda *given, **named: result)
    with pytest.raises(SystemExit) as end:
        cli.run()
    return end.value.code or 0


def test_an_untrained_network_is_not_called_healthy(monkeypatch, tmp_path, capsys):
    result = examined(perceptron(), TRAIN, TEST, examination_steps=only("data", "margins", "attribution"), budget=10)
    assert not result.problems and not result.healthy and not result.to_dict()["healthy"]
    assert "performs like random guessing because nothing was trained" in result.verdict
    assert "no problem found" not in result.verdict and "fit=True" in result.findings[0].fix
    assert result.section("margins").status == "warning" and result.section("attribution").status != "good"
    assert exit_code(monkeypatch, tmp_path, result, "--strict") == 1
    assert "Failed for: the network performs like random guessing" in capsys.readouterr().err
    assert exit_code(monkeypatch, tmp_path, result, "--fail-on", "leaked-test") == 0
    assert exit_code(monkeypatch, tmp_path, result, "--fail-on", "untrained") == 1
    assert exit_code(monkeypatch, tmp_path, result) == 0


def test_the_same_network_trained_elsewhere_is_healthy():
    net = perceptron()
    rule = torch.optim.Adam(net.parameters(), 1e-2)
    for _ in range(60):
        rule.zero_grad()
        nn.functional.cross_entropy(net(TRAIN[0]), TRAIN[1]).backward()
        rule.step()
    result = examined(net, TRAIN, TEST, examination_steps=only("data", "margins"), budget=10)
    assert result.healthy and "no problem found" in result.verdict


def test_an_untrained_regression_is_not_called_healthy():
    x = torch.randn(100, 5, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    result = examined(net, (x, x[:, 0].sin()), examination_steps=only("data", "margins"), budget=10)
    assert [f.kind for f in result.findings] == ["untrained"] and not result.healthy


@pytest.mark.full
def test_no_section_about_a_trained_network_at_chance_level_is_fine(tmp_path):
    """Labels drawn by a coin: the network learns them by heart, and is right on half of the test examples."""
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(300, 4, generator=g), torch.randint(2, (300,), generator=g)

    def build():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    steps = [step for step in STEPS if step.key not in ("split", "forecast", "limit")]
    result = examined(build, (x[:200], y[:200]), (x[200:], y[200:]), examination_steps=steps, budget=20, epochs=20)
    about = [s for s in result.sections if {"training", "decisions"} & {*s.rests_on} and s.status != "skipped"]
    assert {"training", "outcome", "margins", "examples"} <= {section.key for section in about}
    assert not [section.key for section in about if section.status == "good"], str(result)
    assert not result.healthy
    page = page_html(result.page())
    for section in about:
        heading = re.search(f'data-key="{section.key}".*?</summary>', page, re.DOTALL)[0]
        assert "badge good" not in heading and "part good" not in heading


@pytest.mark.parametrize("n", [1, 2, 15])
def test_too_few_examples_are_said_and_nobody_is_called_healthy(n, monkeypatch, tmp_path, capsys):
    def build():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10))

    steps = only("data", "columns", "signal", "training", "outcome", "margins")
    result = examined(build, (TRAIN[0][:n], TRAIN[1][:n]), examination_steps=steps, budget=10, epochs=5)
    assert not result.healthy and not result.problems, str(result)
    assert "not enough data to decide" in result.verdict and "no problem found" not in result.verdict
    assert not [s.key for s in result.sections if s.status == "good" and s.key != "architecture"], str(result)
    assert exit_code(monkeypatch, tmp_path, result, "--strict") == 1
    assert "too little data for a result" in capsys.readouterr().err


def test_one_example_has_no_fault_and_no_clean_bill():
    x = torch.randn(1, 3, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    result = examined(
        net, (x, torch.ones(1)), examination_steps=only("data", "columns", "margins"), budget=10, fit=False
    )
    assert [f.kind for f in result.findings] == ["too-few-examples"] and not result.healthy
    assert result.verdict.endswith(
        "Number of training examples: 1. This is not enough data to find out whether anything is wrong."
    )
    assert (
        regression_target_findings(torch.ones(1)) == ()
        and regression_target_findings(torch.ones(2))[0].kind == "constant-targets"
    )


@pytest.mark.parametrize(("n", "few"), [(49, True), (50, False)])
def test_five_examples_of_each_class_are_not_called_too_few(n, few):
    result = examined(perceptron(), (TRAIN[0][:n], TRAIN[1][:n]), examination_steps=only("data"), budget=10)
    assert ("too-few-examples" in [f.kind for f in result.findings]) == few


def test_sixteen_examples_of_two_classes_are_not_called_too_few():
    net = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 2))
    result = examined(net, (TRAIN[0][:16], TRAIN[1][:16] % 2), examination_steps=only("data"), budget=10)
    assert "too-few-examples" not in [f.kind for f in result.findings]


@pytest.mark.parametrize("factor", [1e9, 100.0])
def test_a_learning_rate_that_is_absurd_marks_every_section_that_reports_it(factor):
    steps = only("kernel", "stability", "forecast", "training", "optimizer", "outcome", "invariance", "attribution")
    result = examined(perceptron, TRAIN, TEST, optimizer=SGD(factor), examination_steps=steps, budget=20, epochs=3)
    assert not result.healthy
    for section in result.sections:
        if section.key in ("stability", "forecast", "training", "optimizer", "outcome", "attribution"):
            assert section.status != "good", f"{section.key}: {section.answer}"
    assert result.section("stability").status == "problem"
    assert "above the stable limit" in result.section("stability").answer


def test_the_terminal_and_the_page_mark_a_section_by_what_its_text_reports(monkeypatch, tmp_path, capsys):
    large = found("learning-rate-too-large", Level.PROBLEM)
    sections = (
        Section("stability", "The learning rate", "?", PageContent("Far too large.", ()), stated_elsewhere=(large,)),
        Section("optimizer", "Tried", "?", PageContent("The loss rose.", (large,))),
    )
    result = Examination("net", sections, {})
    assert exit_code(monkeypatch, tmp_path, result, "--verbose") == 0  # no gate was asked for
    text, page = capsys.readouterr().out, (tmp_path / "report.html").read_text("utf-8")
    marked = [line.split()[0] for line in text.splitlines() if "The learning rate" in line or "Tried" in line]
    assert marked[:2] == [re.sub(r"\[.*?\]", "", MARKS["problem"])] * 2
    assert page.count('class="part problem"') == 2 and 'class="part good"' not in page


def section(key, *findings, state="answered"):
    return Section(key, key, "?", PageContent("All is fine.", findings), state)


@pytest.mark.parametrize(
    "kind, kinds, fails",
    [("chance-level", ("problem",), True), ("chance-level", ("overfit",), False), ("too-few-examples", ("overfit",), True),
     ("untrained", (), False), ("overfit", ("problem",), False)],
)  # fmt: skip
def test_which_gates_fail_without_a_fault(kind, kinds, fails):
    assert (
        bool(reason_for_inconclusive_exit(Examination("net", (section("margins", found(kind)),), {}), kinds)) is fails
    )
