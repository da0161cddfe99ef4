"""Renders a section as HTML: answer, plots, and folded below them numbers, formulas and assumptions."""

from collections.abc import Sequence
from html import escape

from gnomon.core.results import Finding, Hypothesis, Plot, QuantityDefinition, Value
from gnomon.core.results.svg import plots_svg
from gnomon.report.exhibit import ShownExample
from gnomon.report.glossary import TermMarker
from gnomon.report.page import Section
from gnomon.report.references import reference

__all__ = ["finding_html", "badge_html", "figures_html", "gallery_html", "values_html", "pictures_html", "section_html"]

WORDS = {"good": "fine", "unsure": "unclear", "note": "note", "warning": "warning", "problem": "problem",
         "skipped": "skipped", "failed": "failed"}  # fmt: skip
PREMISES = {True: ("good", "holds"), False: ("problem", "does not hold"), None: ("note", "not checked")}


def section_html(part: Section) -> list[str]:
    """Renders a section as lines of HTML.

    Cost: about 50 ms for each plot.

    >>> from gnomon.report.page import Content
    >>> section_html(Section("data", "The data", "Are they fine?", Content("They are.")))[1:3]
    ['<p class=aside>Are they fine?</p>', '<p class=answer>They are.</p>']
    """
    content, terms = part.content, TermMarker(part.key)
    words = [f"<p class=answer>{terms.marked(part.answer)}</p>", *_advice(part, terms)]
    lines = [
        f'<section id="{escape(part.key)}"><h2>{escape(part.title)} {badge_html(part.status)}</h2>',
        f"<p class=aside>{escape(part.question)}</p>",
    ]
    if content.exhibits:
        lines += [*words, *gallery_html(content.exhibits), *pictures_html(content.plots, part.key, terms)]
    elif content.plots:
        first, *others = figures_html(content.plots, part.key, terms)
        lines += ["<div class=open>", first, "<div>", *words, "</div></div>"]
        lines += ["<div class=plots>", *others, "</div>"] if others else []
    else:
        lines += words
    lines += [*values_html(content.values, terms), *_behind(content.definitions, content.hypotheses, terms)]
    return [*lines, *terms.cards(), f"<p class=cost>took {part.seconds:.2g} s</p></section>"]


def _advice(part: Section, terms: TermMarker) -> list[str]:
    """The findings of a section; omits messages that the answer already contains."""
    if not part.findings or part.state not in ("answered", "unsure"):
        return []
    items = [f"<li>{finding_html(f, terms, only_fix=part.content.states(f))}</li>" for f in part.findings]
    return ["<ul class=findings>", *items, "</ul>"]


def badge_html(status: str) -> str:
    """The status of a section or finding as a colored word.

    >>> badge_html("good")
    '<span class="badge good">fine</span>'
    """
    return f'<span class="badge {status}">{WORDS[status]}</span>'


def finding_html(finding: Finding, terms: TermMarker, link: str = "", *, only_fix: bool = False) -> str:
    """Renders a finding: the message, a link to its section, then the fix; with ``only_fix``, only the fix.

    >>> from gnomon.core.results import Kind, Level
    >>> finding_html(Finding(Kind("loud", Level.PROBLEM, "It is loud.", "Call `turn()`.")), TermMarker(""))[-48:]
    '<span class=fix>Call <code>turn()</code>.</span>'
    """
    fix = f"<span class=fix>{terms.marked(finding.fix)}</span>"
    if only_fix:
        return fix
    where = f" <code>{escape(finding.where)}</code>" if finding.where else ""
    why = f' <a class=more href="#{escape(link)}">why</a>' if link else ""
    return f"{badge_html(finding.level.name.lower())}{where} {terms.marked(finding.message)}{why} {fix}"


def figures_html(plots: Sequence[Plot], name: str, terms: TermMarker) -> list[str]:
    """Plots with their captions, one figure each.

    Cost: about 50 ms for each.

    >>> figures_html((), "data", TermMarker("data"))
    []
    """
    drawn = []
    for i, plot in enumerate(plots):
        caption = f"<figcaption>{terms.marked(plot.caption)}</figcaption>" if plot.caption else ""
        picture = plots_svg((plot,), f"{name}-{i}", width=5.2, height=3.1)
        drawn.append(f'<figure id="figure-{escape(name)}-{i}">{picture}{caption}</figure>')
    return drawn


def pictures_html(plots: Sequence[Plot], name: str, terms: TermMarker) -> list[str]:
    """Renders plots side by side, as many as fit.

    Cost: about 50 ms for each.

    >>> pictures_html((), "data", TermMarker("data"))
    []
    """
    return ["<div class=plots>", *figures_html(plots, name, terms), "</div>"] if plots else []


def gallery_html(exhibits: Sequence[ShownExample]) -> list[str]:
    """Renders examples as images, rows of features or strings of tokens, with labels and answers.

    >>> gallery_html((ShownExample(4, "cat", "dog", tokens=("7", "9")),))[1]
    '<li><span class=tokens><i>7</i> <i>9</i></span><b>#4</b> label cat, answer dog</li>'
    """
    if not exhibits:
        return []
    wide = "" if any(e.picture for e in exhibits) else " wide"
    return [f'<ul class="gallery{wide}">', *map(_exhibit, exhibits), "</ul>"]


def _exhibit(one: ShownExample) -> str:
    answer = escape(one.answer) if one.right is not False else f"<b class=problem>{escape(one.answer)}</b>"
    words = f"<b>#{one.number}</b> label {escape(one.label)}, {'right' if one.right else f'answer {answer}'}"
    note = f" <span class=aside>{escape(one.note)}</span>" if one.note else ""
    more = f" <span class=aside>and {one.hidden:,} more</span>" if one.hidden else ""
    if one.picture:
        seen = f'<img src="{escape(one.picture)}" alt="example {one.number}">'
    elif one.tokens:
        seen = f"<span class=tokens>{' '.join(f'<i>{escape(t)}</i>' for t in one.tokens)}{more}</span>"
    else:
        seen = f"<span class=tokens>{', '.join(map(escape, one.features))}{more}</span>" if one.features else ""
    return f"<li>{seen}{words}{note}</li>"


def values_html(values: Sequence[Value], terms: TermMarker) -> list[str]:
    """All values as a folded table.

    >>> values_html((Value("parameters", 1234),), TermMarker(""))[1]
    '<tr><th scope=row>parameters</th><td>1,234</td></tr>'
    """
    if not values:
        return []
    rows = []
    for value in values:
        meaning = f"<br><span class=aside>{terms.marked(value.meaning)}</span>" if value.meaning else ""
        rows.append(f"<tr><th scope=row>{terms.marked(value.name)}{meaning}</th><td>{escape(str(value))}</td></tr>")
    count = f"{len(values)} number{'s' if len(values) > 1 else ''}"
    return [f"<details><summary>{count}</summary><div class=scroll><table>", *rows, "</table></div></details>"]


def _behind(
    definitions: Sequence[QuantityDefinition], hypotheses: Sequence[Hypothesis], terms: TermMarker
) -> list[str]:
    if not definitions and not hypotheses:
        return []
    lines = ["<details><summary>Formulas and assumptions</summary>", *map(_definition, definitions)]
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
    return f'<li><span class="badge {kind}">{word}</span> {terms.marked(hypothesis.statement)}{how}</li>'
