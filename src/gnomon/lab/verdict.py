"""Defines the verdicts on a theory claim: holds, refuted, or inconclusive, each with its reason.

>>> Judgment(Verdict.HOLDS, "the slope is -0.98 +- 0.05, predicted -1").verdict.value
'holds'
"""

from dataclasses import dataclass
from enum import Enum

from gnomon.core.results import Plot, Value
from gnomon.core.results.record import Record


class Verdict(Enum):
    """The three possible verdicts on a theory claim: holds, refuted, inconclusive."""

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Judgment(Record):
    """The verdict on a theory claim with its reason, the numbers behind it, and a plot of prediction and measurement.

    ``one_sided`` is True for a bound. ``reached`` is then the largest share of the bound that a measurement reaches, or
    None if every bound is zero.
    """

    verdict: Verdict
    reason: str
    values: tuple[Value, ...] = ()
    plot: Plot | None = None
    one_sided: bool = False
    reached: float | None = None


def decide(agrees: bool, powerful: bool) -> Verdict:
    """Returns the verdict "refuted" without agreement, "holds" with it, or "inconclusive" if the test was too weak.

    >>> decide(True, False).value, decide(False, False).value
    ('inconclusive', 'refuted')
    """
    if not agrees:
        return Verdict.REFUTED
    return Verdict.HOLDS if powerful else Verdict.INCONCLUSIVE
