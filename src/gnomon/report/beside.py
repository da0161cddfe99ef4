"""Two pages side by side, as one: verdicts, what to do, the values that both have, and every section of both."""

from html import escape

from gnomon.core.results import Line, Plot, Scatter, Value
from gnomon.report.front import findings, heading
from gnomon.report.glossary import Terms
from gnomon.report.html import document, references
from gnomon.report.page import Page, Section
from gnomon.report.sections import badge, gallery, pictures

__all__ = ["beside", "overlaid", "shared_values"]

Row = tuple[str, Value, Value]
"""The title of a section, and a value that both pages have in it."""


def beside(left: Page, right: Page, title: str, verdict: str) -> str:
    """Two pages of the same kind as one self-contained file, section by section.

    Cost: about 50 ms for each plot of both.

    >>> beside(Page("A", "Fine.", (), {}), Page("B", "Ill.", (), {}), "A and B", "A is better.").count("class=pair")
    1
    """
    lines = [*heading(title), f'<div class="verdict good"><p>{escape(verdict)}</p></div>', "<div class=pair>"]
    for page in (left, right):
        own = f'<div class="verdict {page.status}"><p>{escape(page.verdict)}</p></div>'
        lines += [f"<div><h3>{escape(page.title)}</h3>{own}", *findings(page), "</div>"]
    lines += ["</div>", *_table(left, right)]
    theirs = {section.key: section for section in right.sections}
    for section in left.sections:
        lines += _both(section, theirs.get(section.key), left.title, right.title)
    both = Page(title, verdict, (*left.sections, *right.sections), {})
    data = {"title": title, "verdict": verdict, "pages": [left.to_dict(), right.to_dict()]}
    return document(title, [*lines, *references(both), "</main>"], data)


def shared_values(left: Page, right: Page) -> list[Row]:
    """Values that both pages have and that differ, with the title of their section.

    Cost: none.

    >>> shared_values(Page("A", "", (), {}), Page("B", "", (), {}))
    []
    """
    theirs = {(s.key, v.name): v for s in right.sections for v in s.content.values}
    rows = [(s.title, v, theirs.get((s.key, v.name))) for s in left.sections for v in s.content.values]
    return [(title, v, other) for title, v, other in rows if other is not None and other.value != v.value]


def overlaid(one: Plot, two: Plot, names: tuple[str, str]) -> Plot | None:
    """Curves of two plots on the same axes, each with the name of its page; None where they are no curves.

    Cost: none.

    >>> line = Plot("Loss", (Line("train", (1, 2), (1.0, 0.5)),))
    >>> [mark.name for mark in overlaid(line, line, ("A", "B")).marks]
    ['A, train', 'B, train']
    """
    kinds = Line | Scatter
    if not all(isinstance(m, kinds) for plot in (one, two) for m in plot.marks) or (one.x, one.y) != (two.x, two.y):
        return None
    marks: list[Line | Scatter] = []
    for name, plot in zip(names, (one, two), strict=True):
        for mark in plot.marks:
            if isinstance(mark, Line):
                marks.append(Line(f"{name}, {mark.name}", mark.x, mark.y, mark.style))
            elif isinstance(mark, Scatter):
                marks.append(Scatter(f"{name}, {mark.name}", mark.x, mark.y))
    return Plot(one.title, tuple(marks), one.x, one.y, one.caption)


def _table(left: Page, right: Page) -> list[str]:
    rows = shared_values(left, right)
    if not rows:
        return []
    terms = Terms("values")
    head = f"<tr><th></th><td class=number>{escape(left.title)}</td><td class=number>{escape(right.title)}</td></tr>"
    lines = ["<details><summary>All values that differ</summary><div class=scroll><table>", head]
    for title, one, two in rows:
        name = f"{terms.marked(one.name)}<br><span class=aside>{escape(title)}</span>"
        cells = "".join(f"<td class=number>{escape(str(value))}</td>" for value in (one, two))
        lines.append(f"<tr><th scope=row>{name}</th>{cells}</tr>")
    return [*lines, "</table></div></details>", *terms.cards()]


def _both(one: Section, two: Section | None, left: str, right: str) -> list[str]:
    terms = Terms(one.key)
    lines = [f'<section id="{escape(one.key)}"><h2>{escape(one.title)}</h2><p class=aside>{escape(one.question)}</p>']
    lines.append("<div class=pair>")
    for name, section in ((left, one), (right, two)):
        mark = badge(section.status) if section is not None else ""
        answer = "There is no such section." if section is None else section.answer
        lines.append(f"<div><h3>{escape(name)} {mark}</h3><p class=answer>{terms.marked(answer)}</p></div>")
    lines.append("</div>")
    lines += _drawn(one, two, left, right, terms)
    return [*lines, *terms.cards(), "</section>"]


def _drawn(one: Section, two: Section | None, left: str, right: str, terms: Terms) -> list[str]:
    """Curves on shared axes, other pictures side by side, and the examples of both."""
    theirs = {plot.title: plot for plot in (two.content.plots if two is not None else ())}
    shared = [overlaid(p, theirs[p.title], (left, right)) for p in one.content.plots if p.title in theirs]
    lines = pictures([plot for plot in shared if plot is not None], f"{one.key}-both", terms)
    done = {plot.title for plot in shared if plot is not None}
    columns = []
    for side, section in (("left", one), ("right", two)):
        plots = [p for p in section.content.plots if p.title not in done] if section is not None else []
        examples = gallery(section.content.exhibits) if section is not None else []
        columns.append(["<div>", *pictures(plots, f"{one.key}-{side}", terms), *examples, "</div>"])
    if any(len(column) > 2 for column in columns):
        lines += ["<div class=pair>", *columns[0], *columns[1], "</div>"]
    return lines
