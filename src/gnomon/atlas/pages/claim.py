"""Renders the web page of a theory claim: question, picture with sliders, statement, explanation, exercise, code,
reference.
"""

import json
import re
from dataclasses import dataclass
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

from gnomon.atlas.catalog import CatalogEntry, catalog
from gnomon.atlas.coverage import functions_by_entry
from gnomon.atlas.pages.figure import ChartView, chart_over_parameter, figure_svg
from gnomon.atlas.pages.formulas import formula_html
from gnomon.atlas.pages.result import ClaimResult
from gnomon.atlas.pages.text import inline_html, plain_html, text_html
from gnomon.atlas.prose import ClaimExplanation, explanation_of_claim
from gnomon.atlas.reading import Chapter, ReadingPath
from gnomon.core.results import format_number
from gnomon.core.results.record import Record
from gnomon.lab import Claim
from gnomon.report.references import full_reference

__all__ = ["GRADE_DESCRIPTIONS", "ClaimLinks", "claim_html", "claim_link"]

GRADE_DESCRIPTIONS = {
    "theorem": "Theorem: proven in the literature",
    "derived": "Derived in the code of this claim",
    "observed": "Observed in published experiments",
    "folklore": "Often said, without a proof",
    "definition": "Definition or worked example",
}
"""What the grades of claims mean."""
NUMBERED = ("equals", "bounded_by", "mean_equals", "at_most", "monotone_in")
"""Judges whose points are numbers of cases, unless a parameter gives their places."""


@dataclass(frozen=True, slots=True)
class ClaimLinks(Record):
    """Links on a claim's web page: its chapter, the claims before and after it, and the reading paths that include it.

    >>> ClaimLinks(after="softmax").before
    ''
    """

    chapter: Chapter | None = None
    before: str = ""
    after: str = ""
    paths: tuple[tuple[ReadingPath, int], ...] = ()


def claim_html(entry: CatalogEntry, result: ClaimResult, neighbors: ClaimLinks) -> str:
    """Returns the HTML of the web page of a theory claim, without header and navigation.

    Cost: some milliseconds, most of them for formulas.

    >>> from gnomon.atlas.catalog import select_entries
    >>> from gnomon.atlas.many import ClaimTask, run_claims
    >>> from gnomon.atlas.pages.result import result_of_run
    >>> result = result_of_run(next(iter(run_claims([ClaimTask("softmax")]))))
    >>> page = claim_html(select_entries(["softmax"])[0], result, ClaimLinks())
    >>> [title in page for title in ("The statement", "Assumptions", "Break the assumption", "Reference")]
    [True, True, True, True]
    """
    claim, prose = entry.claim, explanation_of_claim(entry.claim.id)
    parts = [
        _head(claim, result, neighbors),
        _lab(claim, prose, result),
        _statement(claim, prose),
        _explanation(claim, prose),
        _measure(claim, prose),
        _related_html(claim, prose, neighbors),
        _details(entry, result),
        _turn(neighbors),
    ]
    return "".join(parts)


def _head(claim: Claim, result: ClaimResult, neighbors: ClaimLinks) -> str:
    chapter = neighbors.chapter
    where = "" if chapter is None else f'<a href="chapter-{chapter.slug}.html">{escape(chapter.title)}</a> · '
    verdict = result.row["verdict"]
    expected = " This often repeated statement failed in this measurement." if claim.expected == "refuted" else ""
    return (
        f"<p class=aside>{where}{GRADE_DESCRIPTIONS[claim.source.grade]}</p>"
        f"<p class=answer>{plain_html(claim.title)}.</p>"
        f"<p><strong class='verdict {verdict}'>{verdict.capitalize()}</strong>: {escape(_lower(result.row['reason']))}"
        f"{expected}</p>"
    )


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _view(claim: Claim) -> ChartView:
    judge = claim.judge.__qualname__.partition(".")[0]
    x, y = (*claim.axes[:2], "", "")[:2]
    return ChartView(x, y, log=judge == "rate_is", numbered=judge in NUMBERED and len(claim.axes) < 3)


