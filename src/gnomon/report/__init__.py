"""Renders results as pages in HTML, Markdown and JSON.

Contains: the layout of a page, its HTML, examples as people look at them, a glossary, references.
Does not contain: measurements.
May import: core, findings.
"""

from gnomon.report.html import page_html
from gnomon.report.markdown import page_markdown
from gnomon.report.page import Page, PageContent, Section

__all__ = [
    "PageContent",
    "Page",
    "Section",
    "page_html",
    "page_markdown",
]
