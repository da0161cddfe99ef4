"""Renders a report section as HTML: answer and plots, with numbers, formulas and assumptions collapsed below."""

from collections.abc import Sequence
from html import escape
from typing import Literal

from gnomon.core.results import Finding, Hypothesis, Image, Plot, QuantityDefinition, Value, format_number
from gnomon.core.results.svg import plots_svg
from gnomon.report.explanation import Explanation, explanation_html
from gnomon.report.glossary import TermMarker
from gnomon.report.page import Section
from gnomon.report.plot_selection import shows_something
from gnomon.report.references import reference
from gnomon.report.shown_example import ShownExample
from gnomon.report.table import Cell, PageTable

__all__ = [
    "STATUS_WORDS", "badge_html", "figure_html", "finding_html", "collapsible_start_html", "gallery_html",
    "pictures_html", "section_html", "table_html", "values_html",
]  # fmt: skip

STATUS_WORDS = {"good": "good", "unsure": "cannot tell", "note": "note", "warning": "warning", "problem": "problem",
                "skipped": "not examined", "failed": "failed"}  # fmt: skip
"""The word for each status, the same for findings and sections, on the page, in notebooks and in the terminal."""
FigureSize = Literal["small", "phone", "middle", "large"]
SIZES: dict[FigureSize, tuple[float, float]] = {
    "small": (3.5, 2.8),
    "phone": (3.7, 2.9),
    "middle": (4.0, 2.8),
    "large": (6.2, 3.2),
}
"""Width and height of a plot in inches: a small drawing has larger words when both fill the same space. A telephone
shows 358 pixels, so that words of 10 points in a drawing of 4 inches have 12 pixels."""
OPEN = ("problem", "warning", "failed")
"""Statuses of sections that are open when the page is opened."""
PREMISES = {True: ("good", "holds"), False: ("problem", "does not hold"), None: ("note", "not checked")}


def section_html(part: Section, explanation: Explanation | None = None, site: str = "") -> list[str]:
    """Renders a report section as HTML lines that can be collapsed; sections with problems and warnings start open.

    ``explanation`` is the page of the documentation on the section, ``site`` the address of the documentation.

    Cost: about 50 ms for each plot.

    >>> from gnomon.report.page import PageContent
    >>> section_html(Section("data", "The data", "Are they fine?", PageContent("They are.")))[2:4]
    ['<p class=aside>Are they fine?</p>', '<p class=answer>They are.</p>']
    """
    content, terms = part.content, TermMarker(part.key)
    lines = [
        collapsible_start_html(part.key, part.title, part.status, part.summary, is_open=part.status in OPEN),
        f'<section id="{escape(part.key)}">',
        f"<p class=aside>{escape(part.question)}</p>",
        f"<p class=answer>{terms.mark_terms(part.answer)}</p>",
        *_advice(part, terms),
        *gallery_html(content.exhibits),
        *pictures_html(content.plots, part.key, terms, source=part.key),
        *(line for table in content.tables for line in table_html(table)),
        *values_html(content.values, terms, seconds=part.seconds),
        *_behind(content.definitions, content.hypotheses, terms),
        *([] if explanation is None else [f"<p class=aside>{explanation_html(explanation, site)}</p>"]),
    ]
    return [*lines, *terms.cards(), "</section></details>"]


def collapsible_start_html(key: str, title: str, status: str, line: str, *, is_open: bool) -> str:
    """Returns the start of the HTML of a report section that can be collapsed to one line.

    >>> collapsible_start_html("data", "The data", "good", "Fine.", is_open=False)[:51]
    '<details class="part good" data-key="data"><summary'
    """
    return (
        f'<details class="part {status}" data-key="{escape(key)}"{" open" if is_open else ""}><summary><h2>'
        f"{escape(title)}</h2> {badge_html(status)} <span class=line>{escape(line)}</span></summary>"
    )


def _advice(part: Section, terms: TermMarker) -> list[str]:
    """Returns the HTML list of a section's findings, without messages that the answer already contains."""
    if not part.findings or part.state not in ("answered", "unsure"):
        return []
    items = [f"<li>{finding_html(f, terms, only_fix=part.content.states(f))}</li>" for f in part.findings]
    return ["<ul class=findings>", *items, "</ul>"]


def badge_html(status: str) -> str:
    """Returns the status of a finding or of a report section as a colored word in HTML.

    >>> badge_html("good")
    '<span class="badge good">good</span>'
    """
    return f'<span class="badge {status}">{STATUS_WORDS[status]}</span>'


