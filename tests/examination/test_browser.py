"""The report in a real browser: nothing goes wrong, nothing is asked for, nothing sticks out."""

from dataclasses import replace

import pytest

from gnomon.examination.compare import Comparison
from gnomon.report.plot_selection import shows_something
from tests.browser import MISSING, OVERFLOW, asked_for, resize
from tests.examination.patients import cnn, data, examined
from tests.shares import in_full

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
pytestmark = MISSING

EMPTY = """document.querySelectorAll('details').forEach(one => one.open = true);
  const other = innerWidth > 36 * 16 ? '.phone-figure' : '.large-figure';
  return [...document.querySelectorAll('figure svg')].filter(s => {
  const box = s.getBoundingClientRect(), figure = s.closest('figure');
  const elsewhere = figure.matches(other) && getComputedStyle(figure).display === 'none';
  return !s.querySelector('path') || !elsewhere && (box.width < 100 || box.height < 50)}).length"""
"""Number of drawings without lines or too small to see; of the two sizes of the first drawing, one is hidden on purpose.
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    train, test = data(120, 60)
    result = examined(cnn, train, test, budget=2)
    return result, result.save(tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", in_full([380, 820, 1400], except_for=[380, 1400]))
def test_the_page_is_whole(browser, report, width, scheme):
    result, path = report
    resize(browser, width, scheme)
    browser.get_log("performance")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    assert asked_for(browser) == []
    assert browser.execute_script(OVERFLOW) <= 0
    assert browser.execute_script(EMPTY) == 0
    figures = sum(shows_something(plot) for s in result.sections for plot in s.content.plots)
    first = sum(tile.plot is not None for tile in result.page().tiles)
    first += min(first, 1)  # The first of them is drawn in two sizes.
    assert browser.execute_script("return document.querySelectorAll('figure svg').length") == figures + first


def test_two_networks_are_beside_each_other_and_below_on_a_phone(browser, report, tmp_path):
    few = replace(report[0], sections=report[0].sections[:4])
    path = Comparison(few, few).save(tmp_path / "compare.html")
    columns = "return getComputedStyle(document.querySelector('.pair')).gridTemplateColumns.split(' ').length"
    for width, count in ((380, 1), (820, 2), (1400, 2)):
        resize(browser, width)
        browser.get(path.as_uri())
        assert browser.get_log("browser") == [] and browser.execute_script(OVERFLOW) <= 0
        assert browser.execute_script(EMPTY) == 0 and browser.execute_script(columns) == count


def test_a_tap_on_a_term_shows_its_meaning_and_a_small_picture_leads_to_its_section(browser, report):
    resize(browser, 380)
    browser.get(report[1].as_uri())
    meaning = """const button = document.querySelector('section .term'); button.click();
      const card = document.getElementById(button.getAttribute('popovertarget')); const box = card.getBoundingClientRect();
      return [getComputedStyle(card).display, box.left >= 0 && box.right <= innerWidth, card.textContent.length > 40]"""
    assert browser.execute_script(meaning) == ["block", True, True]
    missing = (
        "return [...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length"
    )
    assert browser.execute_script(missing) == 0
    images = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).length"
    assert browser.execute_script(images) == 0


def test_on_paper_all_is_unfolded_and_light(browser, report):
    resize(browser, 800, "dark")
    browser.get(report[1].as_uri())
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    table = "return document.querySelector('section details table').getBoundingClientRect().height"
    color = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(table) > 20 and browser.execute_script(color) == "rgb(255, 255, 255)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_dark_is_dark(browser, report):
    colors = []
    for scheme in ("light", "dark"):
        resize(browser, 800, scheme)
        browser.get(report[1].as_uri())
        colors.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert colors[0] != colors[1]


def test_the_checks_can_fail(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<div style='width:3000px'>x</div><figure><svg></svg></figure><script>throw 1</script><img src='x.png'>"
    )
    resize(browser, 380)
    browser.get(bad.as_uri())
    assert browser.execute_script(OVERFLOW) > 0 and browser.execute_script(EMPTY) == 1
    assert asked_for(browser) and browser.get_log("browser")
