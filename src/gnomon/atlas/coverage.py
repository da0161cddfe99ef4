"""What covers each statement of the scope: a claim, a public function with a test, an alias, a note, or nothing yet.

``scope.json`` lists the ids by kind; ``ledger.json`` says for those that no claim covers which function (with the test
that states its formula), which other id, or which note covers them; ``instruments.json`` names, for statements that ask
for one, the functions that measure the same on a user's own model or data, each with its test.

>>> coverage().ids["perceptron-novikoff"]["status"]
'claim'
"""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gnomon.atlas.catalog import catalog
from gnomon.core.errors import InputError, names_call
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["STATUSES", "ScopeCoverage", "coverage", "instruments", "kinds"]

STATUSES = ("claim", "api", "alias", "note", "open")
"""How a statement may be covered, the last: not yet."""


@dataclass(frozen=True, slots=True, eq=False)
class ScopeCoverage(Result):
    """For each id of the scope: its kind, its status and what covers it."""

    ids: dict[str, dict[str, Any]]

    @property
    def counts(self) -> dict[str, int]:
        """How many ids have each status."""
        seen = Counter(row["status"] for row in self.ids.values())
        return {status: seen[status] for status in STATUSES}

    @property
    def verdict(self) -> str:
        """How many statements are covered, and how."""
        counts = self.counts
        covered = len(self.ids) - counts["open"]
        parts = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
        return f"{covered} of {len(self.ids)} statements are covered ({parts})."

    def plots(self) -> tuple[Plot, ...]:
        """The share of each kind that is covered."""
        names = list(kinds())
        shares = [sum(self.ids[i]["status"] != "open" for i in members) / len(members) for members in kinds().values()]
        return (Plot("Covered statements by kind", (Bars("share", names, shares),), Axis("share", limits=(0, 1))),)


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """The ids of the scope by kind.

    Cost: a file is read once.

    >>> sum(len(ids) for ids in kinds().values())
    510
    """
    text = (files("gnomon.atlas") / "scope.json").read_text(encoding="utf-8")
    return {kind: tuple(ids) for kind, ids in json.loads(text).items()}


@cache
def instruments() -> dict[str, dict[str, str]]:
    """By id of the scope, the functions for a user's own model or data, each with the test of its formula.

    Cost: a file is read once.

    >>> list(instruments()["pl-inequality"])
    ['gnomon.landscape.smoothness.polyak_constant']
    """
    text = (files("gnomon.atlas") / "instruments.json").read_text(encoding="utf-8")
    return {name: dict(tests) for name, tests in json.loads(text).items()}


@names_call
def coverage() -> ScopeCoverage:
    """The ledger of all statements, from the claims themselves and from ``ledger.json``.

    Cost: the import of all claims.

    >>> len(coverage().ids)
    510
    """
    ledger = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))
    rows: dict[str, dict[str, Any]] = {
        i: {"kind": kind, "status": "open"} for kind, ids in kinds().items() for i in ids
    }
    for name, row in ledger.items():
        if name not in rows or row["status"] not in STATUSES:
            raise InputError(f"ledger.json has an unknown id or status at {name!r}")
        rows[name] |= row
    for name, functions in instruments().items():
        rows[name] |= {"instruments": list(functions)}
    for entry in catalog().values():
        for name in dict.fromkeys((entry.claim.id, *entry.claim.covers)):
            if name in rows:
                rows[name] |= {"status": "claim", "claim": entry.claim.id}
    return ScopeCoverage(rows)
