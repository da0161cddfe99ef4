from importlib import import_module
from runpy import run_path

import pytest

from tests.house import docs_true
from tests.house.tree import ROOT, expect_none
from tools.blocks.page import blocks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs_true.run(page)


def test_the_readme_shows_python():
    assert blocks(ROOT / "README.md")


def test_commands_links_and_reference_exist():
    expect_none(docs_true.faults(ROOT))


ROOMS = sorted(path.stem for path in (ROOT / "docs" / "reference").glob("*.md"))


@pytest.mark.parametrize("room", [*ROOMS, "core.results", "data.fields", "linalg.solve"])
def test_the_reference_has_a_page_for_every_public_name(room):
    package = import_module(f"gnomon.{room}")
    pages = run_path(str(ROOT / "docs" / "hooks" / "names.py"))
    listed = {name.name: name for name in pages["names_of"](f"gnomon.{room}")}
    assert set(listed) == set(package.__all__)
    written = {name.defined for name in pages["names"]()}
    for name in listed.values():
        assert name.defined in written
        assert getattr(import_module(name.origin), name.name) is getattr(package, name.name)


def test_pages_of_names_are_different_files_on_every_system():
    pages = run_path(str(ROOT / "docs" / "hooks" / "names.py"))
    places = [name.page.lower() for name in pages["names"]()]
    assert len(places) == len(set(places)) > 300
