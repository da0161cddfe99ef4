"""First floor: results become one page that a person can read, print, send, and open without a network.

Lives here: the layout of a page (sections with their content) and the HTML made of it; references in full.
Does not live here: any measurement, and what results are made of (`gnomon.core.results`).
May import: core.
"""

from gnomon.report.html import html
from gnomon.report.page import Content, Page, Section, State, Status
from gnomon.report.references import reference

__all__ = ["Content", "Page", "Section", "State", "Status", "html", "reference"]
