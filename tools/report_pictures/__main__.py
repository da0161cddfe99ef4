"""Command line: examines the twelve kinds of model, and photographs their reports for ``docs/img``."""

import argparse
import shutil
import tempfile
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from gnomon.core.machine.clock import FakeClock
from gnomon.examination import Examination, compare
from tests.report import kinds

FOLDER = Path(__file__).parents[2] / "docs" / "img"
SECONDS_PER_READING = 0.004
"""Seconds by which the clock advances at each reading: about the time of a training step of a small network."""
BUDGET_SECONDS = 20.0
"""Time limit of an examination, in seconds of that clock: enough for 2,000 training steps."""
STARVED_SECONDS = 0.16
"""Time limit of the examination with too little time."""
SCREEN_SIZE = (1400, 1100)
"""Width and height of a first screen in pixels."""
PHONE_SIZE = (390, 1500)
"""Width and height of the picture of a phone in pixels."""
COMPARISON_SIZE = (1100, 1040)
"""Width and height of the picture of two networks in pixels."""
PICTURE_WIDTH = 1050
"""Width of the pictures on the page of twelve reports in pixels."""
WEBP_QUALITY = 80
"""Quality of WebP pictures, of 100."""


def main() -> None:
    """Takes all pictures, or those of the kinds that are named; ``--reports`` keeps the HTML and JSON files."""
    parser = argparse.ArgumentParser(prog="python -m tools.report_pictures", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"Kinds of model: {', '.join(kinds.KINDS)}; by default all.")
    parser.add_argument("--reports", type=Path, help="Folder in which the reports are kept.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.reports or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = {kind: _write_report(kind, folder) for kind in options.kinds or kinds.KINDS}
        browser = _browser()
        try:
            for kind in results:
                _take(browser, folder, kind)
            if {"image", "faulty", "table"} <= set(results):
                _take_others(browser, folder)
        finally:
            browser.quit()


def _slug(kind: str) -> str:
    return kind.lower().replace(" ", "-")


def _write_report(kind: str, folder: Path) -> Examination:
    """Examines a kind of model, and writes its report as HTML and JSON, without the time that this machine took."""
    budget = STARVED_SECONDS if kind == "starved of time" else BUDGET_SECONDS
    result = kinds.KINDS[kind](budget=budget, tick=SECONDS_PER_READING)
    result = replace(result, manifest={name: v for name, v in result.manifest.items() if name != "wall time"})
    result.save(folder / f"{_slug(kind)}.html")
    result.save(folder / f"{_slug(kind)}.json")
    return result


def _browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def photograph(browser: Any, page: Path, width: int, height: int, scheme: str) -> Image.Image:
    """Returns the top of a page as a picture; shorter than ``height`` if the page is."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < PICTURE_WIDTH // 2}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(page.absolute().as_uri())
    bottom = browser.execute_script("return document.querySelector('main').getBoundingClientRect().bottom")
    data = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    return Image.open(BytesIO(b64decode(data))).convert("RGB").crop((0, 0, width, min(height, int(bottom))))


def _take(browser: Any, folder: Path, kind: str) -> None:
    """Writes the light and the dark picture of one kind for the page of twelve reports."""
    for scheme in ("light", "dark"):
        picture = photograph(browser, folder / f"{_slug(kind)}.html", *SCREEN_SIZE, scheme)
        size = PICTURE_WIDTH, picture.height * PICTURE_WIDTH // picture.width
        target = FOLDER / "reports" / f"{_slug(kind)}-{scheme}.webp"
        picture.resize(size, Image.Resampling.LANCZOS).save(target, quality=WEBP_QUALITY, method=6)


def _take_others(browser: Any, folder: Path) -> None:
    """Writes the pictures of README and the pages on examination: a CNN, a fault, a phone, two networks."""
    for name, target in (("image", "examination"), ("faulty", "examination-problem")):
        _store(photograph(browser, folder / f"{name}.html", *SCREEN_SIZE, "light"), target)
    _store(photograph(browser, folder / "table.html", *PHONE_SIZE, "dark"), "examination-phone")
    networks, train, test = kinds.deep_and_cnn()
    clock = FakeClock(SECONDS_PER_READING)
    compare(networks, train, test, budget=2 * BUDGET_SECONDS, clock=clock).save(folder / "compare.html")
    _store(photograph(browser, folder / "compare.html", *COMPARISON_SIZE, "light"), "compare")


def _store(picture: Image.Image, name: str) -> None:
    """Writes a picture as PNG with 256 colors, a third of the size."""
    picture.quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
