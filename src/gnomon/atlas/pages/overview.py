"""Renders the atlas pages that are not about one claim: start page, chapters, reading paths, refuted beliefs, all
statements.

>>> "chapter-neurons.html" in index_html(["softmax"])
True
"""

from collections.abc import Sequence
from html import escape

from gnomon.atlas.catalog import catalog
from gnomon.atlas.coverage import ScopeClause, clauses_of_entry, scope_coverage, scope_ids_by_kind
from gnomon.atlas.pages.claim import GRADE_DESCRIPTIONS, claim_link
from gnomon.atlas.pages.text import plain_html
from gnomon.atlas.reading import Chapter, ReadingPath, ReadingStep, chapters, claims_of_chapter, reading_paths

__all__ = ["chapter_html", "coverage_html", "index_html", "path_html", "refuted_claims", "refuted_html"]


def index_html(names: Sequence[str]) -> str:
    """Returns the HTML of the start page of the atlas: search, chapters, reading paths, refuted beliefs.

    >>> index_html(["softmax"]).count("<li hidden")
    1
    """
    found = "".join(_row(name) for name in names)
    cards = "".join(_chapter_card(i, chapter) for i, chapter in enumerate(chapters(), 1))
    paths = "".join(_path_card(path) for path in reading_paths())
    grades = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in GRADE_DESCRIPTIONS.items())
    failed = len(refuted_claims())
    return (
        "<p class=answer>Statements of deep learning theory that you can run. Each compares a prediction with a "
        "measurement, and a control that breaks one assumption has to fail.</p>"
        "<div class=search><label for=search>Search the claims</label><br><input id=search type=search "
        "placeholder='double descent, margin, attention …' autocomplete=off></div>"
        f"<p id=count class=aside aria-live=polite></p><ul class=claims id=found>{found}</ul>"
        f"<h2 id=chapters>Ten chapters</h2><ul class=cards>{cards}</ul>"
        "<h2 id=paths>Five reading paths</h2><p>Each is an ordered list of claims with a sentence between them.</p>"
        f"<ul class=cards>{paths}</ul>"
        f'<h2>Statements that failed</h2><p><a href="refuted.html">{failed} popular statements failed here</a>, '
        f"with the numbers that speak against them.</p><h2>Words</h2><dl class=symbols>{grades}"
        "<dt>holds</dt><dd>the measurement agrees with the prediction</dd><dt>refuted</dt><dd>the measurement "
        "contradicts the prediction</dd><dt>inconclusive</dt><dd>the measurement is too coarse to decide</dd>"
        "<dt>control</dt><dd>the same measurement with one assumption broken; it must not hold</dd></dl>"
    )


def _row(name: str) -> str:
    entry = catalog()[name]
    claim = entry.claim
    words = (claim.id, claim.question, claim.title, entry.kind, claim.source.grade, claim.remark, *claim.covers)
    text = escape(" ".join(words).lower(), quote=True)
    return f'<li hidden data-text="{text}"><p>{claim_link(name)}</p><p class=id>{plain_html(claim.title)}</p></li>'


def _chapter_card(number: int, chapter: Chapter) -> str:
    count = len(claims_of_chapter(chapter.slug))
    return (
        f'<li><h3><a href="chapter-{chapter.slug}.html">{number}. {escape(chapter.title)}</a></h3>'
        f"<p>{escape(chapter.introduction)}</p><p class=id>{count} claims</p></li>"
    )


def _path_card(path: ReadingPath) -> str:
    return (
        f'<li><h3><a href="path-{path.slug}.html">{escape(path.title)}</a></h3><p>{escape(path.introduction)}</p>'
        f"<p class=id>{len(path.steps)} steps</p></li>"
    )


def chapter_html(chapter: Chapter) -> str:
    """Returns the HTML of the page of one chapter of the atlas: an introduction and the claims in reading order.

    >>> "perceptron-novikoff.html" in chapter_html(chapters()[0])
    True
    """
    return f"<p class=answer>{escape(chapter.introduction)}</p>{_list_html(claims_of_chapter(chapter.slug))}"


