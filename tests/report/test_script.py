"""The script of a report: small, correct for node, and does what its buttons say."""

import shutil
import subprocess
from importlib import resources

import pytest

from gnomon.core.results import Axis, Bars, Finding, Image, Line, Plot, Scatter
from gnomon.findings.data import INPUT_SCALE
from gnomon.report import Page, PageContent, Section, page_html
from gnomon.report.page import PageTile
from gnomon.report.shown_example import ShownExample
from tests.browser import MISSING, resize

MAX_BYTES = 60_000
SCRIPT = resources.files("gnomon.report") / "page.js"


def test_the_script_is_small_and_asks_for_nothing():
    text = SCRIPT.read_text("utf-8")
    assert len(text.encode()) <= MAX_BYTES
    assert not [word for word in ("fetch(", "XMLHttpRequest", "import(", "eval(", "innerHTML", "</") if word in text]


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node_reads_the_script():
    with resources.as_file(SCRIPT) as path:
        subprocess.run(["node", "--check", str(path)], check=True)


@pytest.fixture
def opened(browser, tmp_path):
    loss = Plot(
        "Loss", (Scatter("measured", [1, 10, 100], [2.0, 1.0, 0.5], 0), Line("predicted", [1, 100], [2.0, 0.4], color=1)),
        Axis("step", other_unit=("seconds", 0.5)), Axis("loss"), "Loss.", "loss",
    )  # fmt: skip
    bars = Plot("Sizes", (Bars("size", ["a, b", "c"], [3, 1]),), Axis("parameters"), caption="Sizes.", id="sizes")
    matrix = Plot("Confusion", (Image("examples", [[3, 1], [0, 4]], "ab", "ab", written=True),), Axis("answer"),
                  Axis("label"), "Matrix.", "confusion")  # fmt: skip
    worst = tuple(ShownExample(n, label, "x", features=("1",)) for n, label in ((7, "b"), (3, "c"), (5, "a")))
    loud = Finding(INPUT_SCALE, "inputs", {"size": 1000.0})
    one = Section(
        "training", "Training", "How?", PageContent("So.", (loud,), plots=(loss, bars, matrix), exhibits=worst)
    )
    two = Section("data", "The data", "What?", PageContent("Fine."))
    page = Page("A net", "Fine.", (one, two), {}, tiles=(PageTile("training", "Loss", loss),),
                proofs={"input-scale": "1 % -> 90 %"})  # fmt: skip
    path = tmp_path / "page.html"
    path.write_text(page_html(page), "utf-8")
    resize(browser, 1400)
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    return browser


POINT = """const svg = document.querySelectorAll('#figure-training-%d svg')[0], box = svg.getBoundingClientRect();
  const at = (x, y) => svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x * box.width,
    clientY: box.top + y * box.height})); at(%s, %s); return document.querySelector('#figure-training-%d .tip').textContent"""
PRESS = """const press = (text) => [...document.querySelectorAll('#figure-training-0 .tools button')]
  .find(b => b.textContent === text).click(); """


@MISSING
def test_values_are_shown_on_hover(opened):
    assert opened.execute_script(POINT % (0, 0.98, 0.6, 0)) == "measured: loss 0.5 at step 100"
    assert opened.execute_script(POINT % (1, 0.5, 0.3, 1)) == "a, b: parameters 3"
    assert opened.execute_script(POINT % (2, 0.9, 0.2, 2)) == "label a, answer b: 1 examples"


@MISSING
def test_values_are_reached_by_keyboard(opened):
    keys = """const svg = document.querySelector('#figure-training-0 svg'); svg.focus();
      for (const key of arguments[0]) svg.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
      return [document.activeElement === svg, document.querySelector('.live').textContent]"""
    assert opened.execute_script(keys, ["ArrowRight", "ArrowRight"]) == [True, "measured: loss 1 at step 10"]


@MISSING
def test_axes_units_and_curves_can_be_changed(opened):
    scale = "const s = document.querySelector('#figure-training-0 svg'); return [s.dataset.x, s.dataset.y].map(w => w.split(' ')[2])"
    assert opened.execute_script(scale) == ["linear", "linear"]
    assert opened.execute_script(PRESS + "press('log y'); press('log x');" + scale) == ["log", "log"]
    words = "return document.querySelector('#figure-training-0 svg').textContent"
    assert "seconds" in opened.execute_script(PRESS + "press('seconds');" + words)
    count = "return document.querySelectorAll('#figure-training-0 svg circle').length"
    assert opened.execute_script(count) == 3
    assert opened.execute_script(PRESS + "press('measured');" + count) == 0
    assert opened.get_log("browser") == []
    place = "const c = [...document.querySelectorAll('#figure-training-0 svg circle')].map(c => +c.getAttribute('cx')); return c"
    a, b, c = opened.execute_script(PRESS + "press('measured');" + place)
    assert b - a == pytest.approx(c - b), "decades have the same length on a logarithmic axis"


@MISSING
def test_a_plot_can_be_enlarged_and_put_back(opened):
    state = (
        "return [document.querySelectorAll('dialog figure').length, document.querySelectorAll('section figure').length]"
    )
    assert opened.execute_script(PRESS + "press('enlarge');" + state) == [1, 2]
    closed = "document.querySelector('dialog').dispatchEvent(new Event('close'));" + state
    assert opened.execute_script(closed) == [0, 3]


@MISSING
def test_examples_are_sorted_and_findings_and_numbers_copied(opened):
    sort = """const list = document.querySelector('section .gallery'), select = list.previousElementSibling.querySelector('select');
      select.value = arguments[0]; select.dispatchEvent(new Event('change'));
      return [...list.children].map(li => +li.dataset.number)"""
    assert opened.execute_script(sort, "number") == [3, 5, 7]
    assert opened.execute_script(sort, "label") == [5, 7, 3]
    assert opened.execute_script(sort, "most wrong") == [7, 3, 5]
    copy = """const seen = []; Object.defineProperty(navigator, 'clipboard', {value: {writeText: async t => seen.push(t)}});
      document.querySelectorAll('li[data-finding] .tools button').forEach(b => b.click());
      const click = HTMLAnchorElement.prototype.click;
      HTMLAnchorElement.prototype.click = function () { seen.push(this.download, decodeURIComponent(this.href)); };
      [...document.querySelectorAll('#figure-training-1 .tools button')].find(b => b.textContent === 'CSV').click();
      HTMLAnchorElement.prototype.click = click; return seen"""
    text, markdown, name, table = opened.execute_script(copy)
    assert text.startswith("problem (inputs): ") and "\nFix: " in text and text.endswith("Tried: 1 % -> 90 %")
    assert markdown.startswith("- **problem** `inputs`: ") and "\n  - Fix: " in markdown
    assert name == "sizes.csv" and table.endswith('series,parameters,y,upper\nsize,3,"a, b",\nsize,1,c,\n')


@MISSING
def test_the_list_of_sections_stays_visible_and_opens_folded_ones(opened):
    click = "document.querySelector('nav a[href=\"#data\"]').click(); return document.querySelector('details[data-key=data]').open"
    assert opened.execute_script(click)
    sticky = "return getComputedStyle(document.querySelector('nav')).position"
    assert opened.execute_script(sticky) == "sticky"
