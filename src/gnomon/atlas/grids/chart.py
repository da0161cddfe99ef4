"""Converts the plot of a theory claim to a small dict for JSON: prediction, measurements with intervals, control
experiment.

The keys are short because thousands of charts are stored: ``x`` are places or ``l`` labels of bars, ``o`` measured
values with intervals from ``a`` to ``b``, ``p`` predicted values at ``q`` (at the same places if ``q`` is missing),
``c`` values of the control at ``d``.

>>> from gnomon.atlas.catalog import catalog
>>> from gnomon.lab import run_claim
>>> chart = chart_of_outcome(run_claim(catalog()["perceptron-novikoff"].claim), 5)
>>> chart["x"], chart["o"][0], chart["p"][0]
([0, 2, 5, 8, 10], 16, 16)
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from gnomon.core.results import Bars, Line, Plot, Reference, Scatter
from gnomon.lab import ClaimOutcome

__all__ = ["chart_of_outcome", "round_to_stored_digits"]

STORED_DIGITS = 6
"""Significant digits of stored numbers."""


def chart_of_outcome(outcome: ClaimOutcome, points: int) -> dict[str, Any]:
    """Returns the chart of a claim's run as a dict for JSON, with at most ``points`` points in each curve.

    >>> from gnomon.atlas.catalog import catalog
    >>> from gnomon.lab import run_claim
    >>> sorted(chart_of_outcome(run_claim(catalog()["double-descent-model-wise"].claim, {"repetitions": 20}), 40))
    ['a', 'b', 'c', 'o', 'p', 'x']
    """
    plot, broken = outcome.judgment.plot, outcome.control.plot
    if plot is None:
        return {}
    if bars := [mark for mark in plot.marks if isinstance(mark, Bars)]:
        return _bars(bars[0], broken)
    measured = _measured_points(plot)
    if measured is None:
        return {}
    keep = _every(len(measured.x), points)
    chart: dict[str, Any] = {"x": _take(measured.x, keep), "o": _take(measured.y, keep)}
    if isinstance(measured, Scatter) and measured.low:
        chart |= {"a": _take(measured.low, keep), "b": _take(measured.high, keep)}
    chart |= _theory(plot, chart["x"], points)
    control = None if broken is None else _measured_points(broken)
    if control is not None:
        kept = _every(len(control.x), points)
        places = _take(control.x, kept)
        chart |= {"c": _take(control.y, kept)} | ({} if places == chart["x"] else {"d": places})
    return chart


def round_to_stored_digits(value: float) -> float | int | None:
    """Rounds a number to six significant digits for storage; returns None if the number is not finite.

    >>> round_to_stored_digits(0.123456789), round_to_stored_digits(3.0), round_to_stored_digits(float("inf"))
    (0.123457, 3, None)
    """
    if not isfinite(value):
        return None
    short = float(f"{value:.{STORED_DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def _bars(mark: Bars, broken: Plot | None) -> dict[str, Any]:
    values = [round_to_stored_digits(v) for v in mark.values]
    chart: dict[str, Any] = {"l": list(mark.labels), "o": values}
    for other in () if broken is None else broken.marks:
        if isinstance(other, Bars):
            by_label = dict(zip(other.labels, other.values, strict=True))
            chart["c"] = [round_to_stored_digits(by_label[label]) for label in mark.labels]
    return chart


def _measured_points(plot: Plot) -> Line | Scatter | None:
    return next((m for m in plot.marks if isinstance(m, Line | Scatter) and m.name == "observed"), None)


def _theory(plot: Plot, places: list[Any], points: int) -> dict[str, Any]:
    for mark in plot.marks:
        if isinstance(mark, Reference) and not mark.vertical:
            return {"p": [round_to_stored_digits(mark.at)] * len(places)}
        if isinstance(mark, Line | Scatter) and mark.name != "observed":
            keep = _every(len(mark.x), points)
            x = _take(mark.x, keep)
            return {"p": _take(mark.y, keep)} | ({} if x == places else {"q": x})
    return {}


def _every(count: int, points: int) -> list[int]:
    """Returns at most ``points`` evenly spaced indices of a list of length ``count``, including the first and the
    last.
    """
    if count <= points:
        return list(range(count))
    return sorted({round(i * (count - 1) / (points - 1)) for i in range(points)})


def _take(values: Sequence[float], indices: list[int]) -> list[float | int | None]:
    return [round_to_stored_digits(values[i]) for i in indices]
