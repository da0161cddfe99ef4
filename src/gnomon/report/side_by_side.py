"""Combines two reports into one page for comparison: main values, shared curves, verdicts, then the sections."""

from collections.abc import Sequence
from html import escape
from typing import Literal

from gnomon.core.results import Line, Plot, Scatter, Value
from gnomon.report.front import findings_html, heading_html
from gnomon.report.glossary import TermMarker
from gnomon.report.html import document_html, references_html, unexamined_questions_html
from gnomon.report.page import BadgeStatus, Page, Section
from gnomon.report.plot_selection import shows_something
from gnomon.report.sections import (
    OPEN,
    badge_html,
    collapsible_start_html,
    figure_html,
    gallery_html,
    pictures_html,
    section_html,
)

__all__ = ["side_by_side_html", "overlay_plots", "differing_values"]

Row = tuple[str, str, Value, Value]
"""Key and title of a section, and a value of both pages in that section."""
Names = tuple[str, str]
STYLES: tuple[Literal["solid", "dashed", "dotted"], ...] = ("solid", "dashed", "dotted")
"""Line styles of the curves of one page: training, test, others."""
MAX_POINT_SETS = 2
"""Maximum number of sets of points of one page, such as training and test: both pages then have four colors."""


def side_by_side_html(
    left: Page,
    right: Page,
    names: Names,
    *,
    verdict: str,
    main: Sequence[str] = (),
    status: BadgeStatus = "note",
) -> str:
    """Renders two reports as one self-contained HTML file; the ``main`` values are always visible.

    Cost: about 50 ms for each plot of both.

    >>> pages = Page("A", "Fine.", (), {}), Page("B", "Ill.", (), {})
    >>> side_by_side_html(*pages, ("A", "B"), verdict="A is better.").count("class=pair")
    1
    """
    title = f"{names[0]} and {names[1]}"
    lines = [*heading_html(title), f'<main><div class="verdict {status}"><p>{escape(verdict)}</p></div>']
    lines += _tables(left, right, names, main)
    lines += [*_shared_figures(left, right, names), "<div class=pair>"]
    for name, page in zip(names, (left, right), strict=True):
        words = escape(page.headline or page.verdict)
        own = f'<div class="verdict {page.status}"><p>{words}</p></div>'
        lines += [f"<div><h2>{escape(name)}</h2>{own}", *findings_html(page), "</div>"]
    lines.append("</div>")
    theirs = {s.key: s for s in right.sections}
    pairs = [(one, theirs.get(one.key)) for one in left.by_importance]
    shown = {one.key for one, _ in pairs}
    pairs += [(one, two) for one in left.sections if one.key not in shown
              and (two := theirs.get(one.key)) is not None and two.status != "skipped"]  # fmt: skip
    for one, two in sorted(pairs, key=_how_equal):
        lines += _same(one) if two is not None and _have_same_content(one, two) else _both(one, two, names)
    common = [
        s for s in left.sections if s.status == "skipped" and s.key in theirs and theirs[s.key].status == "skipped"
    ]
    both = Page(title, verdict, (*left.sections, *right.sections), {})
    lines += [
        *unexamined_questions_html(Page(title, verdict, tuple(common), {})),
        *references_html(both),
        "</main></div>",
    ]
    return document_html(title, lines, {"title": title, "verdict": verdict, "pages": [left.to_dict(), right.to_dict()]})


def _how_equal(pair: tuple[Section, Section | None]) -> int:
    """Returns a sort key that puts sections whose status differs between two reports first, and equal sections last."""
    one, two = pair
    if two is None or one.status != two.status:
        return 0
    return 2 if _have_same_content(one, two) else 1


def differing_values(left: Page, right: Page) -> list[Row]:
    """Returns the values that differ between two reports, with their section.

    >>> differing_values(Page("A", "", (), {}), Page("B", "", (), {}))
    []
    """
    theirs = {(s.key, v.id): v for s in right.sections for v in s.content.values if v.id}
    rows = [(s.key, s.title, v, theirs.get((s.key, v.id))) for s in left.sections for v in s.content.values]
    return [(key, title, v, other) for key, title, v, other in rows if other is not None and other.value != v.value]


def overlay_plots(one: Plot, two: Plot, names: Names) -> Plot | None:
    """Draws the curves of two plots on the same axes, labeled by report; None if the plots have no curves.

    Measured points stay points, predictions are left out, and what is the same on both is drawn once.

    >>> line = Plot("Loss", (Line("train", (1, 2), (1.0, 0.5)),))
    >>> [mark.name for mark in overlay_plots(line, Plot("Loss", (Line("train", (1, 2), (1.0, 0.7)),)), ("A",
    ...     "B")).marks]
    ['A, train', 'B, train']
    """
    kinds = Line | Scatter
    if not all(isinstance(m, kinds) for plot in (one, two) for m in plot.marks):
        return None
    if _scales(one) != _scales(two):
        return None
    alike = [mark for mark in one.marks if mark in two.marks]
    marks: list[Line | Scatter] = []
    for page, (name, plot) in enumerate(zip(names, (one, two), strict=True)):
        own = [m for m in plot.marks if m not in alike and isinstance(m, kinds) and not _predict(m)]
        lines, dots = ([m for m in own if isinstance(m, kind)] for kind in (Line, Scatter))
        for i, points in enumerate(dots[:MAX_POINT_SETS]):
            words = f"{name}, {points.name.removeprefix('measured, ')}"
            marks.append(Scatter(words, points.x, points.y, page + 2 * i))
        for mark, style in zip(lines, STYLES, strict=False):
            marks.append(Line(f"{name}, {mark.name}", mark.x, mark.y, style, page))
    gray = [Line(m.name, m.x, m.y, "dotted", 4) for m in alike if isinstance(m, kinds)]
    captions = [f"{name}: {plot.caption}" for name, plot in zip(names, (one, two), strict=True)]
    caption = one.caption if one.caption == two.caption else " ".join(captions)
    caption = "" if any(map(_predict, (*one.marks, *two.marks))) else caption
    return Plot(one.title, (*marks, *gray), one.x, one.y, caption, one.id)


