"""A page says what it was given, escapes what it was given, and carries its data."""

import json
import re

import pytest
import torch
from matplotlib.figure import Figure

from gnomon.core.results import (
    Axis,
    Bars,
    Finding,
    FindingKind,
    Hypothesis,
    Interval,
    Level,
    Line,
    Plot,
    QuantityDefinition,
    RangeMeter,
    Scatter,
    Value,
)  # fmt: skip
from gnomon.core.results.drawing import draw
from gnomon.core.results.look import COLORS
from gnomon.core.results.svg import plots_svg
from gnomon.findings.data import TRAIN_TEST_SHIFT
from gnomon.findings.network import FROZEN
from gnomon.report import Page, PageContent, Section, page_html
from gnomon.report.page import PageTile
from gnomon.report.shown_example import show_example

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def plot(text="line"):
    return Plot(text, (Line(text, [0, 1], [1, 2]), Line("b", [0, 1], [2, 1])), Axis(text), Axis(text), text)


def section(key="one", text="plain", levels=(Level.PROBLEM,), **options):
    content = PageContent(
        text, tuple(Finding(FindingKind(f"kind-{i}", level, text, text)) for i, level in enumerate(levels)),
        (Value(text, float("inf"), Interval(1.0, float("nan")), meaning=text),), (plot(text),),
        (QuantityDefinition(text, text, "jacot2018neural"),), (Hypothesis(text, None, text), Hypothesis(text, False)),
        {"a": [float("nan")]},
    )  # fmt: skip
    return Section(key, text, text, content, seconds=0.5, **options)


def page(text="plain"):
    return Page(text, text, (section(text=text),), {"command": text}, text)


def embedded(text):
    return json.loads(re.search(r'id="gnomon-data">(.*?)</script>', text, re.S)[1])


def test_text_is_never_markup():
    text = page_html(page(EVIL))
    assert text.count("<script") == 2 and "<img" not in text, "the data and the script of the page itself"
    assert embedded(text)["title"] == EVIL


def test_the_data_are_json_also_where_numbers_are_not_finite():
    data = embedded(page_html(page()))["sections"][0]
    assert data["values"][0]["value"] == "inf" and data["data"] == {"a": ["nan"]}
    assert data["plots"][0]["marks"][0] == {
        "type": "line",
        "predicted": False,
        "name": "plain",
        "x": [0.0, 1.0],
        "y": [1.0, 2.0],
        "style": "solid",
        "color": None,
    }


def test_nothing_points_outside():
    text = page_html(page())
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', re.sub(r'xmlns(:\w+)?="[^"]*"', "", text))
    assert "@import" not in text and "url(http" not in text


def test_drawings_do_not_share_identifiers_and_take_the_colors_of_the_page():
    text = page_html(Page("p", "", (section("one"), section("two")), {}))
    one, two = re.findall(r"<svg.*?</svg>", text, re.S)
    names = [set(re.findall(r'\bid="([^"]+)"', drawing)) for drawing in (one, two)]
    assert names[0] and not names[0] & names[1]
    assert "var(--first" in one and "var(--second" in one and "#010203" not in one
    for color in ("first", "second", "third", "fourth", "fifth"):
        assert text.count(f"--{color}: #") == 2, "in the light and in the dark scheme"


@pytest.mark.parametrize(
    "levels, status",
    [((), "good"), ((Level.NOTE,), "note"), ((Level.NOTE, Level.WARNING), "warning"),
     ((Level.PROBLEM, Level.WARNING), "problem"), ((Level.PROBLEM,), "problem")],
)  # fmt: skip
def test_the_status_of_a_section_is_the_level_of_its_most_serious_finding(levels, status):
    assert section(levels=levels).status == status
    assert f'<span class="badge {status}">' in page_html(Page("p", "", (section(levels=levels),), {}))


@pytest.mark.parametrize("state", ["skipped", "failed"])
def test_a_section_without_an_answer_says_so(state):
    assert Section("a", "b", "c", PageContent("no time"), state).status == state


