"""The pages of the atlas in a real browser: nothing is requested, nothing sticks out, sliders and search work from disk."""

import pytest

from gnomon.atlas.pages.build import build_site
from tests.browser import MISSING, OVERFLOW, asked_for, resize
from tests.shares import in_full

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
pytestmark = MISSING
CLAIM = "perceptron-novikoff"
CLAIMS = [CLAIM, "hopfield-crosstalk", "conv-2d"]
SHOWN = "return [...document.querySelectorAll('#found li')].filter(row => !row.hidden).length"
SHAPES = "return ['measured', 'theory', 'broken'].map(name => document.querySelectorAll('#figure .' + name).length)"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return build_site(tmp_path_factory.mktemp("atlas"), CLAIMS)


@pytest.mark.parametrize("page", ["index", "coverage", "refuted", "chapter-neurons", "path-bias-odes-lazy", *CLAIMS])
@pytest.mark.parametrize("width", in_full([390, 1400], except_for=[390]))
def test_a_page_is_whole(browser, index, page, width):
    resize(browser, width)
    browser.get_log("performance")
    browser.get((index.parent / f"{page}.html").as_uri())
    assert asked_for(browser) == []
    assert browser.get_log("browser") == []
    assert browser.execute_script(OVERFLOW) <= 0


def test_the_script_draws_what_the_page_already_shows(browser, index):
    text = (index.parent / f"{CLAIM}.html").read_text("utf-8")
    drawn = text[text.index("<svg") : text.index("</svg>")]
    browser.get((index.parent / f"{CLAIM}.html").as_uri())
    assert browser.execute_script(SHAPES) == [
        drawn.count(f'class="{name}"') for name in ("measured", "theory", "broken")
    ]
    assert browser.execute_script(SHAPES)[0] == 11


def test_a_slider_moves_by_keyboard_and_says_its_value(browser, index):
    from selenium.webdriver.common.keys import Keys

    browser.get((index.parent / f"{CLAIM}.html").as_uri())
    slider, said = browser.find_element("id", "slider0"), browser.find_element("id", "said")
    assert said.text.startswith("At gap = 0.2. Result: holds.")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert browser.find_element("id", "value0").text == "0.3" and said.text.startswith("At gap = 0.3.")
    assert slider.get_attribute("aria-valuetext") == "gap 0.3"
    slider.send_keys(Keys.HOME)
    assert "outside the premise “a plane" in said.text and "outside a premise" in slider.get_attribute("aria-valuetext")


def test_the_switch_breaks_the_assumption(browser, index):
    browser.get((index.parent / f"{CLAIM}.html").as_uri())
    browser.find_element("id", "break").click()
    assert browser.find_element("id", "said").text.startswith("Assumption broken at gap = 0.2: refuted, as expected.")
    assert "off" in browser.find_element("id", "figure").get_attribute("class")


def test_the_search_filters_by_words(browser, index):
    browser.get(index.as_uri())
    assert browser.execute_script(SHOWN) == 0
    search = browser.find_element("id", "search")
    search.send_keys("perceptron margin")
    assert browser.execute_script(SHOWN) == 1
    search.send_keys(" nowhere")
    assert browser.execute_script(SHOWN) == 0
    assert browser.find_element("id", "count").text == f"0 of {len(CLAIMS)} claims"
