"""Lists all fixes that gnomon can try automatically, by id.

>>> sorted(FIXES)[:2]
['add-activations', 'add-biases']
"""

from gnomon.core.results import Finding, Level
from gnomon.examination.fixes import (
    descent,
    design,
    ends,
    examples,
    held_out_inputs,
    layers,
    operations,
    scale,
    shape,
    wiring,
)
from gnomon.examination.fixes.fix import Fix
from gnomon.findings.remedies import REMEDIES

__all__ = ["FIXES", "fixes_for"]

FAMILIES = (scale, ends, wiring, layers, design, shape, operations, descent, examples, held_out_inputs)
"""Files with fixes."""
FIXES: dict[str, Fix] = {fix.id: fix for family in FAMILIES for fix in family.FIXES}
"""Fixes by id."""


def fixes_for(finding: Finding) -> tuple[Fix, ...]:
    """Returns the fixes to try automatically for a reported problem, best first; empty for notes.

    >>> from gnomon.findings.network import FROZEN
    >>> [fix.id for fix in fixes_for(Finding(FROZEN))]
    ['unfreeze']
    """
    if finding.level is Level.NOTE:
        return ()
    return tuple(FIXES[id] for id in REMEDIES.get(finding.kind, ()))
