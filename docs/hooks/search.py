"""The search of the site: guides come before the reference, and claims of the atlas are found as well."""

import json
from pathlib import Path
from typing import Any

from claims import titles

from gnomon.atlas.catalog import catalog

BOOSTS = {
    "start/": 2.0, "tutorials/": 2.0, "guides/": 2.0, "topics/": 1.5, "reference/": 0.5, "design/": 0.5,
    "contributing/": 0.5, "bibliography": 0.3,
}  # fmt: skip
"""Factor of the search score by folder."""
ATLAS_BOOST = 0.8
"""Below guides, above the reference."""


def set_boost(page: Any) -> None:
    """Gives a page the weight of its folder, unless it has its own."""
    for folder, boost in BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {}).setdefault("boost", boost)


def add_claims(site: Path) -> None:
    """Adds every claim to the index that the search loads, as JSON or as a script."""
    for path, before in ((site / "search/search_index.json", ""), (site / "search/search_index.js", "var __index = ")):
        if path.exists():
            index = json.loads(path.read_text(encoding="utf-8").removeprefix(before))
            index["docs"] += _entries()
            path.write_text(before + json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _entries() -> list[dict[str, Any]]:
    return [
        {
            "location": f"atlas/{name}.html",
            "title": titles()[name],
            "text": f"<p>{entry.claim.title}. Claim {name} of the atlas, {entry.kind.replace('-', ' ')}.</p>",
            "boost": ATLAS_BOOST,
        }
        for name, entry in catalog().items()
    ]
