"""A page says what it was given, escapes what it was given, and carries its data."""

import json
import re

import pytest

from gnomon.core.results import Axis, Definition, Finding, Hypothesis, Interval, Line, Plot, Value
from gnomon.report import Content, Page, Section, html

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def plot(text="line"):
    return Plot(text, (Line(text, [0, 1], [1, 2]), Line("b", [0, 1], [2, 1])), Axis(text), Axis(text), text)


def section(key="one", text="plain", severities=(0.9,), **options):
    content = Content(
        text, tuple(Finding(f"kind-{s}", text, text, s) for s in severities),
        (Value(text, float("inf"), Interval(1.0, float("nan")), meaning=text),), (plot(text),),
        (Definition(text, text, "jacot2018neural"),), (Hypothesis(text, None, text), Hypothesis(text, False)),
        {"a": [float("nan")]},
    )  # fmt: skip
    return Section(key, text, text, content, seconds=0.5, **options)


def page(text="plain"):
    return Page(text, (text,), (section(text=text),), {"command": text}, text)


def embedded(text):
    return json.loads(re.search(r'id="gnomon-data">(.*?)</script>', text, re.S)[1])


def test_text_is_never_markup():
    text = html(page(EVIL))
    assert text.count("<script") == 1 and "<img" not in text
    assert embedded(text)["title"] == EVIL


def test_the_data_are_json_also_where_numbers_are_not_finite():
    data = embedded(html(page()))["sections"][0]
    assert data["values"][0]["value"] == "inf" and data["data"] == {"a": ["nan"]}
    assert data["plots"][0]["marks"][0] == {
        "type": "line",
        "name": "plain",
        "x": [0.0, 1.0],
        "y": [1.0, 2.0],
        "style": "solid",
    }


def test_nothing_points_outside():
    text = html(page())
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    assert "@import" not in text and "url(http" not in text


def test_drawings_do_not_share_identifiers_and_take_the_colors_of_the_page():
    text = html(Page("p", (), (section("one"), section("two")), {}))
    one, two = re.findall(r"<svg.*?</svg>", text, re.S)
    names = [set(re.findall(r'\bid="([^"]+)"', drawing)) for drawing in (one, two)]
    assert names[0] and not names[0] & names[1]
    assert "var(--first" in one and "var(--second" in one and "#010203" not in one
    for color in ("first", "second", "third", "fourth", "fifth"):
        assert text.count(f"--{color}: #") == 2, "in the light and in the dark scheme"


@pytest.mark.parametrize(
    "severities, status",
    [((), "good"), ((0.1,), "note"), ((0.1, 0.3), "warning"), ((0.9, 0.3), "fault"), ((0.5,), "fault")],
)
def test_the_status_of_a_section_is_the_level_of_its_gravest_finding(severities, status):
    assert section(severities=severities).status == status
    assert f'<span class="badge {status}">' in html(Page("p", (), (section(severities=severities),), {}))


@pytest.mark.parametrize("state", ["skipped", "failed"])
def test_a_section_without_an_answer_says_so(state):
    assert Section("a", "b", "c", Content("no time"), state).status == state


def test_findings_are_ranked_by_severity_and_link_to_their_section():
    whole = Page("p", (), (section("one", severities=(0.3, 0.9)), section("two", severities=(0.95, 0.3))), {})
    assert [(key, f.severity) for key, f in whole.findings] == [("two", 0.95), ("one", 0.9), ("one", 0.3), ("two", 0.3)]
    listed = whole.to_dict()["findings"]
    assert [(f["section"], f["level"]) for f in listed[1:3]] == [("one", "fault"), ("one", "warning")]
    assert re.search(r"<ol>\n<li>.*?#two.*?</ol>", html(whole), re.S)


def test_references_are_printed_in_full_and_not_as_keys():
    text = html(page()).split('id="gnomon-data"')[0]
    assert "Jacot, Gabriel, Hongler (2018). Neural Tangent Kernel" in text and "jacot2018neural" not in text


def test_the_traceback_of_a_failure_is_in_the_data_and_not_on_the_page():
    failed = Section("a", "b", "c", Content("It failed."), "failed", traceback="Traceback: line 3")
    text = html(Page("p", (), (failed,), {}))
    assert embedded(text)["sections"][0]["traceback"] == "Traceback: line 3"
    assert "Traceback" not in text.split('id="gnomon-data"')[0]
