"""The page in a real browser: it runs from disk, asks for nothing, fits the screen, and its controls work."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from gnomon.playground import page_path
from tests.browser import MISSING, OVERFLOW, asked_for, resize

SECONDS = 90  # the machine may be busy
SCROLLS_DOWN = "return document.documentElement.scrollHeight - window.innerHeight"
LESSONS = (
    "function-space", "spectral-bias", "lazy-to-rich", "stable-rate", "edge-of-stability", "gaussian-process",
    "depth-and-signals", "double-descent", "max-margin", "momentum", "early-stopping", "free",
)  # fmt: skip


def visit(browser, link):
    browser.get("about:blank")
    browser.get(f"{page_path().as_uri()}#{link}")
    until(browser, "return window.playground && playground.report.ready")


def until(browser, script):
    WebDriverWait(browser, SECONDS).until(lambda b: b.execute_script(script))


def severe(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@MISSING
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_page_fits_and_asks_for_nothing(browser, width, scheme):
    resize(browser, width, scheme)
    visit(browser, "lesson=lazy-to-rich")
    assert browser.execute_script(OVERFLOW) <= 0
    if width == 1400:
        assert browser.execute_script(SCROLLS_DOWN) <= 0
    assert [url for url in asked_for(browser) if not url.startswith(("blob:", "about:", "file:", "chrome"))] == []
    assert severe(browser) == []


@MISSING
def test_a_guess_is_locked_the_network_runs_and_the_answer_is_scored(browser):
    resize(browser, 1400)
    visit(browser, "lesson=lazy-to-rich")
    browser.find_elements(By.CSS_SELECTOR, ".choices input")[1].click()
    browser.find_element(By.CSS_SELECTOR, ".question .primary").click()
    browser.find_element(By.CSS_SELECTOR, ".run").click()
    until(browser, "return !playground.report.running && playground.report.step === 1000")
    until(browser, "return document.querySelector('.stars')")
    assert "Right" in browser.find_element(By.CSS_SELECTOR, ".score").text


def answer(browser, choice):
    browser.find_elements(By.CSS_SELECTOR, ".choices input")[choice].click()
    browser.find_element(By.CSS_SELECTOR, ".question .primary").click()


def run_to_the_end(browser):
    browser.execute_script("playground.run()")
    until(browser, "return !playground.report.running && playground.report.step === 1000")


@pytest.mark.full
@MISSING
def test_a_scored_answer_is_not_judged_again_after_settings_change(browser):
    resize(browser, 1400)
    visit(browser, "lesson=lazy-to-rich")
    answer(browser, 0)
    run_to_the_end(browser)
    until(browser, "return document.querySelector('.stars')")
    assert "Not this time" in browser.find_element(By.CSS_SELECTOR, ".score").text
    browser.execute_script("playground.change({scale: 10}, true)")
    until(browser, "return playground.report.ready && playground.report.step === 0")
    run_to_the_end(browser)
    assert "Not this time" in browser.find_element(By.CSS_SELECTOR, ".score").text
    assert "The output scale is 0.1." in browser.find_element(By.CSS_SELECTOR, ".question").text


@MISSING
def test_a_guess_that_is_not_scored_yet_is_asked_again_if_settings_change(browser):
    resize(browser, 1400)
    visit(browser, "lesson=lazy-to-rich")
    answer(browser, 0)
    browser.execute_script("playground.change({scale: 10}, true)")
    question = browser.find_element(By.CSS_SELECTOR, ".question").text
    assert "The output scale is 10." in question and "Lock my answer" in question


@MISSING
@pytest.mark.parametrize("lesson", ["lazy-to-rich", "stable-rate", "function-space"])
def test_an_answer_must_be_given_before_it_can_be_locked(browser, lesson):
    resize(browser, 1400)
    visit(browser, f"lesson={lesson}")
    assert not browser.find_element(By.CSS_SELECTOR, ".question .primary").is_enabled()
    browser.execute_script(
        "const first = document.querySelector('.question input');"
        "if (first) { if (first.type === 'range') first.value = 50; else first.checked = true;"
        "first.dispatchEvent(new Event(first.type === 'range' ? 'input' : 'change')); }"
        "else { const c = document.querySelector('#picture'); c.focus();"
        "playground.guess.touched = true; playground.showQuestion(); }"
    )
    assert browser.find_element(By.CSS_SELECTOR, ".question .primary").is_enabled()


@pytest.mark.full
@MISSING
def test_the_number_to_guess_is_nowhere_on_the_page_before_the_guess(browser):
    resize(browser, 1400)
    visit(browser, "lesson=stable-rate")
    largest = browser.execute_script("return playground.report.largest")
    for found in browser.find_elements(By.CSS_SELECTOR, ".q"):
        if found.is_displayed():
            found.click()
            text = browser.find_element(By.TAG_NAME, "body").text
            assert f"{largest:.3f}" not in text and f"{largest / 2:.3f}" not in text
            browser.execute_script("document.querySelector('dialog')?.close()")
    answer_now = "playground.guess.touched = true; playground.lock()"
    browser.execute_script(answer_now)
    until(browser, f"return document.body.innerText.includes('{largest:.3f}')")


@MISSING
def test_run_asks_for_a_guess_first(browser):
    resize(browser, 1400)
    visit(browser, "lesson=stable-rate")
    browser.find_element(By.CSS_SELECTOR, ".run").click()
    until(browser, "return document.querySelector('.live').textContent.includes('Guess first')")
    assert not browser.execute_script("return playground.report.running || playground.guess.locked")


@pytest.mark.full
@MISSING
def test_the_dial_says_nothing_before_the_first_step(browser):
    resize(browser, 1400)
    visit(browser, "lesson=lazy-to-rich")
    until(browser, "return document.querySelector('.panel.regime .note').textContent === 'not trained yet'")
    label = browser.find_element(By.CSS_SELECTOR, "#regime").get_attribute("aria-label")
    assert "not known" in label
    run_to_the_end(browser)
    until(browser, "return document.querySelector('.panel.regime .note').textContent.startsWith('drift')")


@MISSING
@pytest.mark.full
def test_a_question_mark_shows_the_formula_with_numbers(browser):
    resize(browser, 1400)
    visit(browser, "lesson=free")
    browser.find_element(By.CSS_SELECTOR, ".panel.modes .q").click()
    text = browser.find_element(By.CSS_SELECTOR, "dialog").text
    assert "Assumptions" in text and "gnomon atlas run" in text and "λ" in text


@pytest.mark.full
@MISSING
def test_an_embedded_page_shows_one_lesson_without_controls_and_runs(browser):
    resize(browser, 1400)
    visit(browser, "lesson=lazy-to-rich&chrome=0")
    hidden = "return ['.sheet', '.lessons', '.links', '.card'].every((s) => !document.querySelector(s).offsetParent)"
    assert browser.execute_script(hidden)
    until(browser, "return !playground.report.running && playground.report.step === 1000")
    assert browser.execute_script(SCROLLS_DOWN) <= 0 and severe(browser) == []


@MISSING
@pytest.mark.parametrize(
    ("atlas", "link"), [("../atlas/", "../atlas/claims/ntk-eigenmode-decay.html"), ("javascript:0", None)]
)
@pytest.mark.full
def test_claims_are_linked_if_the_page_knows_where_the_atlas_is(browser, atlas, link):
    resize(browser, 1400)
    browser.get("about:blank")
    browser.get(f"{page_path().as_uri()}?atlas={atlas}#lesson=free")
    until(browser, "return window.playground && playground.report.ready")
    browser.find_element(By.CSS_SELECTOR, ".panel.modes .q").click()
    links = browser.find_elements(By.CSS_SELECTOR, "dialog a")
    assert [one.get_dom_attribute("href") for one in links] == ([link] if link else [])


@MISSING
@pytest.mark.full
def test_the_back_button_returns_to_the_lesson_before(browser):
    resize(browser, 1400)
    visit(browser, "lesson=momentum")
    browser.execute_script("playground.neighbor(1)")
    until(browser, "return location.hash.startsWith('#lesson=early-stopping')")
    browser.back()
    until(browser, "return playground.state.lesson === 'momentum'")


@pytest.mark.full
@MISSING
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_runs_to_its_end(browser, lesson):
    resize(browser, 1400)
    visit(browser, f"lesson={lesson}")
    browser.execute_script("playground.run()")
    until(browser, "return !playground.report.running")
    assert severe(browser) == []
    if lesson != "free":
        until(browser, "return document.querySelector('.score')")
