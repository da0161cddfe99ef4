"""Writes the atlas of theory claims as a folder of web pages that work offline.

Results come from the stored records; what is not stored is run. An interrupted call continues, because results of runs
are kept in a file of the folder.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> build_site(folder, ["perceptron-novikoff"]) == folder / "index.html"
True
>>> "margin^2" in (folder / "perceptron-novikoff.html").read_text()
True
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from gnomon.atlas.catalog import CatalogEntry, select_entries
from gnomon.atlas.many import ClaimTask, run_claims
from gnomon.atlas.pages import overview
from gnomon.atlas.pages.claim import ClaimLinks, claim_html
from gnomon.atlas.pages.layout import page_html
from gnomon.atlas.pages.result import ClaimResult, result_of_run, stored_result
from gnomon.atlas.pages.style import script_text
from gnomon.atlas.reading import chapter_of_kind, chapters, claims_of_chapter, reading_paths
from gnomon.core.errors import add_call_to_errors
from gnomon.core.machine.files import write_file
from gnomon.lab.claim import Scale

__all__ = ["build_site"]

Progress = Callable[[str, int, int], None]
"""Called with what is done, its number, and how many there are."""
OUTCOMES = "outcomes.jsonl"
"""File of the folder with the results of runs that are not stored in the package."""


@add_call_to_errors
def build_site(
    folder: Path,
    ids: Sequence[str] = (),
    *,
    scale: Scale = "smoke",
    seed: int = 0,
    jobs: int = 1,
    out: Path | None = None,
    home: str = "",
    progress: Progress | None = None,
) -> Path:
    """Writes web pages of theory claims (of all claims if none are named) into a folder; returns the path of the index
    page.

    Args:
        folder: is made if it does not exist; files of the same names are replaced, others are left.
        ids: claims or kinds.
        scale: of runs; another scale or ``seed`` than the default runs every claim again, without sliders.
        jobs: number of processes for runs.
        out: a file of outcomes of earlier runs; by default one in the folder.
        home: address of the documentation that the pages link to.
        progress: called when a claim has a result, with its id and verdict, and before its page is written.

    Cost: 30 ms for each page with a stored result; other claims run first.

    >>> callable(build_site)
    True
    """
    report = progress or (lambda what, number, total: None)
    entries = select_entries(list(ids))
    results = _results(entries, ClaimTask("", scale, seed), jobs, out or folder / OUTCOMES, report)
    neighbors = _neighbors()
    for number, entry in enumerate(entries, 1):
        name = entry.claim.id
        report(f"page of {name}", number, len(entries))
        body = claim_html(entry, results[name], neighbors[name])
        _write(folder / f"{name}.html", page_html(entry.claim.question, body, home=home, script=script_text("atlas")))
    for chapter in chapters():
        _write(
            folder / f"chapter-{chapter.slug}.html", page_html(chapter.title, overview.chapter_html(chapter), home=home)
        )
    for path in reading_paths():
        _write(folder / f"path-{path.slug}.html", page_html(path.title, overview.path_html(path), home=home))
    said = {name: result.row["reason"] for name, result in results.items()}
    _write(
        folder / "refuted.html",
        page_html("Popular statements that failed here", overview.refuted_html(said), home=home),
    )
    _write(folder / "coverage.html", page_html("What covers each statement", overview.coverage_html(), home=home))
    index = overview.index_html([entry.claim.id for entry in entries])
    return _write(
        folder / "index.html",
        page_html("Atlas of deep learning theory", index, home=home, script=script_text("search")),
    )


def _results(
    entries: list[CatalogEntry], like: ClaimTask, jobs: int, out: Path, report: Progress
) -> dict[str, ClaimResult]:
    """Returns the stored results of the claims if default settings are requested; otherwise runs the claims."""
    found: dict[str, ClaimResult] = {}
    if like == ClaimTask(""):
        found = {e.claim.id: result for e in entries if (result := stored_result(e)) is not None}
    tasks = [ClaimTask(e.claim.id, like.scale, like.seed) for e in entries if e.claim.id not in found]
    for number, row in enumerate(run_claims(tasks, jobs=jobs, out=out), 1):
        found[row["id"]] = result_of_run(row)
        report(f"{row['id']}: {row['verdict']}", number, len(tasks))
    return found


def _neighbors() -> dict[str, ClaimLinks]:
    """Returns for every claim its chapter, the claims before and after it, and its reading paths."""
    order = [name for chapter in chapters() for name in claims_of_chapter(chapter.slug)]
    kinds = {entry.claim.id: entry.kind for entry in select_entries([])}
    found = {}
    for i, name in enumerate(order):
        steps = [(path, [step.claim for step in path.steps]) for path in reading_paths()]
        places = tuple((path, claims.index(name) + 1) for path, claims in steps if name in claims)
        before, after = order[i - 1] if i else "", order[i + 1] if i + 1 < len(order) else ""
        found[name] = ClaimLinks(chapter_of_kind(kinds[name]), before, after, places)
    return found


def _write(path: Path, text: str) -> Path:
    """Writes a web page to a file, unless the file already has the same content."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return path
    return write_file(path, text)
