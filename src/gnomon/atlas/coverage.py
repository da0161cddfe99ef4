"""Lists which claim, function or test treats each statement of deep learning theory that the atlas must include.

``scope.json`` lists the ids by kind. ``ledger.json`` lists the clauses of every entry: statements, formulas, numbers,
and instruments for a user's own model or data. A clause that nothing covers has its reason. An entry without a claim of
its own also says which function, which other id, or which note stands for it.

>>> scope_coverage().ids["perceptron-novikoff"]["status"]
'claim'
>>> clauses_of_entry("perceptron-novikoff")[0].by
'perceptron-novikoff'
"""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from gnomon.atlas.catalog import catalog
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.results.record import Record

__all__ = [
    "COVERAGE_STATUSES",
    "ScopeClause",
    "ScopeCoverage",
    "clauses_of_entry",
    "scope_coverage",
    "functions_by_entry",
    "scope_ids_by_kind",
]

COVERAGE_STATUSES = ("claim", "api", "alias", "note", "open")
"""How a statement may be covered, the last: not yet."""


@dataclass(frozen=True, slots=True)
class ScopeClause(Record):
    """One part of a theory statement that the atlas must include, with the claim, function or test that treats it.

    >>> ScopeClause("number", "the slope is -1", claim="max-margin-accelerated").by
    'max-margin-accelerated'
    """

    kind: Literal["statement", "formula", "number", "instrument"]
    text: str
    claim: str = ""
    function: str = ""
    test: str = ""
    left_out: str = ""

    @property
    def by(self) -> str:
        """Returns the name of the claim, function or test that treats this part of a theory statement; empty if none
        does.
        """
        return self.claim or self.function or self.test


@dataclass(frozen=True, slots=True, eq=False)
class ScopeCoverage(Result):
    """Result: for each theory statement that the atlas must include, its kind, its status, and what treats it."""

    ids: dict[str, dict[str, Any]]

    @property
    def counts(self) -> dict[str, int]:
        """Returns how many statements of the theory have each status, such as "claim" (tested by code) or "open"."""
        seen = Counter(row["status"] for row in self.ids.values())
        return {status: seen[status] for status in COVERAGE_STATUSES}

    @property
    def verdict(self) -> str:
        """Says in one sentence how many statements of the theory the atlas treats, and how."""
        counts = self.counts
        covered = len(self.ids) - counts["open"]
        parts = ", ".join(f"{counts[status]} {status}" for status in COVERAGE_STATUSES if counts[status])
        done, total = self.clauses
        return (
            f"{done} of {total} clauses are covered ({done / total:.1%}), the others have a reason. Of {len(self.ids)} "
            f"entries {covered} are accounted for ({parts})."
        )

    @property
    def clauses(self) -> tuple[int, int]:
        """Returns how many parts of theory statements a claim, function or test treats, and how many parts there
        are.
        """
        every = [clause for name in self.ids for clause in clauses_of_entry(name)]
        return sum(bool(clause.by) for clause in every), len(every)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of theory statements of each kind that the atlas treats."""
        names = list(scope_ids_by_kind())
        shares = [
            sum(self.ids[i]["status"] != "open" for i in members) / len(members)
            for members in scope_ids_by_kind().values()
        ]
        return (Plot("Covered statements by kind", (Bars("share", names, shares),), Axis("share", limits=(0, 1))),)


@cache
def scope_ids_by_kind() -> dict[str, tuple[str, ...]]:
    """Returns the ids of all theory statements that the atlas must include, grouped by kind.

    Cost: a file is read once.

    >>> sum(len(ids) for ids in scope_ids_by_kind().values())
    510
    """
    text = (files("gnomon.atlas") / "scope.json").read_text(encoding="utf-8")
    return {kind: tuple(ids) for kind, ids in json.loads(text).items()}


@cache
def functions_by_entry() -> dict[str, dict[str, str]]:
    """Returns, for each statement of the theory, functions that measure it on a user's model, with the tests of their
    formulas.

    Cost: a file is read once.

    >>> list(functions_by_entry()["pl-inequality"])
    ['gnomon.landscape.smoothness.polyak_constant']
    """
    found = {name: [clause for clause in clauses_of_entry(name) if clause.kind == "instrument"] for name in _ledger()}
    return {name: {clause.function: clause.test for clause in rows} for name, rows in found.items() if rows}


def clauses_of_entry(name: str) -> tuple[ScopeClause, ...]:
    """Returns the parts of one statement of the theory, with the claim, function or test that treats each part.

    Cost: a file is read once.

    >>> [clause.kind for clause in clauses_of_entry("gating-mechanism")]
    ['statement', 'formula', 'statement']
    """
    return tuple(ScopeClause(**clause) for clause in _ledger()[name]["clauses"])


@cache
def _ledger() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))
    return found


@add_call_to_errors
def scope_coverage() -> ScopeCoverage:
    """Determines which claim, function or test treats each statement of the theory.

    Cost: the import of all claims.

    >>> len(scope_coverage().ids)
    510
    """
    rows: dict[str, dict[str, Any]] = {
        i: {"kind": kind, "status": "open"} for kind, ids in scope_ids_by_kind().items() for i in ids
    }
    for name, row in _ledger().items():
        if name not in rows or row.get("status", "open") not in COVERAGE_STATUSES:
            raise InputError(f"ledger.json has an unknown id or status at {name!r}")
        rows[name] |= {key: value for key, value in row.items() if key != "clauses"}
    for name, functions in functions_by_entry().items():
        rows[name] |= {"instruments": list(functions)}
    for entry in catalog().values():
        for name in dict.fromkeys((entry.claim.id, *entry.claim.covers)):
            if name in rows:
                rows[name] |= {"status": "claim", "claim": entry.claim.id}
    return ScopeCoverage(rows)
