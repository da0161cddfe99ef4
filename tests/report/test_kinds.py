"""Reports of twelve kinds of model in a real browser, at three widths, in light, dark and on paper."""

import functools
import os
import shutil
import subprocess
from math import isfinite, log10
from pathlib import Path

import pytest

from gnomon.core.results import Bars, Image, Line, RangeMeter, Scatter
from gnomon.report.plot_selection import shows_something
from tests.browser import MISSING, OVERFLOW, asked_for, resize
from tests.report.kinds import KINDS
from tests.shares import in_full

pytest.importorskip("selenium", reason="selenium is not installed")

FAST = ["regression"]
MAX_HEIGHT = 6500
"""Largest height of a report at 1400 pixels."""
SCHEMES = ("light", "dark", "print")
AXE = """const done = arguments[arguments.length - 1];
  document.querySelectorAll('details').forEach(one => one.open = true);
  axe.run({resultTypes: ['violations']}).then(found => done(found.violations.map(
    v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join('; '))))"""
FIRST = """const bottom = one => one ? one.getBoundingClientRect().bottom : 0;
  const board = document.querySelector('.board');
  return {title: document.querySelector('h1').textContent, facts: document.querySelectorAll('.facts span').length,
    verdict: document.querySelector('.verdict p').textContent, advice: board.querySelectorAll('.fix, .calm').length,
    large: board.querySelectorAll('.large-figure svg').length, figures: board.querySelectorAll('figure svg').length,
    worst: board.querySelectorAll('.gallery li').length, bottom: bottom(board)}"""


@functools.cache
def examined(kind):
    return KINDS[kind]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture
def report(request, folder):
    """An examination and its saved page; each page is written once."""
    result, path = examined(request.param), folder / f"{request.param}.html"
    return result, path if path.exists() else result.save(path)


def axe_source():
    """The text of axe-core, a checker of accessibility, if it is installed."""
    places = [os.environ.get("GNOMON_AXE", ""), "node_modules/axe-core/axe.min.js"]
    if shutil.which("npm"):
        found = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False).stdout.strip()
        places.append(f"{found}/axe-core/axe.min.js")
    return next((Path(place).read_text("utf-8") for place in places if place and Path(place).is_file()), None)


def load(browser, path, width, scheme):
    resize(browser, width, "dark" if scheme == "dark" else "light")
    if scheme == "print":
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.get_log("performance")
    browser.get(path.as_uri())


every_kind = pytest.mark.parametrize("report", in_full(list(KINDS), except_for=FAST), indirect=True)


@MISSING
@every_kind
def test_nothing_goes_wrong_and_nothing_sticks_out(browser, report):
    for width in (390, 820, 1400):
        for scheme in SCHEMES:
            load(browser, report[1], width, scheme)
            assert browser.get_log("browser") == [] and asked_for(browser) == []
            assert browser.execute_script(OVERFLOW) <= 0, (width, scheme)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@MISSING
@every_kind
def test_the_first_screen_is_complete(browser, report):
    result = report[0]
    load(browser, report[1], 1400, "light")
    first = browser.execute_script(FIRST)
    assert result.name in first["title"] and first["facts"] >= 2 and first["verdict"] and first["advice"] >= 1
    plots = [p for s in result.sections if s.status != "skipped" for p in s.content.plots if shows_something(p)]
    assert first["large"] == (1 if plots else 0) or not result.page().tiles
    examples = result.section("examples").content.exhibits or result.section("samples").content.exhibits
    assert first["worst"] == min(6, len(examples)) and first["bottom"] < 1500
    assert browser.execute_script("return document.documentElement.scrollHeight") <= MAX_HEIGHT
    if result.section("training").state == "answered":
        ids = [tile.plot.id for tile in result.page().tiles if tile.plot is not None]
        assert {"theory-and-measurement", "loss"} & set(ids)


@MISSING
@every_kind
def test_everybody_can_read_it(browser, report):
    axe = axe_source()
    if axe is None:
        pytest.skip("axe-core is not installed (npm install axe-core, or GNOMON_AXE=path of axe.min.js)")
    for width, scheme in ((390, "light"), (1400, "light"), (1400, "dark")):
        load(browser, report[1], width, scheme)
        browser.execute_script(axe)
        assert browser.execute_async_script(AXE) == [], (width, scheme)


@every_kind
def test_every_plot_has_units_a_caption_and_a_sensible_range(report):
    shown = [(s.key, p) for s in report[0].sections for p in s.content.plots if shows_something(p)]
    for key, plot in shown:
        where = f"{key}: {plot.title}"
        assert plot.title and plot.caption.endswith((".", "?")), where
        marks = [mark for mark in plot.marks if shows_something(type(plot)("", (mark,)))]
        if any(isinstance(mark, Bars | RangeMeter) for mark in marks):
            assert plot.x.label, where
        elif not any(isinstance(mark, Image) for mark in marks):
            assert plot.x.label and plot.y.label, where
        for mark in marks:
            if isinstance(mark, RangeMeter):
                assert mark.edges[0] <= mark.value <= mark.edges[-1], where
            if isinstance(mark, Line | Scatter):
                assert sum(map(isfinite, mark.y)) > 1, where


@every_kind
def test_at_chance_nothing_that_needs_a_trained_network_is_good(report):
    result = report[0]
    chance = {"chance-level", "untrained"} & {
        f.kind for s in result.sections for f in (*s.findings, *s.stated_elsewhere)
    }
    if not chance:
        return
    for section in result.sections:
        assert section.status != "good" or "decisions" not in section.rests_on, section.title


def test_a_nearly_constant_loss_does_not_fill_its_axis():
    from matplotlib.figure import Figure

    from gnomon.core.results import Axis, Plot
    from gnomon.core.results.drawing import draw

    flat = [2.30200, 2.30245, 2.30210]
    for log in (False, True):
        ax = draw(Plot("Loss", (Line("a", [1, 2, 3], flat),), Axis("step"), Axis("loss", log=log)), Figure().subplots())
        low, high = ax.get_ylim()
        assert (log10(high / low) if log else (high - low) / high) >= 0.045
        assert low < min(flat) and max(flat) < high
