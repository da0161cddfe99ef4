"""Checks the numbers that judges of claims receive, and computes statistics that several judges use.

>>> as_repetitions([[1.0, 2.0], [3.0, 4.0]]).shape
(2, 2)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.errors import InputError
from gnomon.core.results import Axis, Plot, Reference, Scatter
from gnomon.lab.verdict import Judgment

Judge = Callable[[Any, Any], Judgment]
"""(predicted, observed) -> judgment."""

__all__ = [
    "Judge",
    "as_float64",
    "measured_against_predicted",
    "student_quantile",
    "reached_share",
    "as_repetitions",
    "plotted_indices",
]

MAX_PLOT_POINTS = 300
"""Points of a figure, at most: a page with thousands of points is slow and shows no more."""


def as_float64(values: Any, name: str = "values") -> np.ndarray:
    """Returns numbers as a float64 array; raises an error for NaN.

    Cost: a copy.

    >>> as_float64([1, 2])
    array([1., 2.])
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    result = np.asarray(values, dtype=np.float64)
    if np.isnan(result).any():
        raise InputError(f"{name} must be numbers, but {int(np.isnan(result).sum())} are NaN")
    return result


def as_repetitions(values: Any) -> np.ndarray:
    """Converts measurements to one row per independent repetition; raises an error for fewer than two repetitions.

    Cost: a copy.

    >>> as_repetitions([0.5, 1.5]).tolist()
    [[0.5], [1.5]]
    """
    result = as_float64(values, "the samples")
    if result.ndim == 0 or len(result) < 2:
        raise InputError("observed must be at least 2 repetitions along the first axis")
    return result.reshape(len(result), -1)


def student_quantile(confidence: float, degrees: int, comparisons: int = 1) -> float:
    """Returns the two-sided quantile of Student's t distribution, corrected for several comparisons (Bonferroni).

    >>> round(student_quantile(0.95, 10), 3)
    2.228
    """
    from scipy.special import stdtrit  # imported here, because scipy.stats takes a second to import

    return float(stdtrit(degrees, 1 - (1 - confidence) / (2 * comparisons)))


def reached_share(bound: np.ndarray, observed: np.ndarray, *, above: bool = True) -> float | None:
    """Returns how close the measurements come to a bound, as a fraction: 1 if one meets it, None if all bounds are
    zero.

    The share is o / p for o <= p with p > 0 or o >= p with p < 0, and p / o for the other two.

    >>> reached_share(as_float64([2.0, 0.0]), as_float64([1.0, -1.0])), reached_share(as_float64(2.0),
    ...     as_float64(8.0), above=False)
    (0.5, 0.25)
    """
    p, o = (part.ravel() for part in np.broadcast_arrays(bound, observed))
    p, o = p[p != 0], o[p != 0]
    if not p.size:
        return None
    small, large = (o, p) if above else (p, o)
    # If the bound p is negative, both ends are swapped and negated, so that the same comparison holds.
    small, large = np.where(p > 0, small, -large), np.where(p > 0, large, -small)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax(np.where(large > 0, small / large, np.inf)))


def plotted_indices(count: int) -> np.ndarray:
    """Returns at most 300 evenly spaced indices of ``count`` numbers, including the first and the last.

    >>> plotted_indices(3), len(plotted_indices(10**6))
    (array([0, 1, 2]), 300)
    """
    return np.arange(count) if count <= MAX_PLOT_POINTS else np.linspace(0, count - 1, MAX_PLOT_POINTS).astype(int)


def measured_against_predicted(
    predicted: np.ndarray, observed: np.ndarray, interval: tuple[np.ndarray, np.ndarray] | None = None
) -> Plot:
    """Plots measurement and prediction, one point for each number, with the confidence interval of each.

    >>> measured_against_predicted(as_float64([1.0]), as_float64([1.1])).x.label
    'number'
    """
    p, o = (part.ravel() for part in np.broadcast_arrays(predicted, observed))
    places = plotted_indices(p.size)
    p, o = p[places], o[places]
    low, high = ((), ()) if interval is None else (end.ravel()[places] for end in interval)
    measured = Scatter("observed", places, o, None, low, high)
    theory = Reference("predicted", float(p[0])) if p.size == 1 else Scatter("predicted", places, p)
    return Plot("Predicted and observed", (measured, theory), Axis("number"), Axis("value"))
