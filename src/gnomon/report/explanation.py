"""Names the documentation page that explains a section of a report, and links to it if its address is known.

>>> about = Explanation("topics/robustness.md", "Signal propagation, measured")
>>> explanation_html(about, "https://docs.example")
'<a href="https://docs.example/topics/robustness.html#signal-propagation-measured">What this means</a>'
>>> explanation_html(about, "")
'What this means: “Signal propagation, measured” in the documentation (topics/robustness.html)'
"""

import re
from dataclasses import dataclass
from html import escape

from gnomon.core.results.record import Record

__all__ = ["Explanation", "explanation_html"]


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """A place in the documentation that explains a section of a report: a page and a heading on it.

    >>> Explanation("topics/regimes.md", "Lazy or rich: in which regime is my network?", whole=True).address
    'topics/regimes.html'
    """

    page: str
    heading: str
    whole: bool = False

    @property
    def address(self) -> str:
        """Returns the web address of the explanation, relative to the root of the documentation."""
        page = f"{self.page.removesuffix('.md')}.html"
        return page if self.whole else f"{page}#{_anchor(self.heading)}"


def _anchor(heading: str) -> str:
    """Returns the HTML anchor that the documentation gives to a heading.

    >>> _anchor("How good are the samples of your model?")
    'how-good-are-the-samples-of-your-model'
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def explanation_html(explanation: Explanation, site: str) -> str:
    """Returns a link to the explanation of a report section, or the page's name if the site's address is unknown.

    ``site`` is the address or folder of the documentation site.

    >>> explanation_html(Explanation("faq.md", "Questions", whole=True), "../site/")
    '<a href="../site/faq.html">What this means</a>'
    """
    if site:
        return f'<a href="{escape(site.rstrip("/"))}/{escape(explanation.address)}">What this means</a>'
    page = explanation.address.partition("#")[0]
    return f"What this means: “{escape(explanation.heading)}” in the documentation ({escape(page)})"
