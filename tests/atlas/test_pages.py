"""The pages of the atlas in a real browser: nothing is asked for, nothing sticks out, the search works from disk."""

import pytest

from gnomon.atlas.pages.build import build_site
from tests.browser import MISSING, OVERFLOW, asked_for, resize
from tests.shares import in_full

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
pytestmark = MISSING
CLAIMS = ["perceptron-novikoff"]
SHOWN = "return [...document.querySelectorAll('ul.claims li')].filter(row => !row.hidden).length"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return build_site(tmp_path_factory.mktemp("atlas"), CLAIMS)


@pytest.mark.parametrize("page", ["index.html", "coverage.html", f"claims/{CLAIMS[0]}.html"])
@pytest.mark.parametrize("width", in_full([380, 1400], except_for=[380]))
def test_a_page_is_whole(browser, index, page, width):
    resize(browser, width)
    browser.get_log("performance")
    browser.get((index.parent / page).as_uri())
    assert asked_for(browser) == []
    assert browser.get_log("browser") == []
    assert browser.execute_script(OVERFLOW) <= 0


def test_the_search_filters_by_words_kind_and_course(browser, index):
    browser.get(index.as_uri())
    assert browser.execute_script(SHOWN) == len(CLAIMS)
    search = browser.find_element("id", "search")
    search.send_keys("perceptron margin")
    assert browser.execute_script(SHOWN) == 1
    search.send_keys(" nowhere")
    assert browser.execute_script(SHOWN) == 0
    assert browser.find_element("id", "count").text == f"0 of {len(CLAIMS)} claims"
