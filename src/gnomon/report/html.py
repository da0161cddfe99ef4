"""Renders a report as one HTML file that works without network access and without scripts."""

import functools
import json
from html import escape
from importlib import resources
from typing import Any

from gnomon.core.errors import add_call_to_errors
from gnomon.report.front import page_top_html
from gnomon.report.page import Page
from gnomon.report.references import full_reference
from gnomon.report.sections import section_html
from gnomon.report.style import CSS

__all__ = ["document_html", "page_html", "unexamined_questions_html", "references_html"]


@add_call_to_errors
def page_html(page: Page) -> str:
    """Renders a report as one self-contained HTML file: verdict, what to do, overview in pictures, then the sections.

    Text is escaped: what a model or a data set calls itself is never markup.
    Cost: about 50 ms for each plot.

    >>> text = page_html(Page("A <b> net", "Fine.", (), {}))
    >>> "A &lt;b&gt; net" in text and "<script src" not in text
    True
    """
    body = [
        *page_top_html(page),
        *(line for s in page.by_importance for line in section_html(s, page.explanations.get(s.key), page.site)),
        *unexamined_questions_html(page),
        *references_html(page),
    ]
    return document_html(page.title, [*body, *manifest_html(page), "</main></div>"], page.to_dict())


def document_html(title: str, body: list[str], data: Any) -> str:
    """Returns a complete HTML file from the lines of its body, with ``data`` embedded as JSON.

    Cost: one pass over the text.

    >>> document_html("A title", ["<p>Words.</p>"], {}).startswith("<!doctype html>")
    True
    """
    # Escapes "<", because "</script>" inside the JSON text would end the script element of the page.
    embedded = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="gnomon">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>",
        *body,
        f'<script type="application/json" id="gnomon-data">{embedded}</script>',
        f"<script>{script()}</script>",
        "</body></html>",
    ]
    return "\n".join(parts)


@functools.cache
def script() -> str:
    """Returns the JavaScript that every report page contains.

    >>> "</" in script()
    False
    """
    return (resources.files("gnomon.report") / "page.js").read_text("utf-8")


def unexamined_questions_html(page: Page) -> list[str]:
    """Returns the HTML list of questions that were not examined, grouped by reason.

    >>> unexamined_questions_html(Page("A title", "Fine.", (), {}))
    []
    """
    if not page.left_out:
        return []
    count = sum(map(len, page.left_out.values()))
    head = f"<details class=plain><summary>{count} question{'' if count == 1 else 's'} not examined, and why</summary>"
    lines = [f"{head}<section id=not-examined><ul class=reasons>"]
    for reason, sections in page.left_out.items():
        titles = ", ".join(f'<b id="{escape(s.key)}">{escape(s.title)}</b>' for s in sections)
        lines.append(f"<li>{titles}<br>{escape(reason)}</li>")
    return [*lines, "</ul></section></details>"]


def references_html(page: Page) -> list[str]:
    """Returns the HTML list of all publications that the sections of a report cite.

    >>> references_html(Page("A title", "Fine.", (), {}))
    []
    """
    keys = dict.fromkeys(d.reference for s in page.sections for d in s.content.definitions if d.reference)
    items = sorted((full_reference(key), key) for key in keys)
    if not items:
        return []
    lines = [f'<li id="reference-{escape(key)}">{escape(text)}</li>' for text, key in items]
    head = "<details class=plain><summary>References</summary><section id=references><ul class=references>"
    return [head, *lines, "</ul></section></details>"]


def manifest_html(page: Page) -> list[str]:
    """Returns a collapsed HTML table that records how the report was made.

    >>> manifest_html(Page("A title", "Fine.", (), {"seed": 0}))[1]
    '<tr><th scope=row>seed</th><td>0</td></tr>'
    """
    words = {k: v if isinstance(v, str) else json.dumps(v, default=str) for k, v in page.manifest.items()}
    rows = [f"<tr><th scope=row>{escape(str(k))}</th><td>{escape(v)}</td></tr>" for k, v in words.items()]
    head = (
        "<section id=manifest class=plain><details><summary>How this report was made</summary><div class=scroll><table>"
    )
    return [head, *rows, "</table></div></details></section>"]