def _scales(plot: Plot) -> tuple[tuple[str, bool, tuple[float, float] | None], ...]:
    """Returns the axis labels and scales of a plot; two plots can share axes only if these are equal."""
    return tuple((axis.label, axis.log, axis.limits) for axis in (plot.x, plot.y))


def _predict(mark: object) -> bool:
    return isinstance(mark, Line) and mark.predicted


def _have_same_content(one: Section, two: Section) -> bool:
    """Checks whether two report sections have equal content, as for a section about data that both reports share."""
    return one.answer == two.answer and one.content.plots == two.content.plots and one.findings == two.findings


def _same(part: Section) -> list[str]:
    """Renders a section that is the same in both reports as collapsed HTML."""
    fold = collapsible_start_html(
        part.key, part.title, part.status, f"The same for both. {part.summary}", is_open=False
    )
    return [fold, *section_html(part)[1:]]


def _shared_figures(left: Page, right: Page, names: Names) -> list[str]:
    """Returns the HTML of the main plots, with the curves of both reports on the same axes."""
    theirs = {tile.plot.id: tile.plot for tile in right.tiles if tile.plot is not None}
    terms = TermMarker("shared")
    drawn: list[str] = []
    for tile in left.tiles:
        other = None if tile.plot is None else theirs.get(tile.plot.id)
        plot = None if tile.plot is None or other is None else overlay_plots(tile.plot, other, names)
        if plot is not None and shows_something(plot):
            drawn.append(figure_html(plot, f"shared-{len(drawn)}", terms))
    return ["<div class=plots>", *drawn, "</div>", *terms.cards()] if drawn else []


def _tables(left: Page, right: Page, names: Names, main: Sequence[str]) -> list[str]:
    """Returns HTML tables of the main values of two reports, and of all other values that differ (collapsed)."""
    rows = differing_values(left, right)
    terms = TermMarker("values")
    chosen = [row for id in main for row in rows if row[2].id == id]
    others = [row for row in rows if row not in chosen]
    lines = ["<div class=scroll>", *_table(chosen, names, terms), "</div>"] if chosen else []
    if others:
        count = f"{len(others)} more value{'s' if len(others) > 1 else ''} that differ{'' if len(others) > 1 else 's'}"
        lines += [f"<details><summary>{count}</summary><div class=scroll>", *_table(others, names, terms)]
        lines += ["</div></details>"]
    return [*lines, *terms.cards()]


def _table(rows: Sequence[Row], names: Names, terms: TermMarker) -> list[str]:
    head = "".join(f"<td class=number><b>{escape(name)}</b></td>" for name in names)
    lines = ["<table>", f"<tr><th></th>{head}</tr>"]
    for _, title, one, two in rows:
        name = f"{terms.mark_terms(one.name)}<br><span class=aside>{escape(title)}</span>"
        cells = "".join(f"<td class=number>{escape(str(value))}</td>" for value in (one, two))
        lines.append(f"<tr><th scope=row>{name}</th>{cells}</tr>")
    return [*lines, "</table>"]


def _both(one: Section, two: Section | None, names: Names) -> list[str]:
    """Renders one section for two reports: shared curves, then the other plots, examples and answer of each."""
    terms, differs = TermMarker(one.key), two is None or one.status != two.status
    worst = one if two is None or _rank(one.status) >= _rank(two.status) else two
    line = " ".join(f"{name}: {s.summary}" for name, s in zip(names, (one, two), strict=True) if s is not None)
    lines = [collapsible_start_html(one.key, one.title, worst.status, line, is_open=differs and worst.status in OPEN)]
    lines += [f'<section id="{escape(one.key)}"><p class=aside>{escape(one.question)}</p>']
    theirs = {plot.title: plot for plot in (two.content.plots if two is not None else ())}
    shared = [overlay_plots(p, theirs[p.title], names) for p in one.content.plots if p.title in theirs]
    drawn = [plot for plot in shared if plot is not None]
    lines += [*pictures_html(drawn, f"{one.key}-both", terms), "<div class=pair>"]
    for side, name, part in zip(("left", "right"), names, (one, two), strict=True):
        if part is None:
            lines.append(f"<div><h3>{escape(name)}</h3><p class=answer>This report has no such section.</p></div>")
            continue
        own = [p for p in part.content.plots if p.title not in {plot.title for plot in drawn}]
        lines += [f"<div><h3>{escape(name)} {badge_html(part.status)}</h3>"]
        lines += [f"<p class=answer>{terms.mark_terms(part.answer)}</p>"]
        lines += [*gallery_html(part.content.exhibits), *pictures_html(own, f"{one.key}-{side}", terms), "</div>"]
    return [*lines, "</div>", *terms.cards(), "</section></details>"]


def _rank(status: str) -> int:
    return {"problem": 4, "failed": 3, "warning": 2, "note": 1}.get(status, 0)