def test_findings_are_ranked_by_the_table_and_link_to_their_section():
    shift = Finding(TRAIN_TEST_SHIFT, "test", {"auc": 0.9})
    broken = Finding(FROZEN)
    one = section("one", levels=(Level.WARNING, Level.PROBLEM))
    two = Section("two", "t", "q", PageContent("x", (shift, broken)))
    whole = Page("p", "", (one, two), {})
    named = [(key, f.kind) for key, f in whole.findings]
    assert named == [("two", "frozen"), ("two", "train-test-shift"), ("one", "kind-1"), ("one", "kind-0")]
    listed = whole.to_dict()["findings"]
    assert [(f["section"], f["level"]) for f in listed[1:]] == [
        ("two", "problem"),
        ("one", "problem"),
        ("one", "warning"),
    ]
    assert re.search(r"<ol class=findings>\n<li data-finding=0>.*?#two.*?#one.*?</ol>", page_html(whole), re.S)


def test_references_are_printed_in_full_and_not_as_keys():
    text = page_html(page()).split('id="gnomon-data"')[0]
    words = "Jacot, Gabriel, Hongler (2018). Neural Tangent Kernel: Convergence and Generalization in Neural Networks."
    assert f"{words} Advances in Neural Information Processing Systems. arXiv:1806.07572." in text
    assert "jacot2018neural" not in re.sub(r'(?:href|id)="[^"]*"', "", text)


def test_the_traceback_of_a_failure_is_in_the_data_and_not_on_the_page():
    failed = Section("a", "b", "c", PageContent("It failed."), "failed", traceback="Traceback: line 3")
    text = page_html(Page("p", "", (failed,), {}))
    assert embedded(text)["sections"][0]["traceback"] == "Traceback: line 3"
    assert "Traceback" not in text.split('id="gnomon-data"')[0]


def test_the_first_screen_has_the_verdict_then_five_findings_then_plots():
    levels = (Level.PROBLEM,) * 4 + (Level.WARNING,) * 2 + (Level.NOTE,)
    parts = (section("one", levels=levels), section("two", levels=()))
    whole = Page(
        "p", "Seven things.", parts, {}, tiles=(PageTile("two", "A picture", plot()), PageTile("one", "B", plot()))
    )
    text = page_html(whole).split("<section")[0]
    first, folded = text.split("<details>")
    assert first.index("Seven things.") < first.index("class=fix")
    assert first.count("class=fix") == 5 and folded.count("class=fix") == 2 and "2 more" in folded
    assert text.count("<figure") == 3 and text.count('class="large-figure"') == text.count('class="phone-figure"') == 1


def test_sections_fold_their_tables_and_those_without_findings_are_folded_to_one_line():
    text = page_html(Page("p", "", (section("one"), section("two", levels=())), {}))
    part = text[text.index('<section id="one"') :]
    assert part.index("class=answer") < part.index("<figure") < part.index("<details>") < part.index("<table>")
    assert re.findall(r'<details class="part (\w+)" data-key="(\w+)"( open)?>', text) == [
        ("problem", "one", " open"),
        ("good", "two", ""),
    ]


def test_sections_are_ordered_by_findings_and_then_by_importance():
    parts = [section(key, levels=levels) for key, levels in (("a", ()), ("b", (Level.WARNING,)), ("c", ()), ("d", ()))]
    whole = Page("p", "", (*parts, section("e", levels=(Level.PROBLEM,))), {}, order=("d", "a"))
    assert [s.key for s in whole.by_importance] == ["e", "b", "d", "a", "c"]


def test_the_mark_of_a_section_follows_its_sentence():
    words = {}
    for name, content, state in (
        ("good", PageContent("Fine."), "answered"),
        ("worse", PageContent("A simple model is better.", good_news=False), "answered"),
        ("unsure", PageContent("Too short."), "unsure"),
    ):
        text = page_html(Page("p", "", (Section(name, name, "?", content, state),), {}))
        words[name] = re.search(r'</h2> <span class="badge \w+">([^<]+)<', text)[1]
    assert words == {"good": "good", "worse": "note", "unsure": "cannot tell"}


def test_the_words_of_a_picture_keep_their_digits():
    bars = Bars("share", ["a"], [0.034])
    text = plots_svg((Plot("Shares", (bars, RangeMeter("at", 0.538, (0.1, 1.0), ("low",))), Axis("share")),), "shares")
    assert ">at 0.538<" in text and not re.search(r'="[^"]*\d\.\d{3,}', text)


def test_what_was_not_examined_stands_at_the_end_each_reason_once():
    skipped = [Section(key, key.upper(), "?", PageContent("No images."), "skipped") for key in ("shifts", "mirrors")]
    text = page_html(
        Page("p", "", (section("one"), *skipped, Section("g", "G", "?", PageContent("No time."), "late")), {})
    )
    part = text[text.index("<section id=not-examined>") : text.index('id="gnomon-data"')]
    assert part.count("No images.") == 1 and '<b id="shifts">SHIFTS</b>, <b id="mirrors">MIRRORS</b>' in part
    assert '<a href="#not-examined"><span class="mark skipped">–</span> 3 not examined</a>' in text
    assert text.count("<section") == 4  # one, not examined, references, how it was made


