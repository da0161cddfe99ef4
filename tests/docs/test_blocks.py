"""Blocks of pages: those that print show a current output, and no page asserts what it could show."""

import doctest

import pytest

from tests.house.tree import ROOT, expect_none
from tools.blocks import page as block_pages
from tools.blocks.__main__ import pages

PAGES = pages()


def test_no_printing_block_is_without_a_current_output():
    stale = [page.relative_to(ROOT).as_posix() for page in PAGES if block_pages.load(page) is None]
    expect_none([f"{page} changed since it ran: `python -m tools.blocks run {page}`" for page in stale])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_values_and_does_not_assert_them(page):
    code = [line for block in block_pages.blocks(page) for line in block.code.splitlines()]
    assert [line for line in code if line.startswith("assert ")] == []


def test_every_stored_picture_has_a_description_and_its_files():
    for page in PAGES:
        for block, stored in zip(block_pages.blocks(page), block_pages.load(page) or [], strict=False):
            assert len(block_pages.ALT.findall(block.code)) == len(stored.pictures), page
            for name in stored.pictures:
                stem, _, ending = name.rpartition(".")
                for kind in ("light", "dark"):
                    assert (block_pages.place(page).parent / f"{stem}-{kind}.{ending}").exists()


@pytest.fixture
def page(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(block_pages, "ROOT", tmp_path)
    monkeypatch.setattr(block_pages, "OUTPUTS", tmp_path / "docs" / "outputs")
    path = tmp_path / "docs" / "a.md"
    path.write_text(
        "# A\n\n```python\nx = 2\nx + 1\n'word'\n```\n\nText.\n\n```python\n>>> x\n2\n```\n\n```python\ny = 1\n```\n"
    )
    return path


def test_every_expression_of_a_block_is_shown(page):
    outputs = block_pages.run(page)
    assert [output.text for output in outputs] == ["3\nword", "", ""]
    block_pages.write(page, outputs)
    shown = block_pages.with_outputs(page.read_text(), page)
    assert (
        shown.index("'word'\n```") < shown.index('<div class="output"') < shown.index("3\nword") < shown.index("Text.")
    )
    assert shown.count('class="output"') == 1


def test_changed_code_has_no_output_until_it_runs(page):
    block_pages.write(page, block_pages.run(page))
    assert block_pages.load(page) is not None
    page.write_text(page.read_text().replace("x = 2", "x = 3"))
    assert block_pages.load(page) is None
    with pytest.raises(doctest.DocTestFailure):  # the session shows the old value
        block_pages.run(page)


def test_a_page_outside_the_site_shows_its_outputs_itself(page):
    readme = page.parents[1] / "README.md"
    readme.write_text("```python\nprint(1)\n```\n\nText.\n")
    for _ in range(2):
        block_pages.write(readme, block_pages.run(readme))
        assert readme.read_text() == "```python\nprint(1)\n```\n\n```text output\n1\n```\n\nText.\n"


def test_long_outputs_are_cut_and_say_so():
    shown = block_pages.shorten("\n".join(["x" * 5000, *map(str, range(100))]))
    assert shown.splitlines()[0].endswith(" ...") and shown.endswith("... 41 more lines")
