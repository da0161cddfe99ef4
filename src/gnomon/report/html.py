"""From a page to one HTML file: no script, no request to anywhere, readable on paper and on a telephone."""

import json
from html import escape

from gnomon.report.page import Advice, Figure, Page, Section, Value
from gnomon.report.style import CSS

MARKS = {"good": "✓", "note": "•", "fault": "!", "skipped": "–", "failed": "×"}
WORDS = {"good": "fine", "note": "to know", "fault": "fault", "skipped": "skipped", "failed": "failed"}


def html(page: Page) -> str:
    """The page as one self-contained file.

    Cost: none to speak of. Text is escaped: what a model or a data set calls itself is never markup.

    >>> text = html(Page("A <b> net", ("Fine.",), (), (), {}))
    >>> "A &lt;b&gt; net" in text and "<script src" not in text
    True
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="generator" content="gnomon">',
        '<link rel="icon" href="data:,">',
        f"<title>{escape(page.title)}</title><style>{CSS}</style></head><body>",
        f"<header><p class=brand>gnomon</p><h1>{escape(page.title)}</h1></header><main>",
        *_verdicts(page),
        *_contents(page),
        *(line for section in page.sections for line in _section(section)),
        *_manifest(page),
        "</main>",
        f'<script type="application/json" id="gnomon-data">{_embedded(page)}</script>',
        "</body></html>",
    ]
    return "\n".join(parts)


def _verdicts(page: Page) -> list[str]:
    lines = ["<section class=box id=verdict><h2>In words</h2>"]
    lines += [f"<p>{escape(text)}</p>" for text in page.headlines]
    if page.note:
        lines.append(f"<p class=aside>{escape(page.note)}</p>")
    lines.append("<h3>What to do</h3>")
    if page.advice:
        lines += ["<ol>", *(_advice(a) for a in page.advice), "</ol>"]
    else:
        lines.append("<p>Nothing: no measurement asks for a change.</p>")
    return [*lines, "</section>"]


def _advice(advice: Advice) -> str:
    link = f'<a href="#{escape(advice.section)}">{escape(advice.because)}</a>'
    return f"<li><strong>{escape(advice.action)}</strong><br><span class=aside>{link}</span></li>"


def _contents(page: Page) -> list[str]:
    items = [
        f'<a href="#{escape(s.key)}"><span class="mark {s.status}">{MARKS[s.status]}</span> {escape(s.title)}</a>'
        for s in page.sections
    ]
    return ["<nav>", *items, "</nav>"] if items else []


def _section(section: Section) -> list[str]:
    mark = f'<span class="badge {section.status}">{WORDS[section.status]}</span>'
    lines = [
        f'<section id="{escape(section.key)}"><h2>{escape(section.title)} {mark}</h2>',
        f"<p class=aside>{escape(section.question)}</p><p class=answer>{escape(section.answer)}</p>",
    ]
    if section.values:
        lines += ["<div class=scroll><table>", *(_value(v) for v in section.values), "</table></div>"]
    lines += [_figure(f) for f in section.figures]
    if section.definitions or section.hypotheses:
        lines.append("<details><summary>Definitions and premises</summary>")
        for d in section.definitions:
            reference = f" [{escape(d.reference)}]" if d.reference else ""
            lines.append(f"<p><span class=equation>{escape(d.equation)}</span><br>{escape(d.text)}{reference}</p>")
        if section.hypotheses:
            lines.append("<ul class=premises>")
            for h in section.hypotheses:
                state = {True: "holds", False: "fails", None: "not checked"}[h.holds]
                why = f": {escape(h.why)}" if h.why else ""
                kind = "good" if h.holds else "note" if h.holds is None else "fault"
                lines.append(f'<li><span class="badge {kind}">{state}</span> {escape(h.statement)}{why}</li>')
            lines.append("</ul>")
        lines.append("</details>")
    return [*lines, f"<p class=cost>{section.seconds:.2f} s</p></section>"]


def _value(value: Value) -> str:
    meaning = f"<br><span class=aside>{escape(value.meaning)}</span>" if value.meaning else ""
    return f"<tr><th scope=row>{escape(value.name)}{meaning}</th><td>{escape(str(value))}</td></tr>"


def _figure(figure: Figure) -> str:
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>"
    return f'<figure id="figure-{escape(figure.name)}">{figure.svg}{caption}</figure>'


def _manifest(page: Page) -> list[str]:
    words = {k: v if isinstance(v, str) else json.dumps(v, default=str) for k, v in page.manifest.items()}
    rows = [f"<tr><th scope=row>{escape(str(k))}</th><td>{escape(v)}</td></tr>" for k, v in words.items()]
    return ["<section id=manifest><h2>Manifest</h2><div class=scroll><table>", *rows, "</table></div></section>"]


def _embedded(page: Page) -> str:
    """JSON inside HTML: the only dangerous sequence is the end of a script."""
    return json.dumps(page.to_dict(), allow_nan=False, default=str).replace("<", "\\u003c")
