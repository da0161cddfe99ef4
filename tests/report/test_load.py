"""A saved examination comes back as it was; a file that is not one is refused."""

import json
from dataclasses import fields

import pytest
import torch

import gnomon
from gnomon.core.results import (
    Axis,
    Band,
    Bars,
    Finding,
    Histogram,
    Hypothesis,
    Image,
    Interval,
    Line,
    Plot,
    QuantityDefinition,
    RangeMeter,
    Reference,
    Scatter,
    Value,
)
from gnomon.examination import Examination
from gnomon.findings.data import INPUT_SCALE
from gnomon.report import PageContent, Section
from gnomon.report.shown_example import show_example
from gnomon.report.table import PageTable


def whole_section():
    marks = (
        Line("a", [1, 2], [float("inf"), 2], "dashed", 1, predicted=True), Scatter("b", [1], [2], 3),
        Band("c", [1, 2], [0, 1], [2, 3]), Bars("d", ["x", "y"], [1, 2]), Histogram("e", [0, 1, 2], [3, 4]),
        Image("f", [[1, 2], [3, 4]], ("r", "s"), ("t", "u"), written=True), Reference("g", 0.5, vertical=True),
        RangeMeter("h", 3.0, (1, 2, 4), ("low", "high")),
    )  # fmt: skip
    loud = Finding(INPUT_SCALE, "inputs", {"size": 1000.0}, (Value("rms", 1000.0),), 0.01)
    values = (
        Value("v", float("nan"), Interval(0.0, float("inf"), 0.95), "estimate", "ms", "why", "v"),
        Value("w", "tanh"),
    )
    plot = Plot("P", marks, Axis("x", True, (1.0, 2.0), ("seconds", 0.5)), Axis("y"), "See {this}.", "p")
    shown = show_example(torch.rand(1, 8, 8), 3, label="1", answer="2", is_correct=False)
    return Section(
        "k", "T", "Q?", PageContent("It is loud.", (loud,), values, (plot,), (QuantityDefinition("a", "b", "c"),),
        (Hypothesis("h", None, "so"),), {"a": [1.0]}, (shown,), (loud,), ("scaled",),
        (PageTable("L", ("a", "b"), (("x", 1.5), ("y", None)), ("b",)),), False),
        "unsure", 1.5, "Traceback", (loud,), True, ("examples",), "short", 3.0,
    )  # fmt: skip


def test_everything_that_a_page_shows_comes_back(tmp_path):
    result = Examination("net", (whole_section(),), {"seed": 0}, budget=30.0)
    again = Examination.load(result.save(tmp_path / "deep" / "report.json"))
    assert json.dumps(again.to_dict()) == json.dumps(result.to_dict())
    assert again.verdict == result.verdict and again.healthy == result.healthy
    assert again.save(tmp_path / "b.html").read_text("utf-8") == result.save(tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize("name", [f.name for f in fields(Section)])
def test_every_field_of_a_section_comes_back(name, tmp_path):
    section = whole_section()
    again = Examination.load(Examination("n", (section,), {}).save(tmp_path / "r.json")).sections[0]
    if name in ("content", "stated_elsewhere"):  # the words of findings are kept, not their row of the table
        again, section = (str([(f.message, f.fix, f.level) for f in s.findings]) for s in (again, section))
        assert again == section
    else:
        assert getattr(again, name) == getattr(section, name)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1, "sections": []}', "\x80"])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text, "latin-1")
    with pytest.raises(gnomon.InputError, match="examination"):
        Examination.load(path)


def test_a_notebook_shows_a_compact_card():
    card = Examination("a <b>net</b>", (whole_section(),), {})._repr_html_()
    assert "<iframe" not in card and "<script" not in card and "<b>net" not in card and len(card) < 60_000
