"""Compares the printed text of two runs: words exactly, numbers up to usual differences between machines."""

import math
import re

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d*)?(?:e[-+]?\d+)?%?")
RELATIVE_TOLERANCE = 0.05
"""Tolerance of numbers, for processors that round sums in another order."""
ROUNDING_TOLERANCE = 1e-4
"""Numbers below this are equal: they are rounding errors, or shown as zero."""


def difference(first: str, second: str) -> str:
    """Returns the first pair of lines that differ, or an empty text if the texts agree.

    >>> difference("loss 0.512 after 3 steps", "loss 0.513 after 3 steps")
    ''
    >>> difference("loss 0.512 falls", "loss 0.612 falls")
    "'loss 0.512 falls' is not 'loss 0.612 falls'"
    """
    ours, theirs = first.splitlines(), second.splitlines()
    for one, other in zip(ours, theirs, strict=False):
        if not _equal(one, other):
            return f"{one!r} is not {other!r}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} lines are not {len(theirs)}"


def _equal(one: str, other: str) -> bool:
    words = [" ".join(NUMBER.sub("0", line).split()) for line in (one, other)]
    return words[0] == words[1] and all(map(_close, NUMBER.findall(one), NUMBER.findall(other)))


def _close(one: str, other: str) -> bool:
    a, b = (float(text.strip("%").replace(",", "")) for text in (one, other))
    return math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=ROUNDING_TOLERANCE)
