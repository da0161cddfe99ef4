"""The pages of the atlas in a real browser: nothing is asked for, nothing sticks out, the search works from disk."""

import json
import shutil

import pytest

from gnomon.atlas.pages.build import build

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
CHROME, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not CHROME or not DRIVER, reason="no chromium with its driver on this machine")
CLAIMS = ["perceptron-novikoff"]
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "return [...document.querySelectorAll('ul.claims li')].filter(row => !row.hidden).length"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return build(tmp_path_factory.mktemp("atlas"), CLAIMS)


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROME
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.mark.parametrize("page", ["index.html", "coverage.html", f"claims/{CLAIMS[0]}.html"])
@pytest.mark.parametrize("width", [380, 1400])
def test_a_page_is_whole(browser, index, page, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("performance")
    browser.get((index.parent / page).as_uri())
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert [u for u in urls if not u.startswith("data:") and u != browser.current_url] == []
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
