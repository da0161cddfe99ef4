"""Renders a compact card for notebooks: a report's verdict, advice, one plot, and one line for each section."""

from html import escape

from gnomon.core.results.svg import plots_svg
from gnomon.report.page import Page
from gnomon.report.sections import STATUS_WORDS

__all__ = ["card_html"]

MAX_FINDINGS = 3
"""Maximum number of findings on a card."""
COLORS = {"problem": "#b3261e", "failed": "#b3261e", "warning": "#7a6a2a", "good": "#2f7d4b"}
"""Color of the edge of the card by status; other statuses are blue."""
STYLE = "border:1px solid #8884;border-left:.4rem solid {color};border-radius:.5rem;padding:.6rem 1rem;max-width:48rem"


def card_html(page: Page) -> str:
    """Renders a report's notebook card as HTML, without scripts and without a style sheet.

    Cost: about 50 ms for its plot.

    >>> from gnomon.report.page import Page
    >>> card_html(Page("A net", "Fine.", (), {})).count("<h3")
    1
    """
    color = COLORS.get(page.status, "#4a6a8a")
    lines = [f'<div style="{STYLE.format(color=color)}"><h3 style="margin:0">{escape(page.title)}</h3>']
    lines += [f'<p style="margin:.2rem 0;opacity:.75">{escape(", ".join(page.facts))}</p>'] if page.facts else []
    lines += [f"<p><b>{escape(page.headline or page.verdict)}</b></p>"]
    lines += [f"<p>How certain? {escape(page.certainty)}</p>"] if page.certainty else []
    if page.findings:
        items = []
        for _, finding in page.findings[:MAX_FINDINGS]:
            proof = page.proofs.get(finding.kind, "")
            proven = f"<br>Tried: {escape(proof)}" if proof else ""
            level = finding.level.name.lower()
            items.append(f"<li>{level}: {escape(finding.message)}<br><b>→ {escape(finding.fix)}</b>{proven}</li>")
        more = len(page.findings) - MAX_FINDINGS
        lines += ["<ol>", *items, "</ol>", *([f"<p>and {more} more</p>"] if more > 0 else [])]
    else:
        lines += [f"<p>{escape(page.advice_without_findings)}</p>"]
    plot = next((tile.plot for tile in page.tiles if tile.plot is not None), None)
    if plot is not None:
        lines += [f'<div style="max-width:34rem">{plots_svg((plot,), "card", width=6.4, height=3.0)}</div>']
    if page.shown_sections:
        rows = [f"<li><b>{escape(s.title)}</b> ({STATUS_WORDS[s.status]}): {escape(s.summary)}</li>"
                for s in page.by_importance]  # fmt: skip
        lines += [f"<details><summary>{len(rows)} sections</summary><ul>", *rows, "</ul></details>"]
    lines.append('<p style="opacity:.75;margin:.2rem 0"><code>result.save("report.html")</code> writes all of it.</p>')
    return "\n".join([*lines, "</div>"])
