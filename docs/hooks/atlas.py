"""Builds the atlas into the folder ``atlas`` of the site, and adds its pages to the one search of the site.

Results come from the records of the package, so the build runs no claim; a claim without a record is run. Links to
``atlas/claims/<id>.html`` lead to the same pages.
"""

import json
import logging
import re
from html import escape
from pathlib import Path
from typing import Any

import links
import reference
import search
from mkdocs.plugins import event_priority

from gnomon.atlas.catalog import catalog
from gnomon.atlas.pages.build import build_site
from gnomon.atlas.prose import explanation_of_claim
from gnomon.atlas.reading import chapters, reading_paths

LOG = logging.getLogger("mkdocs.hooks.atlas")
BOOST = 0.4
"""Factor of the search score: below guides, above the reference."""
PAGES_PER_LINE = 100
"""A line of progress is logged after this number of pages."""
CALL = re.compile(r"<code>(gnomon\.[\w.]+)((?:\([^<]*\))?)</code>")
"""A function in the text of a page; code on several lines is in another element."""
REFERENCE, FUNCTIONS = "<h2>Reference</h2>", "<h2>Functions of gnomon in this claim</h2>"
"""The heading above which the functions are named, and theirs."""
MOVED = (
    '<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url=../{}.html">'
)


@event_priority(-250)  # after the index of the search is written, and made a script for pages from disk
def on_post_build(config: Any, **_: object) -> None:
    """Called when the pages of the site are written."""
    site = Path(config["site_dir"])
    build_site(site / "atlas", home="../index.html", progress=_progress)
    for name in catalog():
        page = site / "atlas" / f"{name}.html"
        page.write_text(with_links(with_functions(page.read_text(encoding="utf-8"), name)), encoding="utf-8")
        path = site / "atlas" / "claims" / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(MOVED.format(name), encoding="utf-8")
    for path, before in ((site / "search/search_index.json", ""), (site / "search/search_index.js", "var __index = ")):
        if path.exists():
            index = json.loads(path.read_text(encoding="utf-8").removeprefix(before))
            index = search.with_stems({**index, "docs": with_atlas(index["docs"])})
            path.write_text(before + json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def with_atlas(docs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of the search with one for each page of the atlas, and no others of the atlas."""
    rows = [(name, entry.claim.question, _text(name)) for name, entry in catalog().items()]
    rows += [(f"chapter-{chapter.slug}", chapter.title, chapter.introduction) for chapter in chapters()]
    rows += [(f"path-{path.slug}", path.title, path.introduction) for path in reading_paths()]
    rows.append(("refuted", "Popular statements that failed here", "Statements that are often repeated and failed."))
    found = [
        {"location": f"atlas/{name}.html", "title": escape(title), "text": f"<p>{escape(text)}</p>", "boost": BOOST}
        for name, title, text in rows
    ]
    return [entry for entry in docs if not entry["location"].startswith("atlas/")] + found


def with_functions(html: str, name: str) -> str:
    """A page of a claim that names every function whose page names the claim."""
    rows = [f"<li><code>{function}</code></li>" for function in reference.functions_by_claim().get(name, [])]
    rows = [row for row in rows if row.removeprefix("<li>").removesuffix("</code></li>") not in html]
    shown = f"{FUNCTIONS}<ul>{''.join(rows)}</ul>" if rows else ""
    return html.replace(REFERENCE, shown + REFERENCE, 1)


def with_links(html: str) -> str:
    """A page of the atlas whose functions lead to their pages of the reference."""
    return CALL.sub(_link, html)


def _link(match: re.Match[str]) -> str:
    page = links.pages().get(match[1])
    return match[0] if page is None else f'<a href="../{page.removesuffix(".md")}.html">{match[0]}</a>'


def _text(name: str) -> str:
    """What the search reads of a claim: the statement, its id, and the explanation without formulas."""
    claim, prose = catalog()[name].claim, explanation_of_claim(name)
    words = [f"{claim.title}.", name, *claim.covers, claim.remark]
    words += [] if prose is None else [prose.why, prose.fails]
    return re.sub(r"\$[^$]*\$|`", " ", " ".join(words))


def _progress(what: str, number: int, total: int) -> None:
    if number % PAGES_PER_LINE == 0 or number == total:
        LOG.info(f"atlas: {number} of {total}, {what}")