def test_the_first_screen_says_what_was_looked_at_and_the_headline_in_place_of_the_verdict():
    whole = Page("p", "A verdict.", (), {}, headline="In one sentence.", facts=("12 parameters", "3 <b> steps"))
    text = page_html(whole).split('id="gnomon-data"')[0]
    assert "<span>12 parameters</span> <span>3 &lt;b&gt; steps</span>" in text
    assert "In one sentence." in text and "A verdict." not in text


def test_curves_that_belong_together_have_one_color():
    marks = (Scatter("measured", [1], [1], 1), Line("predicted", [1, 2], [1, 2], "solid", 1))
    ax = draw(Plot("Loss", marks), Figure().subplots())
    assert {line.get_color() for line in ax.lines} == {COLORS[1]}


def test_right_and_wrong_answers_are_classifier_auc_and_series_are_drawn():
    wave = torch.sin(torch.arange(40.0))[:, None]
    shown = tuple(show_example(wave, i, label="3", answer=a, is_correct=a == "3") for i, a in enumerate("38"))
    text = page_html(Page("p", "", (Section("a", "b", "c", PageContent("x", exhibits=shown)),), {}))
    assert text.count("data:image/png") == 4  # on the page and in its data
    assert "label 3, right" in text and "label 3, answer <b class=problem>8</b>" in text
    assert not show_example(torch.rand(14, 6), 0, label="", answer="").picture  # nodes with features are no picture


def test_what_the_answer_says_is_not_said_again():
    loud = Finding(FindingKind("loud", Level.PROBLEM, "It is loud.", "Mend it."))
    text = page_html(Page("p", "", (Section("a", "b", "c", PageContent(loud.message, (loud,), stated=(loud,))),), {}))
    part = text[text.index('<section id="a"') : text.index('id="gnomon-data"')]
    assert part.count("It is loud.") == 1 and part.count("Mend it.") == 1


def test_terms_are_explained_a_tap_away_and_once_in_a_section():
    content = PageContent(
        "Its tangent kernel, the tangent kernel, has modes; `sharpness` in code, cross-entropy, eval mode."
    )
    text = page_html(Page("p", "", (Section("a", "b", "c", content), Section("d", "e", "f", content)), {}))
    buttons = re.findall(r'popovertarget="([^"]+)">([^<]+)</button>', text)
    assert [word for _, word in buttons] == ["tangent kernel", "modes"] * 2
    for name, _ in buttons:
        assert text.count(f'popover id="{name}"') == 1
    assert "<code>sharpness</code>" in text


def test_examples_are_shown_as_pictures_rows_and_tokens():
    inputs = (torch.rand(1, 8, 8), torch.rand(3, 90, 40), torch.arange(40), torch.rand(20), {"ids": torch.arange(3)})
    shown = tuple(show_example(x, i, label="<3>", answer="8", note="99% sure") for i, x in enumerate(inputs))
    assert [bool(e.picture) for e in shown] == [True, True, False, False, False]
    assert [len(e.tokens) for e in shown] == [0, 0, 32, 0, 3] and shown[3].hidden == 8 and shown[2].hidden == 8
    text = page_html(Page("p", "", (Section("a", "b", "c", PageContent("x", exhibits=shown)),), {}))
    assert text.count('<img src="data:image/png;base64,') == 2 and "label &lt;3&gt;, answer 8" in text
    assert "and 8 more" in text and "<i>31</i>" in text


def test_a_picture_is_what_was_given():
    from base64 import b64decode
    from io import BytesIO

    import numpy as np
    from PIL import Image

    x = torch.tensor([[0.0, 1.0], [0.5, 0.25]]).repeat_interleave(2, 0).repeat_interleave(2, 1)
    found = Image.open(BytesIO(b64decode(show_example(x, 0, label="", answer="").picture.split(",")[1])))
    assert np.array(found)[::2, ::2].tolist() == [[0, 255], [128, 64]]
    large = show_example(torch.rand(3, 300, 100), 0, label="", answer="")
    assert Image.open(BytesIO(b64decode(large.picture.split(",")[1]))).size == (21, 64)
