"""Defines a possible fix: a function that changes a training run because of a reported problem.

>>> Fix("longer-training", lambda trial, finding, subject: ()).id
'longer-training'
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from gnomon.core.results import Finding
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.record import Record
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["TrialChange", "Fix", "diff"]


@dataclass(frozen=True, slots=True, eq=False)
class TrialChange(Record):
    """One way to apply a fix: the changed training run, its description ("standardized inputs"), and a code diff.

    ``trains`` is False if the change concerns only the test inputs, so that the trained network stays the same.
    """

    trial: TrialRun = field(repr=False, metadata=HIDDEN_IN_JSON)
    words: str
    diff: str
    trains: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Fix(Record):
    """A possible fix with an id, and a function that applies it to a training run.

    ``apply`` returns the changes to choose from, none if the fix does not apply here. If there are several, short runs
    choose the one with the smallest training loss.
    """

    id: str
    apply: Callable[[TrialRun, Finding, Subject], tuple[TrialChange, ...]] = field(repr=False, metadata=HIDDEN_IN_JSON)


def diff(old: str, new: str) -> str:
    """Formats a short code diff as text: old lines with a minus, new lines with a plus.

    >>> print(diff("lr=1", "lr=0.1"))
    - lr=1
    + lr=0.1
    """
    removed = [f"- {line}" for line in old.splitlines()]
    return "\n".join([*removed, *(f"+ {line}" for line in new.splitlines())])
