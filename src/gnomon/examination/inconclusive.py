"""Examinations that found no fault and still cannot call a network healthy: too little time, too little data, a guess.

The reason is read from the sections, so that verdict, ``healthy``, marks and exit code cannot contradict each other.

>>> from gnomon.report import Content
>>> few = Finding("too-few-examples", "There is 1 training example: too little data to tell.", "Give more.", 0.48)
>>> data = Section("data", "The data", "?", Content("There is 1.", (few,)))
>>> columns = Section("columns", "Columns", "?", Content("Columns are in order."))
>>> inconclusive((data,)).text
'too little data to tell. There is 1 training example: too little data to tell.'
>>> [(section.status, section.answer) for section in mark_inconclusive((data, columns))]
[('warning', 'There is 1.'), ('unsure', 'Judged on too few examples: Columns are in order.')]
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.report import Section

__all__ = ["BEFORE", "Inconclusive", "inconclusive", "mark_inconclusive"]

BEFORE = ("data", "wiring", "columns", "signal")
"""Sections without which nobody can say that there is no fault."""
HEADS = {
    "too-few-examples": "too little data to tell",
    "untrained": "not trained yet, so there is nothing to call healthy",
    "chance-level": "not healthy, though no single fault was found",
}
"""How the verdict begins if a finding of this kind leaves the question open; the first in this order counts."""
DECIDED = ("margins", "examples", "invariance", "attribution")
"""Sections about the decisions of the network, which say little of a network that guesses."""
TRAINED = ("training", "outcome", "regime", "curvature", "sequences", "graphs")
"""Further sections about the network after training, where it was trained."""
ABOUT_MODULE = ("architecture",)
"""Sections that need no examples."""
FEW = "Judged on too few examples"
GUESSES = "This says little, because the network performs like random guessing"


@dataclass(frozen=True, slots=True)
class Inconclusive(Record):
    """Why nobody can call the network healthy, though no fault was found: ``kind`` is "time" or a kind of finding.

    ``text`` is the verdict without the name of the network.
    """

    kind: str
    text: str


def inconclusive(sections: Sequence[Section]) -> Inconclusive | None:
    """The reason why the sections cannot show that a network is healthy; None if they can.

    >>> inconclusive(()) is None
    True
    """
    late = [section for section in sections if section.state == "late"]
    if any(section.key in BEFORE for section in late):
        count = f"{len(late)} of {len(sections)} questions did not fit into the budget"
        return Inconclusive("time", f"too little time to tell. {count}.")
    for kind, head in HEADS.items():
        if (found := _found(sections, kind)) is not None:
            return Inconclusive(kind, f"{head}. {found.what}")
    return None


def mark_inconclusive(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, where those that too few examples or a guessing network answer are marked "cannot tell".

    >>> mark_inconclusive(())
    ()
    """
    marked = list(sections)
    if _found(sections, "untrained") is not None or _found(sections, "chance-level") is not None:
        keys = DECIDED if _found(sections, "untrained") is not None else (*DECIDED, *TRAINED)
        marked = [_unsure(section, GUESSES) if section.key in keys else section for section in marked]
    if _found(sections, "too-few-examples") is not None:
        marked = [section if section.key in ABOUT_MODULE else _unsure(section, FEW) for section in marked]
    return tuple(marked)


def _found(sections: Sequence[Section], kind: str) -> Finding | None:
    """A finding of this kind, also where another section states its cause."""
    found = (f for section in sections for f in (*section.findings, *section.stated_elsewhere))
    return next((finding for finding in found if finding.kind == kind), None)


def _unsure(section: Section, why: str) -> Section:
    """A section that would be called fine, as one that cannot tell."""
    if section.status != "good":
        return section
    answer = f"{why}: {section.answer}"
    return replace(section, content=replace(section.content, answer=answer), state="unsure")
