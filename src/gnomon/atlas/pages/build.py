"""Writes the atlas as a folder of pages that work offline, in light and dark mode, on phones and on paper.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> build_site(folder, ["perceptron-novikoff"]) == folder / "index.html"
True
>>> "R^2 / margin^2" in (folder / "claims" / "perceptron-novikoff.html").read_text()
True
"""

import json
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gnomon.atlas.catalog import CatalogEntry, select_entries
from gnomon.atlas.coverage import Clause, clauses_of_entry, entry_kinds, scope_coverage
from gnomon.atlas.many import ClaimTask, run_claims
from gnomon.atlas.pages.formulas import formula_html
from gnomon.atlas.pages.style import SCRIPT, STYLE
from gnomon.core.errors import names_call
from gnomon.core.machine.files import write_file
from gnomon.core.results import format_number
from gnomon.lab.claim import Scale
from gnomon.report.references import reference

__all__ = ["build_site", "page_html"]

Progress = Callable[[str, int, int], None]
"""Called with what is done, its number, and how many there are."""


@names_call
def build_site(
    folder: Path,
    ids: Sequence[str] = (),
    *,
    scale: Scale = "smoke",
    seed: int = 0,
    jobs: int = 1,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Run claims (all, if none are named) and write their pages into a folder; gives the path of the index.

    Args:
        folder: is made where it is absent; files of the same names are replaced, others are left.
        ids: claims or kinds.
        scale: of the runs; ``seed`` and ``jobs`` as well.
        out: a file of outcomes of earlier runs, which are not repeated.
        progress: called when a claim has run, with its id and verdict, and before its page is written; see `Progress`.

    Cost: that of the claims, and 0.1 s for each page.

    >>> callable(build_site)
    True
    """
    entries = select_entries(list(ids))
    tasks = [ClaimTask(entry.claim.id, scale, seed) for entry in entries]
    told = progress or (lambda what, number, total: None)
    rows: dict[str, dict[str, Any]] = {}
    for row in run_claims(tasks, jobs=jobs, out=out):
        rows[row["id"]] = row
        told(f"{row['id']}: {row['verdict']}", len(rows), len(tasks))
    for number, entry in enumerate(entries, 1):
        told(f"page of {entry.claim.id}", number, len(entries))
        text = page_html(entry.claim.question or entry.claim.title, _claim(entry, rows[entry.claim.id]), "../")
        write_file(folder / "claims" / f"{entry.claim.id}.html", text)
    write_file(folder / "coverage.html", page_html("Coverage", _coverage(), ""))
    return write_file(folder / "index.html", page_html("Atlas of deep learning theory", _index(entries, rows), ""))


def page_html(title: str, body: str, up: str) -> str:
    """Renders a complete page from its title and body; ``up`` is the relative path to the index.

    >>> page_html("Title", "<p>body</p>", "").count("Title")
    2
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f'<header><p class=brand>gnomon atlas</p><nav><a href="{up}index.html">Claims</a>'
        f'<a href="{up}coverage.html">Coverage</a></nav><h1>{escape(title)}</h1></header>'
        f"<main>{body}</main></body></html>"
    )


