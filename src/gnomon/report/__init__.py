"""First floor: results become one page that a person can read, print, send, and open without a network.

Lives here: the layout of a page (sections with their content) and the HTML made of it; examples as people look at
them; terms in plain words; references in full.
Does not live here: any measurement, and what results are made of (`gnomon.core.results`).
May import: core.
"""

from gnomon.report.exhibit import Exhibit, exhibit
from gnomon.report.html import html
from gnomon.report.markdown import markdown
from gnomon.report.page import Content, Page, Section, State, Status, Tile
from gnomon.report.references import full_reference, reference

__all__ = [
    "Content",
    "Exhibit",
    "Page",
    "Section",
    "State",
    "Status",
    "Tile",
    "exhibit",
    "full_reference",
    "html",
    "markdown",
    "reference",
]
