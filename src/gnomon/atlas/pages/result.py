"""Provides the result that the web page of a theory claim shows: a stored result, or the result of a new run.

>>> from gnomon.atlas.catalog import select_entries
>>> from gnomon.atlas.many import ClaimTask, run_claims
>>> row = next(iter(run_claims([ClaimTask("softmax")])))
>>> result_of_run(row).grid["names"], result_of_run(row).row["verdict"]
([], 'holds')
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.atlas.catalog import CatalogEntry
from gnomon.atlas.grids.records import is_record_current, stored_record
from gnomon.core.results.record import Record

__all__ = ["ClaimResult", "result_of_run", "stored_result"]


@dataclass(frozen=True, slots=True)
class ClaimResult(Record):
    """Result of a theory claim for its web page: the default run, its parameters, and the runs for the sliders."""

    row: dict[str, Any]
    parameters: Mapping[str, Any]
    grid: dict[str, Any]


def stored_result(entry: CatalogEntry) -> ClaimResult | None:
    """Reads the stored result of a claim; returns None if nothing is stored for the claim's current parameters.

    >>> from gnomon.atlas.catalog import select_entries
    >>> result = stored_result(select_entries(["softmax"])[0])
    >>> result is None or result.row["id"]
    'softmax'
    """
    record = stored_record(entry.claim.id) if is_record_current(entry) else None
    if record is None:
        return None
    row, grid = record["run"], record["grid"]
    if grid is None:
        return ClaimResult(row, entry.claim.parameters, _single(row))
    count = len(grid["values"][1]) if len(grid["values"]) > 1 else 1
    at = grid["default"][0] * count + (grid["default"][1] if count > 1 else 0)
    points = [point | row["chart"] if i == at else point for i, point in enumerate(grid["points"])]
    return ClaimResult(row, entry.claim.parameters, grid | {"points": points})


def result_of_run(row: dict[str, Any]) -> ClaimResult:
    """Converts a new run of a claim to the result that its web page shows, without sliders.

    >>> result_of_run({"verdict": "holds", "reason": "", "control": {"verdict": "refuted", "reason": ""},
    ...     "chart": {}, "parameters": {}}).grid["points"][0]["v"]
    'holds'
    """
    return ClaimResult(row, row["parameters"], _single(row))


def _single(row: dict[str, Any]) -> dict[str, Any]:
    control = row["control"]
    point = {"v": row["verdict"], "r": row["reason"], "w": control["verdict"], "s": control["reason"], **row["chart"]}
    return {"names": [], "values": [], "default": [], "points": [point]}
