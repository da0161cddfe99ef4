"""Renders a report as a short Markdown summary, for pull requests and continuous integration."""

from gnomon.core.errors import add_call_to_errors
from gnomon.report.page import Page

__all__ = ["page_markdown"]

MARKS = {"good": "✅", "unsure": "❔", "note": "🔵", "warning": "⚠️", "problem": "❌", "skipped": "➖", "failed": "❗"}
SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\*_[]<>|#~"})
"""Escapes for special characters of Markdown; backticks stay because they mark code."""


@add_call_to_errors
def page_markdown(page: Page) -> str:
    """Renders a report's verdict, advice, and one line for each section in GitHub Markdown.

    >>> print(page_markdown(Page("A net", "Fine.", (), {})))
    ### ✅ A net
    <BLANKLINE>
    **Fine.**
    <BLANKLINE>
    """
    lines = [f"### {MARKS[page.status]} {_plain(page.title)}", "", f"**{_plain(page.verdict)}**", ""]
    lines += [f"How certain? {_plain(page.certainty)}", ""] if page.certainty else []
    if page.findings:
        lines += ["| | what was found | what to do |", "|---|---|---|"]
        lines += [
            f"| {MARKS[f.level.name.lower()]} | {_plain(f.message)} | {_plain(f.fix)} |" for _, f in page.findings
        ]
        lines += [""]
    if page.sections:
        lines += ["<details><summary>All sections</summary>", "", "| | section | answer |", "|---|---|---|"]
        lines += [f"| {MARKS[s.status]} | {_plain(s.title)} | {_plain(s.answer)} |" for s in page.sections]
        lines += ["", "</details>", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return " ".join(text.split()).translate(SPECIAL)
