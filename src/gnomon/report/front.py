"""The top of a page: the verdict in one sentence, what to do, and an overview in small pictures."""

from collections.abc import Sequence
from html import escape

from gnomon.core.results.svg import thumbnail_svg
from gnomon.report.glossary import TermMarker
from gnomon.report.page import Page, PageTile
from gnomon.report.sections import finding_html

__all__ = ["contents_html", "findings_html", "front_html", "heading_html", "thumbnails_html"]

MARKS = {"good": "✓", "unsure": "?", "note": "•", "warning": "▲", "problem": "!", "skipped": "–", "failed": "×"}
MAX_FIRST_FINDINGS = 5
"""Maximum number of findings at the top of the page; others are folded."""
SHOWN_EXAMPLES = 6
"""Number of examples in a small picture."""


def front_html(page: Page) -> list[str]:
    """The top of the page as lines of HTML.

    Cost: about 30 ms for each small picture.

    >>> front_html(Page("A net", "Fine.", (), {}))[1]
    '<div class="verdict good"><p>Fine.</p></div>'
    """
    note = [f"<p class=aside>{escape(page.note)}</p>"] if page.note else []
    verdict = f'<div class="verdict {page.status}"><p>{escape(page.headline or page.verdict)}</p></div>'
    return [
        *heading_html(page.title, page.facts),
        verdict,
        *note,
        *findings_html(page),
        *thumbnails_html(page.tiles),
        *contents_html(page),
    ]


def heading_html(title: str, facts: Sequence[str] = ()) -> list[str]:
    """The title with short facts, as the start of the page.

    >>> heading_html("A net")
    ['<header><p class=brand>gnomon</p><h1>A net</h1></header><main>']
    """
    words = " ".join(f"<span>{escape(fact)}</span>" for fact in facts)
    line = f"<p class=facts>{words}</p>" if facts else ""
    return [f"<header><p class=brand>gnomon</p><h1>{escape(title)}</h1>{line}</header><main>"]


def thumbnails_html(tiles: Sequence[PageTile]) -> list[str]:
    """Small pictures side by side, each with a link to its section.

    Cost: about 30 ms for each.

    >>> thumbnails_html(())
    []
    """
    return ["<div class=strip>", *map(_tile, tiles), "</div>"] if tiles else []


def findings_html(page: Page) -> list[str]:
    """The list of findings with fixes, the most serious first; more than five are folded.

    >>> findings_html(Page("A net", "Fine.", (), {}))
    ['<p class=calm>Nothing to change.</p>']
    """
    if not page.findings:
        whole = all(section.state in ("answered", "skipped") for section in page.sections)
        calm = "Nothing to change." if whole else "The measurements so far suggest no changes."
        return [f"<p class=calm>{calm}</p>"]
    terms = TermMarker(f"front-{page.title}")
    items = [f"<li>{finding_html(finding, terms, key)}</li>" for key, finding in page.findings]
    lines = ["<h2 class=todo>What to do</h2>", "<ol class=findings>", *items[:MAX_FIRST_FINDINGS], "</ol>"]
    if len(items) > MAX_FIRST_FINDINGS:
        rest = items[MAX_FIRST_FINDINGS:]
        lines += [
            f"<details><summary>{len(rest)} more</summary><ol class=findings start={MAX_FIRST_FINDINGS + 1}>",
            *rest,
        ]
        lines += ["</ol></details>"]
    return [*lines, *terms.cards()]


def contents_html(page: Page) -> list[str]:
    """Links to all sections with their status; skipped sections share one link.

    >>> contents_html(Page("A net", "Fine.", (), {}))
    []
    """
    items = [
        f'<a href="#{escape(s.key)}"><span class="mark {s.status}">{MARKS[s.status]}</span> {escape(s.title)}</a>'
        for s in page.shown_sections
    ]
    skipped = len(page.sections) - len(page.shown_sections)
    if skipped:
        mark = f'<span class="mark skipped">{MARKS["skipped"]}</span>'
        items.append(f'<a href="#not-examined">{mark} {skipped} not examined</a>')
    return ["<nav>", *items, "</nav>"] if items else []


def _tile(tile: PageTile) -> str:
    if tile.plot is not None:
        picture = thumbnail_svg(tile.plot, f"tile-{tile.key}-{tile.plot.title}".replace(" ", "-"))
    else:
        images = "".join(f'<img src="{escape(e.picture)}" alt="">' for e in tile.exhibits[:SHOWN_EXAMPLES] if e.picture)
        words = "".join(f"<span>{escape(', '.join((e.tokens or e.features)[:9]))}</span>" for e in tile.exhibits[:4])
        picture = f"<span class=faces>{images}</span>" if images else f"<span class=rows>{words}</span>"
    return f'<a class=tile href="#{escape(tile.key)}">{picture}<span>{escape(tile.title)}</span></a>'
