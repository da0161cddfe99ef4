"""First floor: results become one page that a person can read, print, send, and open without a network.

Lives here: the records of a page (values, figures, hypotheses, sections, advice) and the HTML made of them.
Does not live here: any measurement; a section comes in with its numbers.
May import: core; matplotlib inside the function that draws.
"""

from gnomon.report.figure import COLORS, figure
from gnomon.report.html import html
from gnomon.report.page import Advice, Definition, Figure, Hypothesis, Page, Section, Status, Value

__all__ = [
    "COLORS",
    "Advice",
    "Definition",
    "Figure",
    "Hypothesis",
    "Page",
    "Section",
    "Status",
    "Value",
    "figure",
    "html",
]
