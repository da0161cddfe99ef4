from functools import cache
from importlib import import_module
from runpy import run_path

import pytest

from tests.house import docs_true
from tests.house.tree import ROOT, expect_none
from tests.shares import in_full
from tools.blocks.page import blocks

PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
SLOW_PAGES = [
    "docs/topics/lottery-ticket.md",
    "docs/topics/landscape.md",
    "docs/topics/robustness.md",
    "docs/topics/regimes.md",
    "docs/topics/generative.md",
    "docs/topics/tangent.md",
    "docs/topics/attribution.md",
    "docs/topics/bayes.md",
    "docs/guides/debug-a-run.md",
    "docs/guides/compare-models.md",
    "docs/topics/scattering.md",
    "docs/index.md",
    "docs/start/five-minutes.md",
    "docs/topics/estimators.md",
    "docs/topics/examination.md",
    "docs/topics/dynamics.md",
    "docs/topics/bounds.md",
    "docs/guides/ci.md",
    "docs/guides/overfitting.md",
]
"""Pages that take seconds; their stored outputs show that their code ran as it is."""


@pytest.mark.parametrize("page", in_full(PAGES, except_for=[page for page in PAGES if page not in SLOW_PAGES]))
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs_true.run(ROOT / page)


def test_the_readme_shows_python():
    assert blocks(ROOT / "README.md")


def test_commands_links_and_reference_exist():
    expect_none(docs_true.faults(ROOT))


ROOMS = sorted(path.stem for path in (ROOT / "docs" / "reference").glob("*.md"))


@cache
def pages_of_names():
    """The hook that makes pages of names; running it reads the whole package."""
    return run_path(str(ROOT / "docs" / "hooks" / "names.py"))


@pytest.mark.parametrize("room", [*ROOMS, "core.results", "data.fields", "linalg.solve"])
def test_the_reference_has_a_page_for_every_public_name(room):
    package = import_module(f"gnomon.{room}")
    pages = pages_of_names()
    listed = {name.name: name for name in pages["names_of"](f"gnomon.{room}")}
    assert set(listed) == set(package.__all__)
    written = {name.defined for name in pages["names"]()}
    for name in listed.values():
        assert name.defined in written
        assert getattr(import_module(name.origin), name.name) is getattr(package, name.name)


def test_pages_of_names_are_different_files_on_every_system():
    pages = pages_of_names()
    places = [name.page.lower() for name in pages["names"]()]
    assert len(places) == len(set(places)) > 300
