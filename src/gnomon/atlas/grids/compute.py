"""Computes the results of a theory claim that are stored: its default run, and runs at other parameter values for
sliders.

Values that raise an error, or take too long, are left out. A value that breaks a premise is kept and marked. Whether
the verdict is the stated one decides only which parameter is chosen; no value is left out because of its verdict.
"""

import json
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import product
from re import sub
from time import process_time
from typing import Any

from gnomon.atlas.grids.chart import chart_of_outcome
from gnomon.atlas.grids.choose import parameters_by_interest, slider_values, values_that_violate_premise
from gnomon.atlas.grids.limit import limit_cpu_time
from gnomon.core.machine.clock import Clock
from gnomon.core.results.plain import to_json_value
from gnomon.lab import Claim, ClaimOutcome, run_claim

__all__ = ["compute_record", "point_of_outcome", "settings_of_record"]

MAX_SECONDS_PER_POINT = 2.0
"""Slower runs get no slider, because the whole grid would take minutes."""
MAX_SECONDS_PER_CLAIM = 8.0
"""After this time no other parameter is tried."""
SECONDS_FOR_A_SECOND_PARAMETER = 0.06
"""Claims that run within this time get a second slider."""
SECONDS_FOR_MORE_THAN_FIVE_VALUES = 0.2
"""Claims that run longer get five values."""
MIN_VALUES = 5
"""Fewest values of a slider that keep the premises."""
ENOUGH_AS_STATED = 0.8
"""Share of values with the stated verdict above which no other parameter is tried."""
MAX_RECORD_BYTES = 11_500
"""Size of a stored record; curves are thinned until it fits."""
CURVE_POINTS = (60, 40, 24, 14, 8, 5)
"""Points of a stored curve, tried in this order."""

Settings = tuple[Any, ...]


def compute_record(claim: Claim, clock: Clock = process_time) -> dict[str, Any]:
    """Computes the results to store for a theory claim: its settings, its default run, and its runs for the sliders.

    Cost: about ten runs of the claim, at most half a minute.

    >>> from gnomon.atlas.catalog import catalog
    >>> record = compute_record(catalog()["activation-leaky-relu"].claim)
    >>> record["run"]["verdict"], record["grid"]["names"][0]
    ('holds', 'slope')
    """
    first = _run(claim, {}, clock)
    assert first is not None, f"{claim.id} cannot run at its own parameters"
    grid = None if first.seconds > MAX_SECONDS_PER_POINT else _grid(claim, first, clock)
    for points in CURVE_POINTS:
        record = {
            "settings": settings_of_record(claim),
            "run": _row(first) | {"chart": chart_of_outcome(first, max(points, CURVE_POINTS[0]))},
            "grid": None if grid is None else _stored_grid(claim, *grid, points),
        }
        if len(json.dumps(record, separators=(",", ":"))) <= MAX_RECORD_BYTES:
            break
    return record


def settings_of_record(claim: Claim) -> dict[str, Any]:
    """Returns the parameters of a claim in the form in which they are stored; if they differ, the stored result is out
    of date.

    >>> from gnomon.atlas.catalog import catalog
    >>> settings_of_record(catalog()["softmax"].claim)["parameters"]
    {'k': 6}
    """
    return json.loads(json.dumps(to_json_value({"parameters": claim.parameters, "grid": claim.grid})))


def point_of_outcome(outcome: ClaimOutcome, points: int) -> dict[str, Any]:
    """Converts one run of a claim to a small dict for storage: chart, verdicts, reasons and violated assumptions.

    ``v`` and ``r`` are the verdict and its reason, ``w`` and ``s`` the verdict and reason of the control, ``k`` the
    numbers of the premises that are broken (absent if none is).

    >>> from gnomon.atlas.catalog import catalog
    >>> point_of_outcome(run_claim(catalog()["perceptron-novikoff"].claim, {"gap": 0.0}), 5)["k"]
    [0]
    """
    broken = [i for i, premise in enumerate(outcome.premises) if premise.holds is False]
    point: dict[str, Any] = {
        "v": outcome.judgment.verdict.value,
        "r": _short(outcome.judgment.reason),
        "w": outcome.control.verdict.value,
        "s": _short(outcome.control.reason),
    }
    return point | ({"k": broken} if broken else {}) | chart_of_outcome(outcome, points)


def _run(claim: Claim, settings: Mapping[str, Any], clock: Clock) -> ClaimOutcome | None:
    """Runs a claim with some parameters; returns None if the run raises an error or takes far too long."""
    limit = limit_cpu_time(2 * MAX_SECONDS_PER_POINT) if settings else nullcontext()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with limit:
                return run_claim(claim, settings, clock=clock)
        except Exception:  # A claim may raise any error if a parameter is far from its default.
            return None


def _grid(
    claim: Claim, first: ClaimOutcome, clock: Clock
) -> tuple[tuple[str, ...], dict[Settings, ClaimOutcome]] | None:
    """Runs a claim at several parameter values; returns the names of the varied parameters and the results."""
    start = clock()
    if claim.grid:
        return _run_declared_grid(claim, clock)
    tried: list[tuple[float, str, dict[Settings, ClaimOutcome]]] = []
    for name in parameters_by_interest(claim):
        outcomes = _along(claim, name, first, clock)
        kept = [outcome for outcome in outcomes.values() if not outcome.violated_premises]
        if len(kept) >= MIN_VALUES:
            tried.append((_share_as_stated(claim, outcomes), name, outcomes))
            if tried[-1][0] >= ENOUGH_AS_STATED:
                break
        if clock() - start > MAX_SECONDS_PER_CLAIM:
            break
    if not tried:
        return None
    share, name, outcomes = max(tried, key=lambda row: row[0])
    others = [other for other in parameters_by_interest(claim) if other != name]
    if first.seconds > SECONDS_FOR_A_SECOND_PARAMETER or not others:
        return (name,), outcomes
    return _with_second(claim, name, others[0], outcomes, first, clock)


