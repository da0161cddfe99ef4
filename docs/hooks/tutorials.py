"""Adds the tutorials to the site: a page and two downloads for each script, and the gallery."""

import logging
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.tutorials import notebook, parse, render, store  # noqa: E402

LOG = logging.getLogger("mkdocs.hooks.tutorials")
GALLERY = "tutorials/index.md"


def navigation() -> list[str]:
    """The pages of the tutorials in order, the gallery first."""
    return [GALLERY, *(f"tutorials/{tutorial.slug}.md" for tutorial, _ in current())]


def current() -> list[tuple[parse.Tutorial, store.Stored]]:
    """Every tutorial whose outputs belong to its code."""
    pairs = [(tutorial, store.load(tutorial)) for tutorial in parse.read_all()]
    return [(tutorial, stored) for tutorial, stored in pairs if stored is not None]


def add_files(files: Any, config: Any) -> None:
    """Adds pages and downloads; a tutorial without current outputs is a warning, which fails a strict build."""
    for tutorial in parse.read_all():
        if store.load(tutorial) is None:
            LOG.warning(store.missing(tutorial))
    for tutorial, stored in current():
        script = (parse.FOLDER / f"{tutorial.slug}.py").read_text(encoding="utf-8")
        _add(files, config, f"tutorials/{tutorial.slug}.md", render.page(tutorial, stored))
        _add(files, config, f"tutorials/download/{tutorial.slug}.py", script)
        _add(files, config, f"tutorials/download/{tutorial.slug}.ipynb", notebook.notebook(tutorial, stored))


def gallery(markdown: str) -> str:
    """The page of the gallery."""
    return render.gallery(current(), markdown)


def _add(files: Any, config: Any, place: str, text: str) -> None:
    files.append(File.generated(config, place, content=text, inclusion=InclusionLevel.INCLUDED))
