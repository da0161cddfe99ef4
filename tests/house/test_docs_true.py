import re
import sys
from importlib import import_module
from runpy import run_path

import pytest

from tests.house import docs_true
from tests.house.tree import ROOT, SOURCE, expect_none

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs_true.run(page)


def test_the_readme_shows_python():
    assert docs_true.blocks(ROOT / "README.md")


def test_commands_links_and_reference_exist():
    expect_none(docs_true.faults(ROOT))


ROOMS = sorted(path.stem for path in (ROOT / "docs" / "reference").glob("*.md"))


@pytest.mark.parametrize("room", [*ROOMS, "data.fields", "linalg.solve"])
def test_the_reference_asks_for_every_public_name_where_it_is_defined(room):
    package = import_module(f"gnomon.{room}")
    pages = run_path(str(ROOT / "docs" / "hooks" / "names.py"))
    asked = re.findall(r"^::: ([\w.]+)$", pages["expanded"](f"gnomon.{room}", SOURCE.parent), re.MULTILINE)
    shown = {name.split(".")[-1]: name for name in asked if name not in sys.modules}
    assert set(package.__all__) <= set(shown)
    for name, path in shown.items():
        defined = getattr(import_module(path.rpartition(".")[0]), name)
        assert defined is getattr(package, name) if name in package.__all__ else isinstance(defined, type)
