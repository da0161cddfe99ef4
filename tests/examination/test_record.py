"""The result of an examination: words, data, files, all from one list of findings."""

import json
import re
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module

import pytest
import torch
from torch import nn

import gnomon
from gnomon import cli
from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Finding, FindingKind, Level, Result
from gnomon.examination import STEPS, AbstractStep, Examination, StepResult, compare, examine
from gnomon.examination.compare import Comparison
from gnomon.findings import most_serious_first
from gnomon.report import PageContent, Section
from gnomon.report.plot_selection import shows_something
from tests.examination.patients import cnn, data, examined

TRAIN, TEST = data(120, 60)


@pytest.fixture(scope="module")
def result():
    return examined(cnn, TRAIN, TEST, budget=30, epochs=20, name="a <b>net</b>")


def test_every_step_has_a_section(result):
    keys = [s.key for s in result.sections]
    assert keys == [step.key for step in STEPS] and keys[:2] == ["architecture", "data"]
    assert not [s.answer for s in result.sections if s.status == "failed"]


def test_the_data_are_json_with_a_version(result):
    again = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert again["schema"] == 5 and len(again["sections"]) == len(STEPS) and again["manifest"]["seed"] == 0


def test_the_report_is_one_small_file(result, tmp_path):
    path = result.save(tmp_path / "deep" / "report.html")
    text = path.read_text("utf-8")
    assert len(text) < 1_200_000 and "<b>net</b>" not in text
    figures = sum(shows_something(plot) for s in result.sections for plot in s.content.plots)
    tiles = [tile.key for tile in result.page().tiles]
    assert tiles == ["training", "margins", "match", "examples"]
    assert figures >= 6 and text.count("<svg") == figures + 4  # the first plot is drawn for telephones as well
    assert json.loads(re.search(r'id="gnomon-data">(.*?)</script>', text, re.S)[1])["title"].endswith("a <b>net</b>")


def test_it_shows_and_compares_itself(result):
    assert isinstance(result, Result) and "<iframe" not in result._repr_html_()
    other = examined(lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), TRAIN, budget=2, fit=False)
    both = Comparison(result, other)
    assert "The network, parameters: 3,130 | 650" in str(both) and "a <b>net</b> | network" in str(both)
    assert Comparison(result, result).rows == [] and "score the same" in Comparison(result, result).verdict
    few = Comparison(replace(result, sections=result.sections[:4]), replace(other, sections=other.sections[1:4]))
    text = few.html()
    assert "<b>net</b>" not in text and text.count("class=pair") >= 3 and "This report has no such section." in text
    assert text.count("The same for both.") == 2  # the data, and columns and labels
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names)), "no two elements share an identifier"


def test_two_networks_are_examined_alike_and_saved_side_by_side(tmp_path, monkeypatch):
    line = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    monkeypatch.setattr(
        import_module("gnomon.examination.compare"), "examine", partial(examine, examination_steps=STEPS[:2])
    )
    both = compare({"line": line, "cnn": cnn()}, TRAIN, TEST, fit=False, budget=1, clock=FakeClock(0.01))
    path = both.save(tmp_path / "deep" / "compare.html")
    data = json.loads(re.search(r'id="gnomon-data">(.*?)</script>', path.read_text("utf-8"), re.S)[1])
    assert [page["title"] for page in data["pages"]] == ["Examination of line", "Examination of cnn"]
    assert len(both.to_dict()["networks"]) == 2 and both.left.manifest["seed"] == both.right.manifest["seed"]
    with pytest.raises(gnomon.InputError, match="two networks by name"):
        compare({"one": line}, TRAIN)


def test_a_summary_for_pull_requests(result):
    text = result.to_markdown()
    assert text.startswith("### ") and "Examination of a \\<b\\>net\\</b\\>" in text
    assert text.count("\n| ") >= 13 and "<details>" in text


@pytest.mark.parametrize(
    "kinds, found",
    [
        (("problem",), ()),
        (("warning",), ("a",)),
        (("note",), ("a", "b")),
        (("b",), ("b",)),
        (("b", "problem"), ("b",)),
        ((), ()),
    ],
)
def test_findings_by_kind_or_level(kinds, found):
    rows = (
        FindingKind("a", Level.WARNING, "It is loud.", "Mend it."),
        FindingKind("b", Level.NOTE, "It hums.", "Mend it."),
    )
    loud = tuple(map(Finding, rows))
    result = Examination("net", (Section("k", "t", "q", PageContent("x", loud)),), {})
    assert tuple(f.kind for f in result.matching(kinds)) == found