def _list_html(names: Sequence[str]) -> str:
    rows = "".join(
        f"<li><p>{claim_link(name)}</p><p class=id>{plain_html(catalog()[name].claim.title)}</p></li>" for name in names
    )
    return f"<ul class=claims>{rows}</ul>"


def path_html(path: ReadingPath) -> str:
    """Returns the HTML of the page of one reading path through the atlas.

    >>> path_html(reading_paths()[0]).count("<li") == len(reading_paths()[0].steps)
    True
    """
    parts, number = [f"<p class=answer>{escape(path.introduction)}</p>"], 0
    anchors: set[str] = set()
    for title, steps in path.parts:
        rows = []
        for step in steps:
            number += 1
            rows.append(_step(step, number, anchors))
        parts.append(f"<h2>{escape(title)}</h2><ol class=steps>{''.join(rows)}</ol>")
    return "".join(parts)


def _step(step: ReadingStep, number: int, anchors: set[str]) -> str:
    name = step.claim or step.id
    anchor = "" if name in anchors else f' id="{name}"'
    anchors.add(name)
    if step.claim:
        link = f"<p>{number}. {claim_link(step.claim)}</p>"
    elif step.function:
        function = f"<code>{escape(step.function)}</code> measures it on your own model or data"
        link = f"<p>{number}. {_title(step.id)}: {function}.</p>"
    else:
        link = f"<p>{number}. {_title(step.id)} (no measurement decides this): {escape(step.note)}</p>"
    return f"<li{anchor}><p class=bridge>{escape(step.sentence)}</p>{link}</li>"


def _title(name: str) -> str:
    return escape(name.replace("-", " ").capitalize())


def refuted_claims() -> tuple[str, ...]:
    """Returns the ids of claims that test a common belief and whose measurements refute it.

    >>> "gabor-signal-processing-features" in refuted_claims()
    True
    """
    return tuple(name for name, entry in catalog().items() if entry.claim.expected == "refuted")


def refuted_html(rows: dict[str, str]) -> str:
    """Returns the HTML of the page that lists refuted common beliefs; ``rows`` has the result of each claim.

    >>> "designed (Gabor) features" in refuted_html({})
    True
    """
    parts = [
        "<p class=answer>Common statements on these questions were measured here, and failed. A result on small "
        "networks does not settle a question for all networks. It is a reason to ask under which conditions the "
        "statement holds.</p>"
    ]
    for name in refuted_claims():
        claim = catalog()[name].claim
        said = f"<p>Measured: {escape(rows[name])}</p>" if name in rows else ""
        remark = f"<p>{plain_html(claim.remark)}</p>" if claim.remark else ""
        parts.append(f"<h2>{claim_link(name)}</h2><p>The result: {plain_html(claim.title)}.</p>{said}{remark}")
    return "".join(parts)


def coverage_html() -> str:
    """Returns the HTML of the page that lists which claim, function or test treats each statement of the theory.

    >>> "clauses are covered" in coverage_html()
    True
    """
    head = "".join(f"<th scope=col>{name}</th>" for name in ("id", "kind", "clause", "covered by"))
    parts = [f"<p>{escape(scope_coverage().verdict)}</p>"]
    for kind, ids in scope_ids_by_kind().items():
        rows = [(i, clause) for i in ids for clause in clauses_of_entry(i)]
        lines = "".join(
            f"<tr><td>{i}</td><td>{clause.kind}</td><td>{escape(clause.text)}</td><td>{_by(clause)}</td></tr>"
            for i, clause in rows
        )
        table = f"<table><tr>{head}</tr>{lines}</table>"
        frame = f"<div class=table tabindex=0 role=group aria-label='{escape(kind)}'>{table}</div>"
        parts.append(f"<details><summary>{escape(kind)}: {len(rows)} clauses</summary>{frame}</details>")
    return "".join(parts)


def _by(clause: ScopeClause) -> str:
    if clause.claim:
        return f'<a href="{clause.claim}.html">{clause.claim}</a>'
    return escape(clause.by or f"left out: {clause.left_out}")
