import pytest

from tests.house import docs_true
from tests.house.tree import ROOT, expect_none

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs_true.run(page)


def test_the_readme_shows_python():
    assert docs_true.blocks(ROOT / "README.md")


def test_commands_links_and_reference_exist():
    expect_none(docs_true.faults(ROOT))
