"""What a reader of the built pages meets: links that lead somewhere, and text that HTML does not swallow."""

import re
import sys
from runpy import run_path

import pytest

from tests.house.tree import ROOT, SOURCE, docstrings, modules, parse

toc = pytest.importorskip("markdown.extensions.toc")
HOOKS = ROOT / "docs" / "hooks"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
EXPLICIT = re.compile(r"\{ *#([\w-]+) *\}")


def anchors(text: str) -> set[str]:
    """The anchors that a page in Markdown gives its headings, and those it names itself."""
    text = FENCED.sub("", text)
    return {toc.slugify(heading.replace("`", ""), "-") for heading in HEADING.findall(text)} | set(
        EXPLICIT.findall(text)
    )


def missing_anchors(page) -> list[str]:
    """Links of a page to anchors that the linked page does not have."""
    found = []
    for path, anchor in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        target = (page.parent / path).resolve() if path else page
        if "://" not in path and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
            found.append(f"{path}#{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_linked_anchor_exists(page):
    assert missing_anchors(page) == []


def test_a_missing_anchor_is_found(tmp_path):
    (tmp_path / "b.md").write_text("# One page\n\n## Ranking and watching\n\n```\n# no heading\n```\n")
    (tmp_path / "a.md").write_text("[1](b.md#ranking-and-watching) [2](b.md#ranking) [3](b.md#no-heading) [4](#top)\n")
    assert missing_anchors(tmp_path / "a.md") == ["b.md#ranking", "b.md#no-heading", "#top"]


def test_warnings_fail_the_build():
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndocs:")[2].partition("\n\n")[0]
    assert "--strict" in recipe and "--quiet" not in recipe  # quiet hides warnings before strict counts them
    assert re.search(r"^    anchors: warn$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)


def test_a_swallowed_bracket_warns():
    unknown = run_path(str(HOOKS / "tags.py"))["unknown"]
    assert unknown("<p>With <A, B> = 1 &lt;b, c&gt; and <em>this</em></p><math><mi>x</mi></math>") == ["<A, B>"]
    assert unknown("<pre><code>&lt;name&gt;</code></pre>") == []


@pytest.fixture(scope="module")
def hook():
    pytest.importorskip("griffe")
    pytest.importorskip("latex2mathml")
    path, loaded = list(sys.path), set(sys.modules)
    yield run_path(str(HOOKS / "docstrings.py"))
    sys.path[:] = path
    for name in set(sys.modules) - loaded:
        if (HOOKS / f"{name}.py").exists():
            del sys.modules[name]


def test_brackets_in_the_prose_of_a_docstring_are_shown(hook):
    text = "With <A, B> = 1, ``<C>`` and `<D>`:\n\n    a = <b, c>      (1)\n\nFor <i> in x < 1:\n\n>>> '<E>'\n'<E>'\n"
    shown = hook["markdown"](text)
    assert "With &lt;A, B> = 1, ``<C>`` and `<D>`" in shown and "For &lt;i> in x < 1" in shown
    assert "<math" in shown and ">>> '<E>'\n'<E>'" in shown


@pytest.mark.full
def test_no_docstring_hides_text_as_html(hook):
    prose = hook["VERBATIM"]
    hidden = [
        f"{name}.{inner}: {match[0]}"
        for name, path in modules(SOURCE).items()
        for inner, text in docstrings(parse(path))
        for part in prose.split(hook["markdown"](text))[::2]
        for match in re.finditer(r"<[A-Za-z/!?].{0,20}", part)
    ]
    assert hidden == []


def leaves(nav):
    """Label and page of every entry of the navigation; the label is empty if the page's own title is shown."""
    for entry in nav:
        for label, below in entry.items() if isinstance(entry, dict) else [("", entry)]:
            yield from leaves(below) if isinstance(below, list) else [(label, below)]


def test_labels_of_the_navigation_are_titles_of_pages():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = yaml.safe_load("nav:" + text.partition("\nnav:")[2].partition("\n")[2].join(["\n", ""]))["nav"]
    tabs = {"tutorials/index.md", "atlas.md", "guides/playground.md"}
    for label, page in leaves(nav):
        assert (ROOT / "docs" / page).exists(), page
        assert (label == "") == (page not in tabs), page
    listed = {page for _, page in leaves(nav)}
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - listed if not page.startswith("reference/")} == set()


def test_every_column_of_a_table_has_a_name():
    """Screen readers announce the header of each cell."""
    empty = re.compile(r"^\|(?:[^\n]*\|)?[ \t]*\|[^\n]*\n\|[ \t]*:?-", re.MULTILINE)
    pages = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    assert empty.search("| | b |\n|---|---|\n") and empty.search("| a | |\n|---|---|\n")
    assert not [str(path.relative_to(ROOT)) for path, text in pages.items() if empty.search(text)]