def finding_html(
    finding: Finding, terms: TermMarker, link: str = "", *, only_fix: bool = False, proof: str = ""
) -> str:  # fmt: skip
    """Renders a finding as HTML: the message, a link to its section, then the fix; with ``only_fix``, only the fix.

    >>> from gnomon.core.results import FindingKind, Level
    >>> finding_html(Finding(FindingKind("loud", Level.PROBLEM, "It is loud.", "Call `turn()`.")), TermMarker(""))[-48:]
    '<span class=fix>Call <code>turn()</code>.</span>'
    """
    fix = f"<span class=fix>{terms.mark_terms(finding.fix)}</span>"
    if only_fix:
        return fix
    where = f" <code>{escape(finding.where)}</code>" if finding.where else ""
    why = f' <a class=more href="#{escape(link)}">why</a>' if link else ""
    proven = f'<span class=proven data-words="{escape(proof)}">Tried: {escape(proof)}</span>' if proof else ""
    return f"{badge_html(finding.level.name.lower())}{where} {terms.mark_terms(finding.message)}{why} {fix}{proven}"


def figure_html(
    plot: Plot, name: str, terms: TermMarker, *, source: str = "", size: FigureSize = "middle"
) -> str:  # fmt: skip
    """Renders a plot with its caption as HTML; ``source`` is the path to its numbers in the JSON of the page.

    Cost: about 50 ms.

    >>> from gnomon.core.results import Bars
    >>> figure_html(Plot("Sizes", (Bars("size", ("a",), (1.0,)),)), "sizes", TermMarker(""))[:27]
    '<figure id="figure-sizes"><'
    """
    caption = f"<figcaption>{terms.mark_terms(plot.caption)}</figcaption>" if plot.caption else ""
    matrix = any(isinstance(mark, Image) and mark.written for mark in plot.marks)
    width, height = SIZES[size]
    picture = plots_svg((plot,), name, width=width, height=max(height, 0.77 * width) if matrix else height)
    numbers = f' data-plot="{escape(source)}"' if source else ""
    kind = f' class="{size}-figure"' if size in ("large", "phone") else ""
    return f'<figure id="figure-{escape(name)}"{kind}{numbers}>{picture}{caption}</figure>'


def pictures_html(plots: Sequence[Plot], name: str, terms: TermMarker, *, source: str = "") -> list[str]:
    """Renders plots side by side as HTML; leaves out plots that show no data.

    Cost: about 50 ms for each.

    >>> pictures_html((), "data", TermMarker("data"))
    []
    """
    drawn = [
        figure_html(plot, f"{name}-{i}", terms, source=f"{source}:{i}" if source else "")
        for i, plot in enumerate(plots)
        if shows_something(plot)
    ]
    return ["<div class=plots>", *drawn, "</div>"] if drawn else []


