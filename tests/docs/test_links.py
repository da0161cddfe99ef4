"""Links that the pages make by themselves: names to the reference, claims to the atlas, functions to what uses them."""

import sys
from runpy import run_path

import pytest

from tests.house.tree import ROOT

pytest.importorskip("mkdocs")
HOOKS = ROOT / "docs" / "hooks"


@pytest.fixture(scope="module")
def hook():
    path, loaded = list(sys.path), set(sys.modules)
    sys.path[:0] = [str(HOOKS), str(ROOT)]
    yield lambda name: run_path(str(HOOKS / f"{name}.py"))
    sys.path[:] = path
    for name in set(sys.modules) - loaded:
        if (HOOKS / f"{name}.py").exists():
            del sys.modules[name]


@pytest.mark.full
def test_names_in_backticks_lead_to_the_reference(hook):
    linked = hook("links")["linked"]
    text = "Use `gnomon.ntk(net, x)`, `landscape.sharpness` or `suspect_labels`; not `x`, `mean` or `gnomon.nothing`."
    shown = linked(text, "guides/a.md")
    assert "[`gnomon.ntk(net, x)`](../reference/tangent/ntk.md)" in shown
    assert "[`landscape.sharpness`](../reference/landscape/sharpness.md)" in shown
    assert "[`suspect_labels`](../reference/checks/suspect_labels.md)" in shown
    assert "`x`, `mean` or `gnomon.nothing`." in shown
    assert linked("`gnomon.examine`", "index.md") == "[`gnomon.examine`](reference/examination/examine.md)"


@pytest.mark.parametrize(
    "text", ["```python\n`gnomon.ntk`\n```", "[`gnomon.ntk`](a.md)", "# About `gnomon.ntk`", "    `gnomon.ntk`"]
)
def test_code_headings_and_links_stay(hook, text):
    assert hook("links")["linked"](text, "guides/a.md") == text


def test_claims_and_lessons_lead_to_their_pages(hook, caplog):
    linked = hook("claims")["linked"]
    shown = linked("[a claim](claim:perceptron-novikoff), [lesson](../playground.html#lesson=lazy)", "tutorials/a.md")
    assert '<a href="../atlas/perceptron-novikoff.html">a claim</a>' in shown
    assert '<a href="../playground.html#lesson=lazy">lesson</a>' in shown
    assert not caplog.records
    linked("[none](claim:no-such-claim)", "a.md")
    assert "no claim 'no-such-claim'" in caplog.text


@pytest.mark.full
def test_the_page_of_a_function_names_what_uses_it(hook):
    reference, names = hook("reference"), hook("names")
    name = next(n for n in names["names"]() if n.public == "gnomon.landscape.sharpness")
    page = reference["page"](name, repeated=False)
    assert "../../guides/learning-rate.md" in page and "## Claims about this" in page and "](claim:" in page
    assert "heading: gnomon.landscape.sharpness" in page and "::: gnomon.landscape.sharpness.sharpness" in page


def test_a_name_is_found_in_code_however_it_is_imported():
    from tools.tutorials.uses import identity, names_in

    code = "from gnomon import landscape as la\nimport gnomon\nla.edge_of_stability(run)\ngnomon.limit(net).ntk(x)\nprint(la)"
    assert names_in(code) == {"gnomon.landscape.edge_of_stability", "gnomon.limit"}
    assert identity("gnomon.no_such_name") == "" and identity("gnomon.ntk").endswith(".ntk")


MAX_FUNCTIONS_WITHOUT_USE = 62
"""Public functions that no tutorial, guide, explanation or claim uses or names; the number only falls."""
INNER = {"adapter", "atlas", "cli", "core", "findings", "lab", "linalg", "playground", "program", "report"}
"""Parts of the package that are about gnomon itself, not about a network."""


@pytest.mark.full
def test_functions_and_claims_name_each_other(hook):
    functions, with_functions = hook("reference")["functions_by_claim"](), hook("atlas")["with_functions"]
    assert "gnomon.bounds.double_descent" in functions["double-descent-model-wise"]
    page = "<p><code>gnomon.landscape.sharpness</code></p><h2>Reference</h2><p>Cohen et al.</p>"
    name = next(claim for claim, named in functions.items() if len(named) > 1 and "gnomon.landscape.sharpness" in named)
    shown = with_functions(page, name)
    assert shown.count("<code>gnomon.landscape.sharpness</code>") == 1
    assert all(f"<code>{function}</code>" in shown for function in functions[name])
    assert with_functions(page, "no-such-claim") == page


@pytest.mark.full
def test_public_functions_name_what_uses_them(hook):
    from tools.tutorials.uses import identity, pages_by_name

    claims = hook("reference")["claims_by_name"]()
    names = [n for n in hook("names")["names"]() if n.name[:1].islower() and n.part.split(".")[1] not in INNER]
    keys = {n.public: identity(n.public) for n in names}
    unused = [public for public, key in keys.items() if not pages_by_name().get(key) and not claims.get(key)]
    assert len(names) > MAX_FUNCTIONS_WITHOUT_USE and len(unused) <= MAX_FUNCTIONS_WITHOUT_USE, unused


def test_the_scoreboard_links_to_no_page_that_the_site_lacks(hook):
    rows = hook("tables")["scoreboard"]()
    assert "first calls" in rows and ".md)" not in rows


@pytest.mark.full
def test_an_anchor_is_no_link_without_text(hook):
    shown = hook("pages")["on_page_content"]('<a href="" id="cohen2021"></a><a href="a.html">a</a>', page=None)
    assert shown == '<span id="cohen2021"></span><a href="a.html">a</a>'
