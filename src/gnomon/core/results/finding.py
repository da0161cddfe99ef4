"""Defines findings (reported problems and notes), hypotheses and definitions, which an analysis reports with its
numbers.

A finding is a fact: a kind, a place and the measured values. Its sentences come from the templates of its kind, so
every sentence can be changed in one place. The package's own kinds are in `gnomon.findings`.

>>> DEAD = FindingKind("dead-units", Level.PROBLEM, "{share:.0%} of units in '{where}' are dead.", "Lower the biases.")
>>> finding = Finding(DEAD, "fc1", {"share": 0.9})
>>> finding.kind, finding.level.name, finding.message
('dead-units', 'PROBLEM', "90% of units in 'fc1' are dead.")
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from gnomon.core.results.record import Record
from gnomon.core.results.value import Value

__all__ = ["QuantityDefinition", "Finding", "Hypothesis", "FindingKind", "Level"]


class Level(IntEnum):
    """How serious a reported finding is: a note, a warning or a problem.

    A problem makes training or its results unreliable. A warning costs time or accuracy. A note is worth knowing.
    """

    NOTE = 0
    WARNING = 1
    PROBLEM = 2


@dataclass(frozen=True, slots=True)
class FindingKind(Record):
    """A kind of problem that gnomon can report: how serious it is, templates for message and fix, problems that it
    explains.

    ``id`` is a stable key for programs. Rows may share it: they are variants of one kind with their own words or level.
    ``message`` and ``fix`` are templates for `str.format`; "{where}" and the values of the finding are their fields.
    ``causes`` are ids of kinds that follow from this one and are not reported next to it. ``excludes`` are ids of kinds
    whose fix is the opposite: the more serious finding is reported. ``refuted_if`` names a fact that shows that the
    finding is wrong, ``milder_if`` a fact with which the row ``milder`` is reported instead. ``page`` is a page of the
    documentation.
    """

    id: str
    level: Level
    message: str
    fix: str
    page: str = ""
    causes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    refuted_if: str = ""
    milder_if: str = ""
    milder: "FindingKind | None" = None


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """Something that an analysis found and the user can act on: its kind, evidence, message and fix.

    ``row`` is the row of the table, ``where`` a module path, "inputs" or "labels", ``values`` fill the templates,
    ``evidence`` are the measurements behind it, ``false_alarm`` is the rate at which a healthy model would be given
    this finding, None if that is not known. ``source`` is the line of the user's code that made the layer, such as
    "net.py:12", if it is known. ``advice`` replaces the text of the fix, for example after fixes were tried.
    """

    row: FindingKind
    where: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[Value, ...] = ()
    false_alarm: float | None = None
    source: str = ""
    advice: str = ""

    @property
    def kind(self) -> str:
        """Returns the identifier of the kind of problem, such as "dead-units", which stays the same across versions."""
        return self.row.id

    @property
    def level(self) -> Level:
        """Returns how serious the finding is: PROBLEM, WARNING or NOTE."""
        return self.row.level

    @property
    def message(self) -> str:
        """Returns the sentence that describes the problem, preceded by the line of the user's code if known."""
        text = self.row.message.format_map({"where": self.where, **self.values})
        return f"{self.source}: {text}" if self.source else text

    @property
    def fix(self) -> str:
        """Returns what the user should do about the problem."""
        return self.advice or self.row.fix.format_map({"where": self.where, **self.values})

    def to_dict(self) -> dict[str, Any]:
        """Converts the finding to plain values for JSON."""
        from gnomon.core.results.plain import to_json_value

        words = {"kind": self.kind, "level": self.level, "message": self.message, "fix": self.fix, "where": self.where}
        words |= {"source": self.source}
        numbers = {"values": self.values, "evidence": self.evidence, "false_alarm": self.false_alarm}
        return to_json_value(words | numbers | {"page": self.row.page})

    def __str__(self) -> str:
        return f"{self.message} {self.fix}"


@dataclass(frozen=True, slots=True)
class Hypothesis(Record):
    """A condition that a theorem requires, whether it holds here (None: not checked), and how it was checked.

    >>> print(Hypothesis("the kernel stays constant", False, "it moved by 40 % during training"))
    the kernel stays constant: does not hold (it moved by 40 % during training)
    """

    statement: str
    holds: bool | None
    checked: str = ""

    def __str__(self) -> str:
        state = {True: "holds", False: "does not hold", None: "not checked"}[self.holds]
        return f"{self.statement}: {state}" + (f" ({self.checked})" if self.checked else "")


@dataclass(frozen=True, slots=True)
class QuantityDefinition(Record):
    """Defines a measured quantity: its equation as plain text, an explanation in one sentence, and a reference.

    >>> QuantityDefinition("2 / lambda_max", "the largest stable learning rate", "cohen2021gradient").reference
    'cohen2021gradient'
    """

    equation: str
    text: str
    reference: str = ""
