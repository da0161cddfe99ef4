"""Defines the data structure of a report page: its sections and their content, which can be exported to JSON.

The findings of the sections are the one list of what is wrong: the status of a section is the level of its most serious
finding, also of one that another section states, and a page ranks them all by the table of findings.

>>> from gnomon.findings.data import INPUT_SCALE
>>> loud = Finding(INPUT_SCALE, "inputs", {"size": 1000.0})
>>> content = PageContent("No.", (loud,), (Value("rms", 1000.0, id="rms"),))
>>> section = Section("data", "The data", "Are they fine?", content)
>>> section.status, section.value("rms").value
('problem', 1000.0)
>>> page = Page("A page", "One problem.", (section,), {"seed": 0})
>>> [(key, finding.kind) for key, finding in page.findings]
[('data', 'input-scale')]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from gnomon.core.results import Finding, Hypothesis, Plot, QuantityDefinition, Value, to_json_value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.record import Record
from gnomon.findings import rank_in_table
from gnomon.report.explanation import Explanation
from gnomon.report.shown_example import ShownExample
from gnomon.report.table import PageTable

__all__ = ["first_sentence", "PageContent", "Page", "Section", "SectionState", "BadgeStatus", "PageTile"]

SectionState = Literal["answered", "unsure", "skipped", "late", "failed"]
"""Whether a section has an answer. "unsure": the measurements are not enough for an answer. "late": there was no
time."""
BadgeStatus = Literal["good", "unsure", "note", "warning", "problem", "skipped", "failed"]
"""The status of a section: the level of its most serious finding, "good" without findings, or why there is no
answer."""


def first_sentence(text: str) -> str:
    """Returns the first sentence of a text.

    >>> first_sentence("It has 0.5 of them. Others have more.")
    'It has 0.5 of them.'
    """
    return re.split(r"(?<=[.!?]) (?=[A-Z])", text)[0]


@dataclass(frozen=True, slots=True)
class PageContent(Record):
    """Content of a report section: the answer in one sentence, and the findings, numbers and plots that support it.

    ``stated`` are the findings whose message is part of the answer, ``notes`` what was done to the data before.
    ``good_news`` is False if the answer asks for a look without a finding.

    >>> PageContent("All layers see the inputs.").findings
    ()
    """

    answer: str
    findings: tuple[Finding, ...] = ()
    values: tuple[Value, ...] = ()
    plots: tuple[Plot, ...] = ()
    definitions: tuple[QuantityDefinition, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    exhibits: tuple[ShownExample, ...] = ()
    stated: tuple[Finding, ...] = field(default=(), repr=False, metadata=HIDDEN_IN_JSON)
    notes: tuple[str, ...] = ()
    tables: tuple[PageTable, ...] = ()
    good_news: bool = True

    def states(self, finding: Finding) -> bool:
        """Checks whether the section's answer already contains the message of this finding."""
        return any((one.kind, one.where) == (finding.kind, finding.where) for one in self.stated)