def test_the_module_is_left_as_found():
    net = cnn().train()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    state = torch.get_rng_state()
    examined(net, TRAIN, budget=1, fit=True)
    assert net.training and all(p.grad is None for p in net.parameters()) and torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())


def planted(level):
    """A step that gives one finding of this level."""

    class Planted(AbstractStep):
        key, title, question, share, gives = "planted", "Planted", "q", 1.0, str

        def run(self, subject, products, context):
            loud = Finding(FindingKind("planted", level, "It is loud.", "Mend it."))
            return StepResult(PageContent("An answer.", (loud,)), "product")

    return Planted()


@pytest.mark.parametrize("planted_level", list(Level))
def test_status_verdict_advice_and_health_cannot_contradict_each_other(planted_level, tmp_path, monkeypatch):
    """A red section, an unhealthy verdict and exit code 1 of --strict come together or not at all."""
    result = examine(cnn, TRAIN, examination_steps=(planted(planted_level),), name="net")
    level = planted_level.name.lower()
    assert result.section("planted").status == level and result.findings[0].level.name.lower() == level
    assert result.healthy == (level != "problem") == ("no problem found" in result.verdict)
    assert ("1 problem found. It is loud." in result.verdict) == (level == "problem")
    assert result.to_dict()["healthy"] == result.healthy and result.to_dict()["findings"][0]["level"] == level
    assert "Mend it." in str(result) and result.products[str] == "product"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["gnomon", "examine", "--strict"])
    monkeypatch.setattr("gnomon.examination.examine", lambda *args, **options: result)
    with pytest.raises(SystemExit) as end:
        cli.run()
    assert (end.value.code or 0) == (1 if level == "problem" else 0)
    assert f'<span class="badge {level}">' in (tmp_path / "report.html").read_text("utf-8")


def test_findings_come_from_their_sections_the_most_serious_first():
    result = examine(cnn, (1000 * TRAIN[0], TRAIN[1]), budget=2, fit=False, clock=FakeClock(0.01))
    assert (
        result.findings == most_serious_first(result.findings) and result.section_of(result.findings[0]).key == "data"
    )
    assert sorted(map(str, result.findings)) == sorted(str(f) for s in result.sections for f in s.findings)
    for section in result.sections:
        if section.state == "answered":
            found = (*section.findings, *section.stated_elsewhere)
            worst = max((f.level.name.lower() for f in found), key=("note", "warning", "problem").index, default="good")
            assert section.status == worst


def test_images_of_bytes_are_examined_and_the_report_says_what_was_done():
    images = (16 * TRAIN[0][:, 0]).clamp(0, 255).byte()
    result = examine(cnn, (images, TRAIN[1]), fit=False, examination_steps=STEPS[:2])
    assert "uint8 inputs were scaled to [0, 1] and a channel axis was added." in result.section("data").answer


@pytest.mark.parametrize(
    "net, train, words",
    [
        ("text", TRAIN, "a module or a function"),
        (lambda: 3, TRAIN, "returned a int"),
        (lambda width: cnn(), TRAIN, "without arguments"),
        (cnn, TRAIN[0], "inputs with targets"),
        (cnn, (TRAIN[0], TRAIN[1][:-1]), "a target for each input"),
        (cnn, (TRAIN[0], TRAIN[1].float()), r"y\.long\(\)"),
        (cnn, (TRAIN[0], TRAIN[1] + 5), "one output for each class"),
        (cnn, (TRAIN[0], TRAIN[1] - 1), "classes 0, 1, 2"),
        (cnn, (TRAIN[0] * torch.where(torch.arange(120) == 7, torch.nan, 1.0)[:, None, None, None], TRAIN[1]), "example 7 of x contains NaN or infinity"),
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


def _asked(*late):
    keys = ("data", "wiring", "columns", "signal", "kernel", "limit")
    return Examination(
        "net",
        tuple(
            Section(k, k, "?", PageContent("."), "late" if k in late else "answered", essential=k != "limit")
            for k in keys
        ),
        {},
    )


@pytest.mark.parametrize(
    "late, enough, words",
    [((), True, "net: no problem found."),
     (("limit",), True, "net: no problem found. 1 question did not fit into the budget."),
     (("wiring", "limit"), None, "net: too little time to decide. 2 of 6 questions did not fit into the budget.")],
)  # fmt: skip
def test_nobody_is_called_healthy_for_lack_of_time(late, enough, words):
    result = _asked(*late)
    assert result.verdict == words and result.healthy is enough and (result.inconclusive is None) is bool(enough)
    assert [s.status for s in result.sections if s.key in late] == ["skipped"] * len(late)
