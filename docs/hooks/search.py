"""The search of the site: guides come before the reference. The file ``atlas`` adds the pages of the atlas."""

from typing import Any

BOOSTS = {
    "start/": 2.0, "tutorials/": 2.0, "guides/": 2.0, "topics/": 1.5, "reference/": 0.5, "design/": 0.5,
    "contributing/": 0.5, "bibliography": 0.3,
}  # fmt: skip
"""Factor of the search score by folder."""


def set_boost(page: Any) -> None:
    """Gives a page the weight of its folder, unless it has its own."""
    for folder, boost in BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {}).setdefault("boost", boost)
