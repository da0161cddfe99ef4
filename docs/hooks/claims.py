"""Links to pages that are built beside those of mkdocs: claims of the atlas, and the playground.

``[text](claim:ntk-constancy)`` leads to the page of that claim in the folder ``atlas``. An unknown claim is a warning,
which fails a strict build.
"""

import logging
import re
from functools import cache

from gnomon.atlas.catalog import catalog

LOG = logging.getLogger("mkdocs.hooks.claims")
CLAIM = re.compile(r"\[([^\]]*)\]\((?:claim:|[./]*atlas/(?:claims/)?)([\w-]+)(?:\.html|\.md)?\)")
PLAYGROUND = re.compile(r"\[([^\]]*)\]\([./]*(playground\.html(?:#[^)\s]*)?)\)")
OVERVIEWS = re.compile(r"index|coverage|refuted|(?:chapter|path)-[\w-]+")


def linked(markdown: str, page: str) -> str:
    """A page whose links to claims and to the playground lead there; mkdocs does not know these pages."""
    up = "../" * page.count("/")
    for _, name in CLAIM.findall(markdown):
        if not OVERVIEWS.fullmatch(name) and name not in titles():
            LOG.warning(f"{page}: there is no claim '{name}'; `gnomon atlas list --search WORD` finds claims")
    markdown = CLAIM.sub(lambda match: f'<a href="{up}atlas/{match[2]}.html">{match[1]}</a>', markdown)
    return PLAYGROUND.sub(lambda match: f'<a href="{up}{match[2]}">{match[1]}</a>', markdown)


@cache
def titles() -> dict[str, str]:
    """The question (or the statement) of every claim by id."""
    return {name: entry.claim.question or entry.claim.title for name, entry in catalog().items()}