def table_html(table: PageTable) -> list[str]:
    """Renders a report's table as HTML with small bars in its cells.

    >>> table_html(PageTable("Layers", ("layer", "size"), (("a", 3),), bars=("size",)))[3]
    '<tr><th scope=row>a</th><td class=bar style="--w:100%">3</td></tr>'
    """
    lengths = {column: table.bar_lengths(column) for column in table.bars}
    name = escape(table.title)
    head = "".join(f"<th scope=col>{escape(column)}</th>" for column in table.columns)
    lines = [f"<h3>{name}</h3>", f'<div class=scroll tabindex=0 role=region aria-label="{name}"><table class=bars>']
    lines.append(f"<thead><tr>{head}</tr></thead>")
    for i, row in enumerate(table.rows):
        cells = [f"<th scope=row>{escape(str(row[0]))}</th>"]
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            length = lengths[column][i] if column in lengths else None
            bar = "" if length is None else f' class=bar style="--w:{100 * length:.0f}%"'
            cells.append(f"<td{bar}>{escape(_cell(cell, percent=column in table.percent))}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<p class=aside>{escape(table.caption)}</p>" if table.caption else ""
    return [*lines, "</table></div>", *([caption] if caption else [])]


def _cell(cell: Cell, *, percent: bool) -> str:
    if cell is None:
        return "–"
    return f"{cell:.1%}" if percent and not isinstance(cell, str) else format_number(cell)


def gallery_html(exhibits: Sequence[ShownExample]) -> list[str]:
    """Renders examples as HTML: images, rows of features or tokens, with labels and the network's answers.

    >>> gallery_html((ShownExample(4, "cat", "dog", tokens=("7", "9")),))[1][53:]
    '<span class=tokens><i>7</i> <i>9</i></span><b>#4</b> label cat, answer dog</li>'
    """
    if not exhibits:
        return []
    wide = "" if any(e.picture for e in exhibits) else " wide"
    wide = " pairs" if any(e.label_picture or e.answer_picture for e in exhibits) else wide
    order = "" if all(e.ranked for e in exhibits) else " data-unordered"
    return [f'<ul class="gallery{wide}"{order}>', *map(_exhibit, exhibits), "</ul>"]


def _exhibit(one: ShownExample) -> str:
    answer = escape(one.answer) if one.right is not False else f"<b class=problem>{escape(one.answer)}</b>"
    label, said = one.words
    words = f"<b>#{one.number}</b> {_pair(one.label, label, answer, said, right=bool(one.right))}"
    note = f" <span class=aside>{escape(one.note)}</span>" if one.note else ""
    more = f" <span class=aside>and {one.hidden:,} more</span>" if one.hidden else ""
    if one.picture:
        seen = f'<img src="{escape(one.picture)}" alt="example {one.number}">'
        others = ((one.input_word, one.picture), (label, one.label_picture), (said, one.answer_picture))
        drawn = [_named_picture(word, picture, one.number) for word, picture in others if picture]
        seen = f"<span class=several>{''.join(drawn)}</span>" if len(drawn) > 1 else seen
    elif one.tokens:
        seen = f"<span class=tokens>{' '.join(f'<i>{escape(t)}</i>' for t in one.tokens)}{more}</span>"
    else:
        seen = f"<span class=tokens>{', '.join(map(escape, one.features))}{more}</span>" if one.features else ""
    sorting = f'data-number={one.number} data-label="{escape(one.label)}" data-answer="{escape(one.answer)}"'
    return f"<li {sorting}>{seen}{words}{note}</li>"


def _named_picture(word: str, picture: str, number: int) -> str:
    """Returns the HTML of one of several pictures of an example, with a name below it."""
    image = f'<img src="{escape(picture)}" alt="{escape(word)} of example {number}">'
    return f"<span>{image}<span class=aside>{escape(word)}</span></span>"


def _pair(label: str, label_word: str, answer: str, answer_word: str, *, right: bool) -> str:
    """Describes an example's label and the network's answer in words; leaves out empty texts."""
    parts = [f"{escape(label_word)} {escape(label)}"] if label else []
    parts += ["right"] if right else [f"{escape(answer_word)} {answer}"] if answer else []
    return ", ".join(parts)


def values_html(values: Sequence[Value], terms: TermMarker, *, seconds: float | None = None) -> list[str]:
    """Returns all numbers of a report section as a collapsed HTML table.

    >>> values_html((Value("parameters", 1234),), TermMarker(""))[1]
    '<tr><th scope=row>parameters</th><td>1,234</td></tr>'
    """
    if not values:
        return []
    rows = []
    for value in values:
        meaning = f"<br><span class=aside>{terms.mark_terms(value.meaning)}</span>" if value.meaning else ""
        rows.append(f"<tr><th scope=row>{terms.mark_terms(value.name)}{meaning}</th><td>{escape(str(value))}</td></tr>")
    if seconds is not None:
        rows.append(f"<tr><th scope=row>time for this section</th><td>{seconds:.2g} s</td></tr>")
    return ["<details><summary>All numbers</summary><div class=scroll><table>", *rows, "</table></div></details>"]


def _behind(
    definitions: Sequence[QuantityDefinition], hypotheses: Sequence[Hypothesis], terms: TermMarker
) -> list[str]:
    if not definitions and not hypotheses:
        return []
    lines = ["<details><summary>How this is computed</summary>", *map(_definition, definitions)]
    if hypotheses:
        lines += ["<ul class=premises>", *(_hypothesis(h, terms) for h in hypotheses), "</ul>"]
    return [*lines, "</details>"]


def _definition(definition: QuantityDefinition) -> str:
    key = definition.reference
    cited = f'<br><a class=aside href="#reference-{escape(key)}">{escape(reference(key))}</a>' if key else ""
    return f"<p><span class=equation>{escape(definition.equation)}</span><br>{escape(definition.text)}{cited}</p>"


def _hypothesis(hypothesis: Hypothesis, terms: TermMarker) -> str:
    kind, word = PREMISES[hypothesis.holds]
    how = f": {escape(hypothesis.checked)}" if hypothesis.checked else ""
    return f'<li><span class="badge {kind}">{word}</span> {terms.mark_terms(hypothesis.statement)}{how}</li>'
