"""A page says what it was given, escapes what it was given, and carries its data."""

import json
import re

import pytest

from gnomon.report import Advice, Definition, Hypothesis, Page, Section, Value, figure, html

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def page(text="plain"):
    drawn = figure("line", text, lambda axes: axes.plot([0, 1], [1, 2], label=text))
    section = Section(
        "one", text, text, text, "fault", (Value(text, float("inf"), 1.0, float("nan"), meaning=text),), (drawn,),
        (Definition(text, text, "key"),), (Hypothesis(text, None, text), Hypothesis(text, False)), 0.5, {"a": [float("nan")]},
    )  # fmt: skip
    return Page(text, (text,), (section,), (Advice(text, text, "one", 0.9),), {"command": text}, text)


def embedded(text):
    return json.loads(re.search(r'id="gnomon-data">(.*?)</script>', text, re.S)[1])


def test_text_is_never_markup():
    text = html(page(EVIL))
    assert text.count("<script") == 1 and "<img" not in text
    assert embedded(text)["title"] == EVIL


def test_the_data_are_json_also_where_numbers_are_not_finite():
    found = embedded(html(page()))["sections"][0]
    assert found["values"][0]["value"] == "inf" and found["data"] == {"a": ["nan"]}


def test_nothing_points_outside():
    text = html(page())
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    assert "@import" not in text and "url(http" not in text


def test_drawings_do_not_share_identifiers():
    two = [figure(name, "c", lambda axes: axes.plot([0, 1], [0, 1])).svg for name in ("first", "second")]
    names = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in two]
    assert names[0] and not names[0] & names[1]


def test_drawings_take_the_colors_of_the_page():
    svg = figure("a", "b", lambda axes: axes.plot([0, 1], [0, 1], color="#b5367a")).svg
    assert "var(--first)" in svg and "currentColor" in svg and "#010203" not in svg


@pytest.mark.parametrize("value, words", [(0.5, "0.5"), (12345678, "12,345,678"), (1e-9, "1.00e-09"), ("x", "x")])
def test_numbers_are_short(value, words):
    assert str(Value("v", value)) == words