def _lab(claim: Claim, prose: ClaimExplanation | None, result: ClaimResult) -> str:
    """Returns the HTML of a claim's picture with its sliders; picture and text are visible without JavaScript."""
    view, grid = _view(claim), result.grid
    over = chart_over_parameter(grid, grid["default"][1] if len(grid["default"]) > 1 else 0) if grid["names"] else None
    chart, marked = result.row.get("chart", {}), None
    if over is not None:
        chart, marked = over, grid["values"][0][grid["default"][0]]
        view = ChartView(f"{grid['names'][0]} (slider)", view.y)
    if not chart:
        return ""
    sliders = "".join(_slider(i, name, grid, _meaning(name, prose)) for i, name in enumerate(grid["names"]))
    title = "Change a parameter" if sliders else "Break the assumption"
    data = {
        "grid": grid,
        "view": {"x": view.x, "y": view.y, "log": view.log, "numbered": view.numbered},
        "over": over is not None,
        "expected": claim.expected,
        "premises": [premise.statement for premise in claim.premises],
    }
    stored = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    control, premise = result.row["control"], plain_html(claim.breaks)
    verdict = f"<strong class='verdict {control['verdict']}'>{control['verdict']}</strong>"
    return (
        f'<section class=lab aria-label="Experiment"><div><div id=figure>{figure_svg(chart, view, marked=marked)}</div>'
        f"{_legend(chart)}</div>"
        f"<div><div id=controls hidden><h2>{title}</h2>{sliders}<label class=switch for=break>"
        f"<input type=checkbox role=switch id=break> <span>Break the assumption “{premise}”</span></label></div>"
        f"<p id=said aria-live=polite>With the assumption “{premise}” broken (control): {verdict}. "
        f"{escape(control['reason'])}</p></div></section>"
        f'<script type="application/json" id=data>{stored}</script>'
    )


def _legend(chart: dict[str, Any]) -> str:
    theory = "<li class=t>theory</li>" if chart.get("p") else ""
    order = "<li>theory: larger from top to bottom</li>" if "l" in chart else ""
    interval = ", with interval" if chart.get("a") else ""
    control = "<li class=c>control: assumption broken</li>" if chart.get("c") else ""
    return f"<ul class=legend>{theory}{order}<li class=m>measured{interval}</li>{control}</ul>"


def _meaning(name: str, prose: ClaimExplanation | None) -> str:
    """Returns the explanation of a parameter from the claim's list of symbols; empty if the list does not have it."""
    spellings = {name, "epsilon", "varepsilon"} if name == "eps" else {name}
    for tex, meaning in prose.symbols if prose is not None else ():
        if spellings & {re.sub(r"\\(?:mathrm)?|[{}]", "", part).strip() for part in tex.split(",")}:
            return meaning.rstrip(".")
    return ""


def _slider(i: int, name: str, grid: dict[str, Any], meaning: str) -> str:
    values = grid["values"][i]
    start = values[grid["default"][i]]
    shown = ", ".join(map(str, start)) if isinstance(start, list) else str(start)
    said = f" <span class=aside>{inline_html(meaning)}</span>" if meaning else ""
    return (
        f"<div class=control><label for=slider{i}><span>{escape(name)}{said}</span><output id=value{i} for=slider{i}>"
        f"{escape(shown)}</output></label><input type=range id=slider{i} min=0 max={len(values) - 1} step=1 "
        f'value={grid["default"][i]} aria-valuetext="{escape(name)} {escape(shown)}"></div>'
    )


def _statement(claim: Claim, prose: ClaimExplanation | None) -> str:
    symbols = ""
    if prose is not None:
        rows = ""
        for meaning, pairs in groupby(prose.symbols, key=itemgetter(1)):
            names = ", ".join(formula_html(tex, display="inline") for tex, _ in pairs)
            rows += f"<dt>{names}</dt><dd>{inline_html(meaning)}</dd>"
        symbols = f"<dl class=symbols>{rows}</dl>"
    broken = {claim.breaks: " <span class=aside>(the control breaks this one)</span>"}
    premises = "".join(f"<li>{plain_html(p.statement)}{broken.get(p.statement, '')}</li>" for p in claim.premises)
    remark = f"<p>{plain_html(claim.remark)}</p>" if claim.remark else ""
    loose = f"<p>The bound is loose: {plain_html(claim.loose_because)}</p>" if claim.loose_because else ""
    return (
        "<h2>The statement</h2><div class=equation tabindex=0 role=group aria-label=Formula>"
        f"{formula_html(claim.equation)}</div>{symbols}<h3>Assumptions</h3><ul>{premises}</ul>{remark}{loose}"
    )


