"""The search of the site: questions in a reader's words find guides before the reference, and words in all their forms.

The index of the search gets two fields that are not shown: the stems of the title and of the words in
``search_words.json``, and the stems of the text. ``assets/search.js`` reduces a question to its stems. The file
``atlas`` adds the pages of the atlas.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from stems import stems

BOOSTS = {
    "start/": 2.0, "faq": 2.0, "guides/": 1.8, "tutorials/": 1.5, "topics/": 1.5, "reference/cli": 1.0,
    "reference/": 0.5, "design/": 0.5, "contributing/": 0.5, "bibliography": 0.3,
}  # fmt: skip
"""Factor of the search score by the beginning of the address; the first that fits counts."""
WORDS = Path(__file__).with_name("search_words.json")
"""What readers type who look for a page and do not know its title."""
FIELDS = {"title": 1.0, "words": 8.0, "body": 1.0, "text": 1.0}
"""Weight of each field. A word of the title is also in ``words``."""
SEPARATOR = r"""[\s\-,.:;!?()\[\]"'`=/_]+"""
"""What separates the words of titles and texts."""


def set_boost(page: Any) -> None:
    """Gives a page the weight of its folder, unless it has its own."""
    for folder, boost in BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {}).setdefault("boost", boost)


def with_stems(index: dict[str, Any]) -> dict[str, Any]:
    """The index of the search with the two fields of stems. Pages of the reference have no stems of their text."""
    docs = [_with_stems(entry) for entry in index["docs"]]
    fields = {name: {"boost": weight} for name, weight in FIELDS.items()}
    return {
        **index,
        "config": {**index["config"], "separator": SEPARATOR, "pipeline": [], "fields": fields},
        "docs": docs,
    }


@cache
def words() -> dict[str, str]:
    """The words of each page by its address without ending."""
    found: dict[str, str] = json.loads(WORDS.read_text(encoding="utf-8"))
    return found


def _with_stems(entry: dict[str, Any]) -> dict[str, Any]:
    place = entry["location"].removesuffix(".html")
    found = {**entry, "words": stems(f"{entry['title']} {words().get(place, '')}")}
    return found if place.startswith("reference/") else {**found, "body": stems(entry["text"])}
