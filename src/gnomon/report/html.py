"""From a page to one HTML file: no script, no request to anywhere, readable on paper and on a phone."""

import json
from html import escape

from gnomon.core.results import Definition, Finding, Hypothesis, Plot, Value
from gnomon.core.results.svg import svg
from gnomon.report.page import Page, Section
from gnomon.report.references import reference
from gnomon.report.style import CSS

__all__ = ["html"]

MARKS = {"good": "✓", "unsure": "?", "note": "•", "warning": "▲", "fault": "!", "skipped": "–", "failed": "×"}
WORDS = {"good": "fine", "unsure": "cannot tell", "note": "note", "warning": "warning", "fault": "fault",
         "skipped": "skipped", "failed": "failed"}  # fmt: skip
PREMISES = {True: ("good", "holds"), False: ("fault", "does not hold"), None: ("note", "not checked")}


def html(page: Page) -> str:
    """The page as one self-contained file.

    Text is escaped: what a model or a data set calls itself is never markup.
    Cost: about 50 ms for each plot.

    >>> text = html(Page("A <b> net", ("Fine.",), (), {}))
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
        *_summary(page),
        *_contents(page),
        *(line for section in page.sections for line in _section(section)),
        *_manifest(page),
        "</main>",
        f'<script type="application/json" id="gnomon-data">{_embedded(page)}</script>',
        "</body></html>",
    ]
    return "\n".join(parts)


def _summary(page: Page) -> list[str]:
    lines = ["<section class=box id=verdict><h2>In words</h2>"]
    lines += [f"<p>{escape(text)}</p>" for text in page.headlines]
    if page.note:
        lines.append(f"<p class=aside>{escape(page.note)}</p>")
    lines.append("<h3>What to do</h3>")
    if page.findings:
        lines += ["<ol>", *(_finding(key, finding) for key, finding in page.findings), "</ol>"]
    else:
        lines.append("<p>Nothing: no measurement asks for a change.</p>")
    return [*lines, "</section>"]


def _badge(status: str) -> str:
    return f'<span class="badge {status}">{WORDS[status]}</span>'


def _finding(key: str, finding: Finding) -> str:
    link = f'<a href="#{escape(key)}">{escape(finding.what)}</a>'
    badge = _badge(finding.level.name.lower())
    return f"<li><strong>{escape(finding.cure)}</strong> {badge}<br><span class=aside>{link}</span></li>"


def _contents(page: Page) -> list[str]:
    items = [
        f'<a href="#{escape(s.key)}"><span class="mark {s.status}">{MARKS[s.status]}</span> {escape(s.title)}</a>'
        for s in page.sections
    ]
    return ["<nav>", *items, "</nav>"] if items else []


def _section(section: Section) -> list[str]:
    content = section.content
    lines = [
        f'<section id="{escape(section.key)}"><h2>{escape(section.title)} {_badge(section.status)}</h2>',
        f"<p class=aside>{escape(section.question)}</p><p class=answer>{escape(section.answer)}</p>",
    ]
    if content.values:
        lines += ["<div class=scroll><table>", *(_value(v) for v in content.values), "</table></div>"]
    if content.plots:
        figures = (_figure(plot, f"{section.key}-{i}") for i, plot in enumerate(content.plots))
        lines += ["<div class=plots>", *figures, "</div>"]
    if content.definitions or content.hypotheses:
        lines.append("<details><summary>Definitions and premises</summary>")
        lines += [_definition(d) for d in content.definitions]
        if content.hypotheses:
            lines += ["<ul class=premises>", *(_hypothesis(h) for h in content.hypotheses), "</ul>"]
        lines.append("</details>")
    return [*lines, f"<p class=cost>{section.seconds:.2f} s</p></section>"]


def _value(value: Value) -> str:
    meaning = f"<br><span class=aside>{escape(value.meaning)}</span>" if value.meaning else ""
    return f"<tr><th scope=row>{escape(value.name)}{meaning}</th><td>{escape(str(value))}</td></tr>"


def _figure(plot: Plot, name: str) -> str:
    caption = f"<figcaption>{escape(plot.caption)}</figcaption>" if plot.caption else ""
    return f'<figure id="figure-{escape(name)}">{svg((plot,), name, width=5.2)}{caption}</figure>'


def _definition(definition: Definition) -> str:
    source = f"<br><cite>{escape(reference(definition.reference))}</cite>" if definition.reference else ""
    return f"<p><span class=equation>{escape(definition.equation)}</span><br>{escape(definition.text)}{source}</p>"


def _hypothesis(hypothesis: Hypothesis) -> str:
    kind, word = PREMISES[hypothesis.holds]
    how = f": {escape(hypothesis.checked)}" if hypothesis.checked else ""
    return f'<li><span class="badge {kind}">{word}</span> {escape(hypothesis.statement)}{how}</li>'


def _manifest(page: Page) -> list[str]:
    words = {k: v if isinstance(v, str) else json.dumps(v, default=str) for k, v in page.manifest.items()}
    rows = [f"<tr><th scope=row>{escape(str(k))}</th><td>{escape(v)}</td></tr>" for k, v in words.items()]
    return ["<section id=manifest><h2>Manifest</h2><div class=scroll><table>", *rows, "</table></div></section>"]


def _embedded(page: Page) -> str:
    """JSON inside HTML: the only dangerous sequence is the end of a script."""
    return json.dumps(page.to_dict(), allow_nan=False).replace("<", "\\u003c")