def _claim(entry: CatalogEntry, row: dict[str, Any]) -> str:
    claim = entry.claim
    broken = {claim.breaks: " <span class=aside>(broken by the control)</span>"}
    premises = "".join(f"<li>{escape(p['statement'])}{broken.get(p['statement'], '')}</li>" for p in row["premises"])
    values = "".join(f"<tr><th>{escape(v['name'])}</th><td>{_value(v)}</td></tr>" for v in row["values"])
    parameters = ", ".join(f"{key} = {value}" for key, value in row["parameters"].items())
    place = f", {escape(claim.source.place)}" if claim.source.place else ""
    cited = f"<p>{escape(reference(claim.source.reference))}{place}</p>" if claim.source.reference else ""
    remark = f"<p class=aside>{escape(claim.remark)}</p>" if claim.remark else ""
    expected = "" if claim.expected == "holds" else " <span class=aside>(as stated: the measurement refutes it)</span>"
    covers = f"<p class=aside>Covers also: {escape(', '.join(claim.covers))}</p>" if claim.covers else ""
    return (
        f"<p class=aside>{escape(entry.kind)}, {claim.source.grade}</p><p>{escape(claim.title)}.</p>"
        f"<div class=equation>{formula_html(claim.equation)}</div>"
        f"{remark}<h2>Verdict</h2><p><span class='verdict {row['verdict']}'>{row['verdict']}</span>{expected}. "
        f"{escape(row['reason'])}</p><div class=figure>{row['figure']}</div>"
        f"<div class=table><table>{values}</table></div>"
        f"<h2>Hypotheses</h2><ul>{premises}</ul>"
        f"<h2>Control</h2><p>Without “{escape(claim.breaks)}”: "
        f"<span class='verdict {row['control']['verdict']}'>{row['control']['verdict']}</span>. "
        f"{escape(row['control']['reason'])}</p>"
        f"<p class=aside>Parameters: {escape(parameters)}. Run it yourself: "
        f"<code>gnomon atlas run {claim.id}</code></p>"
        f"<h2>Reference</h2>{cited or '<p>Derived in the file below.</p>'}{covers}"
        f"<h2>The claim itself</h2><pre><code>{escape(entry.code)}</code></pre>"
    )


def _value(value: dict[str, Any]) -> str:
    number = value["value"] if isinstance(value["value"], str) else format_number(value["value"])
    between = (
        f" ({format_number(value['low'])} to {format_number(value['high'])})" if isinstance(value["low"], float) else ""
    )
    sure = f", {100 * value['confidence']:g} % confidence" if value["confidence"] is not None else ""
    return escape(f"{number}{between}{sure}")


def _index(entries: list[CatalogEntry], rows: dict[str, dict[str, Any]]) -> str:
    courses = json.loads((files("gnomon.atlas") / "courses.json").read_text(encoding="utf-8"))
    names = sorted({entry.kind for entry in entries})
    listed = "".join(_line(entry, rows[entry.claim.id]["verdict"]) for entry in entries)
    options = "".join(f'<option value="{name}">{name}</option>' for name in names)
    readings = "".join(f'<option value="{" ".join(ids)}">{escape(title)}</option>' for title, ids in courses.items())
    return (
        "<p>Statements of the theory of deep learning that run: what is predicted, what is measured, and a control "
        "that breaks one hypothesis and must fail.</p><div class=filters>"
        "<input id=search type=search placeholder='Search the claims' aria-label='Search the claims'>"
        f"<select id=kind aria-label=Kind><option value=''>All kinds</option>{options}</select>"
        f"<select id=course aria-label='Course of reading'><option value=''>All courses</option>{readings}</select>"
        "</div>"
        f"<p id=count class=aside></p><ul class=claims>{listed}</ul><script>{SCRIPT}</script>"
    )


def _line(entry: CatalogEntry, verdict: str) -> str:
    claim = entry.claim
    words = (claim.id, claim.question, claim.title, entry.kind, claim.source.grade, claim.remark, *claim.covers)
    text = " ".join(words).lower()
    return (
        f'<li data-kind="{entry.kind}" data-text="{escape(text, quote=True)}"><a href="claims/{claim.id}.html">'
        f"{escape(claim.title)}</a> <span class='verdict {verdict}'>{verdict}</span>"
        f"<br><span class=id>{claim.id}, {entry.kind}, {claim.source.grade}</span></li>"
    )


def _coverage() -> str:
    told = scope_coverage()
    head = "".join(f"<th>{name}</th>" for name in ("id", "kind", "clause", "covered by"))
    parts = [f"<p>{escape(told.verdict)}</p>"]
    for kind, ids in entry_kinds().items():
        rows = [(i, clause) for i in ids for clause in clauses_of_entry(i)]
        lines = "".join(
            f"<tr><td>{i}</td><td>{clause.kind}</td><td>{escape(clause.text)}</td><td>{_by(clause)}</td></tr>"
            for i, clause in rows
        )
        parts.append(f"<h2>{escape(kind)}</h2><div class=table><table><tr>{head}</tr>{lines}</table></div>")
    return "".join(parts)


def _by(clause: Clause) -> str:
    if clause.claim:
        return f'<a href="claims/{clause.claim}.html">{clause.claim}</a>'
    return escape(clause.by or f"left out: {clause.left_out}")
