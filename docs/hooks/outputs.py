"""Shows below each Python block of a page what it prints; a page whose code changed since its last run is a warning."""

import logging
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.blocks import page as block_pages  # noqa: E402

LOG = logging.getLogger("mkdocs.hooks.outputs")


def shown(markdown: str, file: Any) -> str:
    """The text of a page with outputs below its blocks."""
    path = ROOT / "docs" / file.src_uri
    if file.generated_by is not None or not path.exists() or not block_pages.blocks(path):
        return markdown
    if block_pages.load(path) is None:
        LOG.warning(f"{file.src_uri} has no current outputs. Run `python -m tools.blocks run docs/{file.src_uri}`.")
        return markdown
    return block_pages.with_outputs(markdown, path)
