"""What an instrument says beyond numbers: premises, definitions, and findings with their cure.

A finding has one severity in [0, 1], and everything else about its gravity is derived from that one number:

    fault    severity >= 0.5     training or the result cannot be trusted before this is mended
    warning  severity >= 0.25    it works, and would work better
    note     below               worth knowing

>>> Finding("dead-units", "90 % of the units of 'fc1' are dead.", "Lower the learning rate.", 0.7, "fc1").level.name
'FAULT'
"""

from dataclasses import dataclass
from enum import IntEnum

from gnomon.core.errors import InputError
from gnomon.core.results.record import Record
from gnomon.core.results.value import Value

__all__ = ["Definition", "Finding", "Hypothesis", "Level"]


class Level(IntEnum):
    """How grave a finding is; derived from its severity."""

    NOTE = 0
    WARNING = 1
    FAULT = 2


FAULT, WARNING = 0.5, 0.25


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """Something that was measured and that a person can act on.

    ``kind`` is a stable key for programs, ``where`` a module path, "inputs" or "labels", ``evidence`` the measurements
    behind it, ``false_alarm`` the rate at which a healthy model would be given this finding, where that is known.
    """

    kind: str
    what: str
    cure: str
    severity: float
    where: str = ""
    evidence: tuple[Value, ...] = ()
    false_alarm: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.severity <= 1:
            raise InputError(f"Finding({self.kind!r}): severity must be from 0 to 1, but it is {self.severity}.")

    @property
    def level(self) -> Level:
        """FAULT, WARNING or NOTE."""
        return Level.FAULT if self.severity >= FAULT else Level.WARNING if self.severity >= WARNING else Level.NOTE

    def __str__(self) -> str:
        return f"{self.what} {self.cure}"


@dataclass(frozen=True, slots=True)
class Hypothesis(Record):
    """A premise of a theorem, whether it holds here (None: not checked), and how that was checked.

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
class Definition(Record):
    """What a quantity is: an equation in plain characters, a sentence, the key of a reference.

    >>> Definition("2 / lambda_max", "the largest stable learning rate", "cohen2021gradient").reference
    'cohen2021gradient'
    """

    equation: str
    text: str
    reference: str = ""
