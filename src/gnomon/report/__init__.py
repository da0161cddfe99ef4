"""Turns results into pages: HTML, Markdown, JSON.

Contains: the layout of a page, its HTML, examples as people look at them, a glossary, references.
Does not contain: measurements.
May import: core, findings.
"""

from gnomon.report.html import html
from gnomon.report.markdown import markdown
from gnomon.report.page import Content, Page, Section

__all__ = [
    "Content",
    "Page",
    "Section",
    "html",
    "markdown",
]
