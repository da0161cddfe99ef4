"""The report in a real browser: nothing goes wrong, nothing is asked for, nothing sticks out."""

import pytest

from tests.browser import MISSING, OVERFLOW, asked_for, resize
from tests.examination.patients import cnn, data, examined

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
pytestmark = MISSING

EMPTY = """return [...document.querySelectorAll('figure svg')].filter(s => {
  const box = s.getBoundingClientRect(); return box.width < 100 || box.height < 50 || !s.querySelector('path')}).length"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    train, test = data(120, 60)
    result = examined(cnn, train, test, budget=2)
    return result, result.save(tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1400])
def test_the_page_is_whole(browser, report, width, scheme):
    result, path = report
    resize(browser, width, scheme)
    browser.get_log("performance")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    assert asked_for(browser) == []
    assert browser.execute_script(OVERFLOW) <= 0
    assert browser.execute_script(EMPTY) == 0
    figures = sum(len(s.content.plots) for s in result.sections)
    assert browser.execute_script("return document.querySelectorAll('figure svg').length") == figures


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
