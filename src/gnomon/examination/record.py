"""The result of an examination: a record that prints, saves, compares and shows itself.

>>> print(Examination("net", (), (), {"seed": 0}))
net: no fault found.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.core.record import Record
from gnomon.examination.advice import FAULT
from gnomon.report import Advice, Page, Section, html

SCHEMA = 1
"""Version of `Examination.to_dict`; a change of names or meanings raises it."""


@dataclass(frozen=True, slots=True, eq=False)
class Examination(Record):
    """Sections in order, advice ranked by effect, and what it was all made from.

    ``facts`` are the objects behind the numbers (kernel, trained model, ...), for those who want to go on from there.
    """

    name: str
    sections: tuple[Section, ...]
    advice: tuple[Advice, ...]
    manifest: dict[str, Any]
    partial: bool = False
    facts: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def faults(self) -> tuple[Advice, ...]:
        """Advice that names a fault, not an improvement."""
        return tuple(a for a in self.advice if a.effect >= FAULT)

    @property
    def healthy(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.healthy:
            count = len(self.advice)
            more = f" {count} thing{'s' if count > 1 else ''} could be better." if count else ""
            return f"{self.name}: no fault found{' before it was stopped' if self.partial else ''}.{more}"
        count = len(self.faults)
        return f"{self.name}: {count} fault{'s' if count > 1 else ''} found, first: {self.faults[0].because}."

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"  {s.title}: {s.answer}" for s in self.sections if s.status not in ("skipped", "failed")]
        if self.advice:
            lines += ["", "What to do:"]
            lines += [f"  {i}. {a.action}: {a.because}." for i, a in enumerate(self.advice, 1)]
        return "\n".join(lines).rstrip()

    def section(self, key: str) -> Section:
        """The section of a step, by its key."""
        return next(s for s in self.sections if s.key == key)

    def to_dict(self) -> dict[str, Any]:
        """Everything but ``facts``, as plain values for JSON; ``schema`` says which version of the names this is."""
        page = self.page().to_dict()
        return {"schema": SCHEMA, "name": self.name, "verdict": self.verdict, "healthy": self.healthy,
                "partial": self.partial, **page}  # fmt: skip

    def page(self) -> Page:
        """The examination as a page."""
        keys = ("regime", "limit", "training", "stability")
        words = [s.answer for k in keys for s in self.sections if s.key == k and s.status not in ("skipped", "failed")]
        note = "This report is partial: the examination was stopped before its end." if self.partial else ""
        return Page(
            f"Examination of {self.name}", (self.verdict, *words), self.sections, self.advice, self.manifest, note
        )

    def save(self, path: str | Path) -> Path:
        """Write the report as one HTML file; its folder is made if it is not there."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html(self.page()), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(html(self.page()))}" style="width:100%;height:40rem;border:0"></iframe>'

    def compare(self, other: "Examination") -> str:
        """A table of the values that both have and that differ, one line each."""
        lines = [f"{self.name} | {other.name}"]
        theirs = {(s.key, v.name): v for s in other.sections for v in s.values}
        for s in self.sections:
            for v in s.values:
                match = theirs.get((s.key, v.name))
                if match is not None and match.value != v.value:
                    lines.append(f"{s.title}, {v.name}: {v} | {match}")
        return "\n".join(lines)