def _explanation(claim: Claim, prose: ClaimExplanation | None) -> str:
    if prose is None:
        return ""
    return (
        f"<h2>Why it holds</h2>{text_html(prose.why)}<h2>Where it fails</h2>{text_html(prose.fails)}"
        f"<h2>Exercise</h2>{text_html(prose.exercise)}<details><summary>Answer</summary>{text_html(prose.answer)}</details>"
    )


def _measure(claim: Claim, prose: ClaimExplanation | None) -> str:
    rows = (
        [f"<li><code>{escape(call)}</code>: {inline_html(said)}</li>" for call, said in prose.measure] if prose else []
    )
    if not rows:
        functions = dict.fromkeys(f for name in (claim.id, *claim.covers) for f in functions_by_entry().get(name, ()))
        rows = [f"<li><code>{escape(name)}</code></li>" for name in functions if name]
    if claim.check is not None:
        command = f"gnomon atlas check my_model.py:build {claim.id} --data data.npz"
        rows.append(f"<li><code>{command}</code>: judges this statement on your own network.</li>")
    return f"<h2>Measure this on your network</h2><ul>{''.join(rows)}</ul>" if rows else ""


def _related_html(claim: Claim, prose: ClaimExplanation | None, neighbors: ClaimLinks) -> str:
    rows = [f"<li>{claim_link(name)}: {inline_html(said)}</li>" for name, said in (prose.related if prose else ())]
    paths = [
        f'<li><a href="path-{path.slug}.html#{claim.id}">{escape(path.title)}</a>, step {number}</li>'
        for path, number in neighbors.paths
    ]
    related = f"<h2>Related claims</h2><ul>{''.join(rows)}</ul>" if rows else ""
    return related + (f"<h3>In reading paths</h3><ul>{''.join(paths)}</ul>" if paths else "")


def claim_link(name: str) -> str:
    """Returns the HTML link to a theory claim, labeled with its question; only the id if the claim does not exist.

    >>> claim_link("perceptron-novikoff").startswith('<a href="perceptron-novikoff.html">How many')
    True
    """
    entry = catalog().get(name)
    return (
        f"<code>{escape(name)}</code>" if entry is None else f'<a href="{name}.html">{escape(entry.claim.question)}</a>'
    )


def _details(entry: CatalogEntry, result: ClaimResult) -> str:
    claim, row = entry.claim, result.row
    values = "".join(f"<tr><th scope=row>{escape(v['name'])}</th><td>{_value(v)}</td></tr>" for v in row["values"])
    parameters = ", ".join(f"{key} = {value}" for key, value in result.parameters.items()) or "none"
    place = f" {escape(claim.source.place)}." if claim.source.place else ""
    cited = f"<p>{escape(full_reference(claim.source.reference))}{place}</p>" if claim.source.reference else ""
    judge = f"<p class=aside>Judged by <code>gnomon.lab.{claim.judge.__qualname__.partition('.')[0]}</code>.</p>"
    covers = f"<p class=aside>Covers also: {escape(', '.join(claim.covers))}</p>" if claim.covers else ""
    return (
        f"<h2>Reference</h2>{cited or '<p>Derived in the code of this claim.</p>'}{covers}{judge}"
        f"<details><summary>Numbers of the default run</summary><p>Parameters: {escape(parameters)}.</p>"
        f"<div class=table><table>{values}</table></div><p>Control: {escape(row['control']['reason'])}</p></details>"
        f"<details><summary>Code of this claim</summary><p>Run it: <code>gnomon atlas run {claim.id}</code></p>"
        f'<pre tabindex=0 aria-label="Code"><code>{escape(entry.code)}</code></pre></details>'
    )


def _value(value: dict[str, Any]) -> str:
    number = value["value"] if isinstance(value["value"], str) else format_number(value["value"])
    between = (
        f" ({format_number(value['low'])} to {format_number(value['high'])})" if isinstance(value["low"], float) else ""
    )
    sure = f", {100 * value['confidence']:g} % confidence" if value["confidence"] is not None else ""
    return escape(f"{number}{between}{sure}")


def _turn(neighbors: ClaimLinks) -> str:
    before = f"Previous: {claim_link(neighbors.before)}" if neighbors.before else ""
    after = f"Next: {claim_link(neighbors.after)}" if neighbors.after else ""
    return (
        f'<nav class=turn aria-label="Previous and next"><p>{before}</p><p>{after}</p></nav>' if before or after else ""
    )
