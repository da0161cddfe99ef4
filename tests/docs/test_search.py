"""Ten questions find the right page first, in the built site and a real browser."""

import time

import pytest

from tests.browser import MISSING, browser  # noqa: F401
from tests.house.tree import ROOT

SITE = ROOT / "build" / "site"
QUESTIONS = {
    "how to choose learning rate": ("guides/learning-rate", "tutorials/05"),
    "overfitting": ("guides/overfitting",),
    "lottery ticket": ("topics/lottery-ticket",),
    "mup": ("topics/regimes",),
    "wrong labels": ("guides/wrong-labels", "tutorials/08"),
    "dead relu": ("guides/dead-units",),
    "compare two models": ("guides/compare-models",),
    "calibration": ("guides/calibration",),
    "run in CI": ("guides/ci",),
    "double descent": ("tutorials/07", "double-descent"),
}
FIRST = "return document.querySelector('.md-search-result__item a')?.getAttribute('href') ?? ''"
SECONDS = 20.0


def first_result(driver, question):
    driver.get(f"{(SITE / 'index.html').as_uri()}?q={question}")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not driver.execute_script(FIRST):
        time.sleep(0.2)
    time.sleep(0.5)
    return driver.execute_script(FIRST)


@MISSING
@pytest.mark.full  # reads a site that was built before, which may be an older one
@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built; `make docs` builds it")
def test_questions_find_their_page_first(browser):  # noqa: F811
    found = {question: first_result(browser, question) for question in QUESTIONS}
    missed = {q: page for q, page in found.items() if not any(right in page for right in QUESTIONS[q])}
    assert len(missed) <= 1, missed
