"""Finds mistakes with half precision: no gradient scaler, and gradients that are used while they are scaled.

>>> from gnomon.checks.run.loop.facts import PrecisionFacts
>>> facts = LoopFacts(steps=20, precision=PrecisionFacts(passes=20, half_passes=20))
>>> [finding.kind for finding in precision_findings_of_loop(facts)]
['half-precision-without-scaler']
"""

from gnomon.checks.run.loop.facts import LoopFacts
from gnomon.core.results import Finding
from gnomon.findings import loop as kinds

__all__ = ["precision_findings_of_loop"]

MIN_COUNT = 3
"""Passes, steps or calls that count as a mistake."""
MIN_SHARE = 0.5
"""Share of observed passes in half precision for a judgment."""


def precision_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports a missing gradient scaler, and clipping or steps with scaled gradients.

    >>> precision_findings_of_loop(LoopFacts())
    []
    """
    seen, found = facts.precision, []
    half = seen.half_passes >= max(MIN_COUNT, MIN_SHARE * seen.passes)
    if half and not seen.scaled and facts.steps >= MIN_COUNT:
        found.append(Finding(kinds.HALF_WITHOUT_SCALER, values={"count": seen.half_passes, "total": seen.passes}))
    if seen.clipped_scaled >= MIN_COUNT:
        values = {"count": seen.clipped_scaled, "total": facts.clips.calls}
        found.append(Finding(kinds.CLIP_BEFORE_UNSCALE, values=values))
    if seen.stepped_scaled >= MIN_COUNT:
        found.append(Finding(kinds.SCALER_BYPASSED, values={"count": seen.stepped_scaled}))
    return found