@dataclass(frozen=True, slots=True)
class Section(Record):
    """One section of a report: a question and its answer; for a skipped question, the answer is the reason.

    ``traceback`` is the whole one of the exception for which a section failed; the page shows a sentence, the data all.
    ``stated_elsewhere`` are findings that are true of this section and listed in another one, as the same fault or as
    its cause: they decide the status, so that a section never looks fine while its answer reports a problem.
    ``essential``: without this answer the report cannot say that the network has no problem. ``rests_on`` names what
    the answer is worth nothing without, such as enough examples. ``if_unsure`` is what the verdict adds if the answer
    is unsure. ``time_factor`` says how many times the budget would be enough for a sure answer.
    """

    key: str
    title: str
    question: str
    content: PageContent
    state: SectionState = "answered"
    seconds: float = 0.0
    traceback: str = field(default="", repr=False)
    stated_elsewhere: tuple[Finding, ...] = field(default=(), repr=False)
    essential: bool = False
    rests_on: tuple[str, ...] = ()
    if_unsure: str = ""
    time_factor: float = 1.0

    @property
    def status(self) -> BadgeStatus:
        """Returns the section's status, such as "good" or "problem", which follows from its findings."""
        if self.state in ("skipped", "late", "failed"):
            return "failed" if self.state == "failed" else "skipped"
        found = (*self.findings, *self.stated_elsewhere)
        if not found and self.state == "answered":
            return "good" if self.content.good_news else "note"
        if not found:
            return "unsure"
        name = max(finding.level for finding in found).name.lower()
        return next(status for status in get_args(BadgeStatus) if status == name)

    @property
    def answer(self) -> str:
        """Returns the section's answer as text, with notes on preprocessing of the data."""
        return " ".join((self.content.answer, *(f"Note: {note}." for note in self.content.notes)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the problems, warnings and notes of the report section."""
        return self.content.findings

    @property
    def summary(self) -> str:
        """Returns the first sentence of the section's answer."""
        return first_sentence(self.content.answer)

    def value(self, id: str) -> Value | None:
        """Returns the section's measured value with this id; None if there is none."""
        return next((v for v in self.content.values if v.id == id), None)

    def to_dict(self) -> dict[str, Any]:
        """Returns the section as plain values for JSON."""
        head = {"key": self.key, "title": self.title, "question": self.question, "status": self.status}
        failure = {"traceback": self.traceback} if self.traceback else {}
        decided = {
            "state": self.state, "stated_elsewhere": to_json_value(self.stated_elsewhere), "essential": self.essential,
            "rests_on": list(self.rests_on), "if_unsure": self.if_unsure, "time_factor": self.time_factor,
            "stated": [[finding.kind, finding.where] for finding in self.content.stated],
            "content_answer": self.content.answer,
        }  # fmt: skip
        words = {"answer": self.answer, "seconds": self.seconds}
        return head | to_json_value(self.content) | words | decided | failure


@dataclass(frozen=True, slots=True)
class PageTile(Record):
    """A small picture at the top of a report page with a link to its section: a plot, or examples."""

    key: str
    title: str
    plot: Plot | None = None
    exhibits: tuple[ShownExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Page(Record):
    """A complete report: the verdict in one sentence, the sections, and the small pictures at the top.

    ``headline`` stands for the verdict on the first screen, followed by the findings; ``facts`` say in a few words
    what was examined. ``order`` lists keys of sections, the most important first. ``proofs`` says for kinds of findings
    what their fix has gained in an experiment. ``next_step`` says what to do without a finding. ``explanations`` are
    the pages of the documentation that explain the sections, by key; ``site`` is the address of the documentation.
    ``certainty`` says how certain the result is, and what was not examined.
    """

    title: str
    verdict: str
    sections: tuple[Section, ...]
    manifest: Mapping[str, Any]
    note: str = ""
    tiles: tuple[PageTile, ...] = ()
    headline: str = ""
    facts: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    proofs: Mapping[str, str] = field(default_factory=dict)
    next_step: str = ""
    explanations: Mapping[str, Explanation] = field(default_factory=dict, repr=False)
    site: str = ""
    certainty: str = ""

    @property
    def shown_sections(self) -> tuple[Section, ...]:
        """Returns all sections that were not skipped."""
        return tuple(section for section in self.sections if section.status != "skipped")

    @property
    def by_importance(self) -> tuple[Section, ...]:
        """Returns the sections that were not skipped: most serious findings first, then in the order of the page."""
        levels = {"problem": 0, "failed": 1, "warning": 2, "note": 3}
        places = {key: i for i, key in enumerate(self.order)}
        return tuple(
            sorted(self.shown_sections, key=lambda s: (levels.get(s.status, 4), places.get(s.key, len(places))))
        )

    @property
    def left_out(self) -> dict[str, list[Section]]:
        """Returns the skipped sections of the report, grouped by reason."""
        reasons: dict[str, list[Section]] = {}
        for section in self.sections:
            if section.status == "skipped":
                reasons.setdefault(section.answer, []).append(section)
        return reasons

    @property
    def findings(self) -> tuple[tuple[str, Finding], ...]:
        """Returns all findings of the report with the keys of their sections, most serious first."""
        pairs = [(section.key, finding) for section in self.sections for finding in section.findings]
        return tuple(sorted(pairs, key=lambda pair: (-pair[1].level, rank_in_table(pair[1].row))))

    @property
    def status(self) -> BadgeStatus:
        """Returns the status of the whole report: the level of its most serious finding, or "unsure" or "good" without
        any.
        """
        unsure = any(section.status == "unsure" for section in self.sections)
        content = PageContent("", tuple(finding for _, finding in self.findings))
        return Section("", "", "", content, "unsure" if unsure else "answered").status

    @property
    def advice_without_findings(self) -> str:
        """Says what to do if nothing was found."""
        whole = all(section.state in ("answered", "skipped") for section in self.sections)
        calm = "Nothing to change." if whole else "None of the measurements made so far suggests a change."
        return self.next_step or calm

    def to_dict(self) -> dict[str, Any]:
        """Returns the report page as plain values for JSON; each finding includes its level and section."""
        findings = [to_json_value(f) | {"section": key} for key, f in self.findings]
        return {
            "title": self.title,
            "verdict": self.verdict,
            "findings": findings,
            "sections": [section.to_dict() for section in self.sections],
            "manifest": to_json_value(self.manifest),
            "note": self.note,
            "facts": list(self.facts),
            "certainty": self.certainty,
        }
