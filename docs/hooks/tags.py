"""Tags that no browser knows: text such as ``<A, B>`` that Markdown takes for HTML and a page then hides."""

from html.parser import HTMLParser

KNOWN = frozenset(
    "a article aside autoref b blockquote br code dd details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i "
    "iframe img input kbd label li ol p path pre s small span strong sub summary sup svg table tbody td tfoot th "
    "thead tr u ul "
    "annotation math menclose mfenced mfrac mi mn mo mover mphantom mroot mrow mspace msqrt mstyle msub msubsup msup "
    "mtable mtd mtext mtr munder munderover semantics".split()
)


def unknown(html: str) -> list[str]:
    """The tags of a page that are neither HTML nor MathML, as they are written.

    >>> unknown("<p>With <A, B> = sum A B</p>")
    ['<A, B>']
    """
    reader = _Reader()
    reader.feed(html)
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in KNOWN:
            self.found.append(self.get_starttag_text() or tag)
