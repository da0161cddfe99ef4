"""Renders the top of a report page: verdict in one sentence, what to do, main plots, worst examples."""

from collections.abc import Sequence
from html import escape

from gnomon.report.glossary import TermMarker
from gnomon.report.page import Page
from gnomon.report.plot_selection import shows_something
from gnomon.report.sections import STATUS_WORDS, figure_html, finding_html, gallery_html

__all__ = ["SHOWN_EXAMPLES", "contents_html", "findings_html", "page_top_html", "heading_html"]

MARKS = {"good": "✓", "unsure": "?", "note": "•", "warning": "▲", "problem": "!", "skipped": "–", "failed": "×"}
MAX_FIRST_FINDINGS = 5
"""Maximum number of findings at the top of the page; others are folded."""
SHOWN_EXAMPLES = 6
"""Number of examples on the first screen."""


def page_top_html(page: Page) -> list[str]:
    """Returns the top of a report page as lines of HTML: facts, verdict, what to do, plots, worst examples.

    Cost: about 50 ms for each plot.

    >>> page_top_html(Page("A net", "Fine.", (), {}))[2]
    '<main><div class="verdict good"><p>Fine.</p></div>'
    """
    note = [f"<p class=aside>{escape(page.note)}</p>"] if page.note else []
    verdict = f'<div class="verdict {page.status}"><p>{escape(page.headline or page.verdict)}</p></div>'
    figures, worst = _figures(page), _worst(page)
    alone = "" if page.findings or worst else " alone"
    board = [f'<div class="board{alone}"><div class=words>', *findings_html(page), *worst, "</div>"]
    board += ["<div class=pictures>", *figures, "</div></div>"] if figures else ["</div>"]
    top = [*heading_html(page.title, page.facts), *contents_html(page), f"<main>{verdict}", *_certainty(page)]
    return [*top, *note, *board]


def _figures(page: Page) -> list[str]:
    """Returns the HTML of the plots at the top of a report page, the first one large."""
    terms, drawn = TermMarker("first-screen"), []
    places = {id(plot): f"{s.key}:{i}" for s in page.sections for i, plot in enumerate(s.content.plots)}
    for i, tile in enumerate(tile for tile in page.tiles if tile.plot is not None and shows_something(tile.plot)):
        assert tile.plot is not None
        source = places.get(id(tile.plot), "")
        drawn.append(figure_html(tile.plot, f"first-{i}", terms, source=source, size="small" if i else "large"))
        if i == 0:  # The same plot with larger words, which only telephones show.
            drawn.append(figure_html(tile.plot, "first-phone", terms, source=source, size="phone"))
    return [*drawn, *terms.cards()]


def _certainty(page: Page) -> list[str]:
    """Returns the HTML of the line that says how certain the result is."""
    why = ' <a class=more href="#not-examined">which, and why</a>' if page.left_out else ""
    return [f"<p class=certainty><b>How certain?</b> {escape(page.certainty)}{why}</p>"] if page.certainty else []


def _worst(page: Page) -> list[str]:
    tile = next((tile for tile in page.tiles if tile.exhibits), None)
    if tile is None:
        return []
    more = f' <a class=more href="#{escape(tile.key)}">all</a>' if len(tile.exhibits) > SHOWN_EXAMPLES else ""
    head = f"<h2 class=todo>{escape(tile.title)}{more}</h2>"
    return [head, *gallery_html(tile.exhibits[:SHOWN_EXAMPLES])]


def heading_html(title: str, facts: Sequence[str] = ()) -> list[str]:
    """Returns the HTML of the start of a report page: the title with short facts.

    >>> heading_html("A net")
    ['<header><p class=brand>gnomon</p><h1>A net</h1></header><div class=frame>']
    """
    words = " ".join(f"<span>{escape(fact)}</span>" for fact in facts)
    line = f"<p class=facts>{words}</p>" if facts else ""
    return [f"<header><p class=brand>gnomon</p><h1>{escape(title)}</h1>{line}</header><div class=frame>"]


def findings_html(page: Page) -> list[str]:
    """Returns the HTML list of problems with fixes, most serious first; collapses all but the first five.

    >>> findings_html(Page("A net", "Fine.", (), {}))
    ['<h2 class=todo>What to do</h2>', '<p class=calm>Nothing to change.</p>']
    """
    if not page.findings:
        return ["<h2 class=todo>What to do</h2>", f"<p class=calm>{escape(page.advice_without_findings)}</p>"]
    terms = TermMarker(f"front-{page.title}")
    items = [
        f"<li data-finding={i}>{finding_html(finding, terms, key, proof=page.proofs.get(finding.kind, ''))}</li>"
        for i, (key, finding) in enumerate(page.findings)
    ]
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
    """Returns HTML links to all sections of a report with their status; skipped sections share one link.

    >>> contents_html(Page("A net", "Fine.", (), {}))
    ['']
    """
    items = [
        f'<a href="#{escape(s.key)}"><span class="mark {s.status}">{MARKS[s.status]}</span> {escape(s.title)}</a>'
        for s in page.by_importance
    ]
    skipped = len(page.sections) - len(page.shown_sections)
    if skipped:
        mark = f'<span class="mark skipped">{MARKS["skipped"]}</span>'
        items.append(f'<a href="#not-examined">{mark} {skipped} not examined</a>')
    return ['<nav aria-label="Sections">', *items, _legend(page), "</nav>"] if items else [""]


def _legend(page: Page) -> str:
    """Returns the HTML line under the list of sections that explains their marks."""
    words = {MARKS[s.status]: (s.status, STATUS_WORDS[s.status]) for s in page.by_importance}
    marks = [f'<span class=whole><span class="mark {status}">{mark}</span>{word}</span>'
             for mark, (status, word) in words.items()]  # fmt: skip
    return f"<p class=legend>{' '.join(marks)}</p>"
