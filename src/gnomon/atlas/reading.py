"""Defines ten chapters of the atlas, and five reading paths through its claims.

``chapters.json`` groups the kinds of claims; ``paths.json`` has the ids of each path in order, each with a sentence
that leads from the step before. A step is a claim, or a statement that a function or a note covers.

>>> len(chapters()), len(reading_paths())
(10, 5)
>>> chapter_of_kind("kernel-limit").title
'Very wide networks'
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gnomon.atlas.catalog import catalog
from gnomon.atlas.coverage import scope_coverage
from gnomon.core.results.record import Record

__all__ = ["Chapter", "ReadingPath", "ReadingStep", "chapter_of_kind", "chapters", "claims_of_chapter", "reading_paths"]


@dataclass(frozen=True, slots=True)
class Chapter(Record):
    """A chapter of the atlas: the kinds of claims it contains, and two sentences that introduce it."""

    slug: str
    title: str
    introduction: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadingStep(Record):
    """One step of a reading path through the atlas: the id of a statement, an introducing sentence, and the claim to
    read.

    ``claim`` is empty if a function (``function``) or a note (``note``) covers the statement.
    """

    id: str
    sentence: str
    claim: str = ""
    function: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReadingPath(Record):
    """A reading path through the atlas: titled parts, each with an ordered list of claims to read."""

    slug: str
    title: str
    introduction: str
    parts: tuple[tuple[str, tuple[ReadingStep, ...]], ...]

    @property
    def steps(self) -> tuple[ReadingStep, ...]:
        """Returns the steps of all parts of the reading path, in order."""
        return tuple(step for _, steps in self.parts for step in steps)


@cache
def chapters() -> tuple[Chapter, ...]:
    """Returns the ten chapters of the atlas, in order.

    >>> [chapter.slug for chapter in chapters()][0]
    'neurons'
    """
    return tuple(Chapter(**{**row, "kinds": tuple(row["kinds"])}) for row in _read("chapters.json"))


def chapter_of_kind(kind: str) -> Chapter:
    """Returns the chapter of the atlas that contains a kind of claims.

    >>> chapter_of_kind("robustness").slug
    'promises'
    """
    return next(chapter for chapter in chapters() if kind in chapter.kinds)


@cache
def claims_of_chapter(slug: str) -> tuple[str, ...]:
    """Returns the ids of a chapter's claims: first in the order of the reading paths, then the remaining ones.

    Cost: the import of all claims, once.

    >>> "perceptron-novikoff" in claims_of_chapter("neurons")
    True
    """
    kinds = next(chapter.kinds for chapter in chapters() if chapter.slug == slug)
    rank = _rank()
    names = [name for name, entry in catalog().items() if entry.kind in kinds]
    return tuple(sorted(names, key=lambda name: (rank.get(name, len(rank)), name)))


@cache
def _rank() -> dict[str, int]:
    """Ranks the claims by their position in the reading paths; the longest path comes first."""
    order: dict[str, int] = {}
    for path in sorted(reading_paths(), key=lambda path: -len(path.steps)):
        for step in path.steps:
            if step.claim:
                order.setdefault(step.claim, len(order))
    return order


@cache
def reading_paths() -> tuple[ReadingPath, ...]:
    """Returns the five reading paths through the atlas, in order.

    Cost: the import of all claims, once.

    >>> all(step.claim or step.function or step.note for path in reading_paths() for step in path.steps)
    True
    """
    covered = _covering()
    found = []
    for row in _read("paths.json"):
        parts = tuple(
            (part["title"], tuple(ReadingStep(name, sentence, **covered[name]) for name, sentence in part["steps"]))
            for part in row["parts"]
        )
        found.append(ReadingPath(row["slug"], row["title"], row["introduction"], parts))
    return tuple(found)


@cache
def _covering() -> dict[str, dict[str, str]]:
    """Returns for each statement of the theory what a reader should look at: a claim, a function, or a note."""
    rows = scope_coverage().ids
    claims = {name: name for name in catalog()}
    for name, entry in catalog().items():
        for other in entry.claim.covers:
            claims.setdefault(other, name)
    return {name: _cover(name, rows, claims) for name in {*rows, *claims}}


def _cover(name: str, rows: dict[str, dict[str, Any]], claims: dict[str, str]) -> dict[str, str]:
    if name in claims:
        return {"claim": claims[name]}
    row = rows[name]
    if row["status"] == "alias":
        return _cover(row["of"], rows, claims)
    return {"function": row["api"]} if row["status"] == "api" else {"note": _note(name)}


def _note(name: str) -> str:
    from gnomon.atlas.coverage import clauses_of_entry

    return clauses_of_entry(name)[0].left_out or clauses_of_entry(name)[0].text


def _read(name: str) -> Any:
    return json.loads((files("gnomon.atlas") / name).read_text(encoding="utf-8"))