def _run_declared_grid(claim: Claim, clock: Clock) -> tuple[tuple[str, ...], dict[Settings, ClaimOutcome]]:
    names = tuple(claim.grid)
    found = {
        values: _run(claim, dict(zip(names, values, strict=True)), clock) for values in product(*claim.grid.values())
    }
    return names, {values: outcome for values, outcome in found.items() if outcome is not None}


def _along(claim: Claim, name: str, first: ClaimOutcome, clock: Clock) -> dict[Settings, ClaimOutcome]:
    """Runs a claim at several values of one parameter, starting next to the default, until a run takes too long."""
    default = claim.parameters[name]
    values = slider_values(name, default)
    if first.seconds > SECONDS_FOR_MORE_THAN_FIVE_VALUES:
        values = [value for value in values if value in _five(values, default)]
    found: dict[Settings, ClaimOutcome] = {(default,): first}
    for side in ([v for v in values if v > default], [v for v in reversed(values) if v < default]):
        for value in side:
            outcome = _run(claim, {name: value}, clock)
            if outcome is not None and outcome.seconds > MAX_SECONDS_PER_POINT:
                break
            if outcome is not None:
                found[(value,)] = outcome
    for value in values_that_violate_premise(claim, name, claim.parameters):
        outcome = None if (value,) in found else _run(claim, {name: value}, clock)
        if outcome is not None and outcome.seconds <= MAX_SECONDS_PER_POINT:
            found[(value,)] = outcome
    return dict(sorted(found.items()))


def _with_second(
    claim: Claim, name: str, other: str, outcomes: dict[Settings, ClaimOutcome], first: ClaimOutcome, clock: Clock
) -> tuple[tuple[str, ...], dict[Settings, ClaimOutcome]]:
    """Runs a claim at all combinations of values of two parameters; keeps the runs over one parameter if a combination
    fails.
    """
    along = _along(claim, other, first, clock)
    kept = [values[0] for values, outcome in along.items() if not outcome.violated_premises]
    if len(kept) < MIN_VALUES:
        return (name,), outcomes
    rows = [values[0] for values in outcomes]
    rows = sorted({*_five([v for v in rows if not outcomes[(v,)].violated_premises], claim.parameters[name]),
                   *(v for v in rows if outcomes[(v,)].violated_premises)})  # fmt: skip
    columns = _five(kept, claim.parameters[other])
    found: dict[Settings, ClaimOutcome] = {}
    for row, column in product(rows, columns):
        outcome = _run(claim, {name: row, other: column}, clock)
        if outcome is not None and outcome.seconds <= MAX_SECONDS_PER_POINT:
            found[(row, column)] = outcome
    complete = len(found) == len(rows) * len(columns) and _share_as_stated(claim, found) >= ENOUGH_AS_STATED
    return ((name, other), found) if complete else ((name,), outcomes)


def _share_as_stated(claim: Claim, outcomes: dict[Settings, ClaimOutcome]) -> float:
    """Returns the fraction of runs with the verdict that the claim expects, among runs that satisfy its assumptions."""
    kept = [outcome.judgment.verdict.value for outcome in outcomes.values() if not outcome.violated_premises]
    return kept.count(claim.expected) / max(len(kept), 1)


def _five(values: list[Any], default: Any) -> list[Any]:
    """Chooses at most five slider values: both ends, the default, and values near the default."""
    if len(values) <= MIN_VALUES:
        return values
    at = values.index(default)
    picked = {0, len(values) - 1, at}
    for i in (at + 1, at - 1, at + 2, at - 2, at + 3, at - 3):
        if 0 <= i < len(values) and len(picked) < MIN_VALUES:
            picked.add(i)
    return [values[i] for i in sorted(picked)]


def _row(outcome: ClaimOutcome) -> dict[str, Any]:
    """Returns the stored form of a claim's default run; leaves out its duration."""
    row = {key: value for key, value in outcome.to_dict().items() if key not in ("seconds", "premises", "parameters")}
    kept = ("name", "value", "low", "high", "confidence")
    return row | {"values": [{key: value[key] for key in kept} for value in row["values"]]}


def _stored_grid(
    claim: Claim, names: tuple[str, ...], outcomes: dict[Settings, ClaimOutcome], points: int
) -> dict[str, Any]:
    values = [sorted({key[i] for key in outcomes}) for i in range(len(names))]
    order = list(product(*values))
    return {
        "names": list(names),
        "values": to_json_value(values),
        "default": [values[i].index(claim.parameters[name]) for i, name in enumerate(names)],
        "points": [point_of_outcome(outcomes[key], points) for key in order],
    }


def _short(reason: str) -> str:
    """Shortens the reason of a verdict to its first sentence without parentheses, to keep stored files small.

    >>> _short("Predicted 1, measured 1.01 ± 0.1 (20 repetitions). The bound is loose: see above.")
    'Predicted 1, measured 1.01 ± 0.1.'
    """
    head = reason.partition(" The bound is loose:")[0]
    return sub(r" \([^()]*(\([^()]*\)[^()]*)*\)", "", head).partition(". ")[0].rstrip(".") + "."
