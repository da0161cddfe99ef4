"""One vocabulary: every result speaks JSON without infinities, draws itself, prints one screen, and has a verdict."""

import json
from dataclasses import dataclass, field

import matplotlib
import pytest
import torch

from gnomon.core.results import (
    Axis,
    Band,
    Bars,
    Finding,
    FindingKind,
    Histogram,
    Hypothesis,
    Image,
    Interval,
    Level,
    Line,
    Plot,
    Reference,
    Result,
    Scatter,
    Value,
    to_json_value,
)  # fmt: skip
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.svg import plots_svg

matplotlib.use("agg")
MARKS = (
    Line("line", [1, 2, 3], [0.1, float("inf"), 10.0], "dashed"),
    Scatter("dots", [1, 2], [1.0, 2.0]),
    Band("band", [1, 2], [0.5, 0.6], [1.5, 1.6]),
    Histogram.of("counts", [1.0, 1.5, 2.0], bins=2),
    Reference("limit", 2.0),
)

FAST = FindingKind("fast", Level.PROBLEM, "It grows fast.", "Wait.")


@dataclass(frozen=True, slots=True)
class Growth(Result):
    times: torch.Tensor
    rate: float
    secret: torch.Tensor = field(metadata=HIDDEN_IN_JSON, default_factory=lambda: torch.zeros(3))

    @property
    def verdict(self):
        return f"Doubles every {self.rate} <steps>."

    @property
    def findings(self):
        return (Finding(FAST, evidence=(Value("rate", self.rate),)),)

    def plots(self):
        return (Plot("Growth", (Line("n", self.times, self.times),), Axis("t"), Axis("n", log=True)),)


@dataclass(frozen=True, slots=True)
class Number(Result):
    size: float
    name: str = "n"

    @property
    def verdict(self):
        return "A number."


GROWN = Growth(torch.tensor([1.0, 2.0, torch.inf]), 3.0)


def test_json_has_no_infinity_and_leaves_out_what_is_hidden():
    text = json.dumps(GROWN.to_dict(), allow_nan=False)
    assert json.loads(text)["times"] == [1.0, 2.0, "inf"] and "secret" not in text
    assert json.loads(text)["findings"][0]["evidence"][0]["value"] == 3.0
    assert to_json_value({1: (float("nan"), Level.PROBLEM, None, True)}) == {"1": ["nan", "problem", None, True]}


def test_text_is_the_verdict_and_one_line_for_each_field():
    assert str(GROWN) == "Doubles every 3.0 <steps>."
    assert repr(GROWN).splitlines()[0] == "Growth: Doubles every 3.0 <steps>."
    assert len(repr(Growth(torch.rand(10_000), 1.0))) < 400


def test_html_is_escaped_and_holds_the_picture():
    page = GROWN._repr_html_()
    assert "&lt;steps&gt;" in page and "<steps>" not in page and "<svg" in page and "It grows fast." in page


def test_pictures_are_drawn_on_given_axes_or_new_ones():
    from matplotlib import pyplot as plt

    ax = plt.subplots()[1]
    assert GROWN.plot(ax) is ax and ax.get_yscale() == "log"
    assert list(ax.lines[0].get_xdata()) == [1.0, 2.0]  # infinity is not drawn
    assert Number(2.0).plot().figure.get_suptitle() == Number(2.0).verdict  # the verdict is the title
    plt.close("all")


@pytest.mark.parametrize(
    "mark", [*MARKS, Bars("b", ("u", "v"), (1, 2)), Image("i", ((0, 1), (2, 3)))], ids=lambda m: m.name
)
def test_every_mark_is_drawn_and_told_as_data(mark):
    plot = Plot("All", (mark,), Axis("x", limits=(0, 5)), Axis("y"))
    assert plots_svg((plot,), "all").count("<svg") == 1
    assert (
        json.dumps(plot.to_dict(), allow_nan=False)
        and plot.to_dict()["marks"][0]["type"] == type(mark).__name__.lower()
    )


def test_a_finding_fills_the_templates_of_its_kind():
    row = FindingKind("dead", Level.PROBLEM, "{share:.0%} of '{where}' is dead.", "Revive '{where}'.", page="a.md")
    finding = Finding(row, "fc1", {"share": 0.5}, (Value("share", 0.5),), 0.01)
    assert str(finding) == "50% of 'fc1' is dead. Revive 'fc1'." and finding.level is Level.PROBLEM
    told = finding.to_dict()
    assert (told["kind"], told["level"], told["values"], told["page"]) == ("dead", "problem", {"share": 0.5}, "a.md")
    assert told["message"] == finding.message and told["fix"] == finding.fix and told["false_alarm"] == 0.01


def test_values_say_how_they_were_obtained():
    assert str(Value("norm", 2.0, obtained="upper bound")) == "at most 2"
    assert str(Value("share", 0.5, Interval(0.4, 0.6, 0.95), "estimate")) == "0.5 (0.4 to 0.6)"
    assert str(Hypothesis("it is wide", None)) == "it is wide: not checked"
