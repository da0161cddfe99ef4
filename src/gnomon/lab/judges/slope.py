"""Judges a predicted power law by the slope of the measurements on logarithmic axes.

    log y = s log x + c + noise,    |s - p| <= t se(s) + within                                               (1)

With one curve, se(s) is the standard error of the least-squares slope, which takes scatter around the line for noise.
With repetitions, the slope is fitted to each curve and se(s) is the standard error of the mean slope.

Where y = c x^s (1 + a x^q + ...) with a known q, the correction is fitted as well, and no error needs to be allowed for
it. With repetitions the wider of two intervals is taken: the spread of the slopes, and the scatter of the mean curve
around its fit, which orders beyond leave also if repetitions agree.

    log y = s log x + c + a x^q + noise                                                                      (2)

The noise of a single curve is taken as independent from point to point with one variance; then the interval has its
stated confidence exactly, for (1) with k - 2 and for (2) with k - 3 degrees of freedom. If nothing is random and the
scatter is what x^(2q) leaves, the interval of (2) at 99 % still holds it for four or five points a factor 2 apart (the
error is then 6 % and 34 % of half the interval), and may not for more points or at less confidence.

Hypotheses: x covers at least a factor 4; independent repetitions. Reference: [draper1998applied].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Interval, Line, Plot, Scatter, Value
from gnomon.lab.judges.numbers import Judge, as_float64, student_quantile
from gnomon.lab.verdict import Judgment, decide

__all__ = ["rate_is"]


@add_call_to_errors
def rate_is(
    *,
    confidence: float = 0.99,
    resolution: float = 0.25,
    within: float = 0.0,
    because: str = "",
    next_order: float | None = None,
    label: str = "x",
) -> Judge:
    """Returns a judge (a function that gives a verdict) for power laws; tests the slope of log y over log x.

    See equation (1) of the module docstring.

    Args:
        confidence: of the interval of the slope.
        resolution: the largest half width of the interval that still decides.
        within: an error of the slope that the theorem allows, such as the next order at these x; ``because`` says it.
        next_order: q of equation (2), the power of x in the relative correction; the slope then belongs to
            the leading order. It takes at least four points, the closer to a power law the better.
        label: what x is, for the picture.

    Reference: [draper1998applied].
    Cost: a least-squares fit for each repetition.

    >>> x = [1.0, 2.0, 4.0, 8.0]
    >>> rate_is()(-1.0, (x, [1.01, 0.5, 0.249, 0.125])).verdict.value
    'holds'
    >>> bent = [v**2 * (1 + 0.3 * v) for v in (0.1, 0.2, 0.4, 0.8)]                  # slope 2 as x goes to zero
    >>> curved = ([0.1, 0.2, 0.4, 0.8], bent)
    >>> [rate_is(confidence=0.9, next_order=q)(2.0, curved).values[0].value.__round__(2) for q in (None, 1.0)]
    [2.09, 2.01]
    """
    if within and not because:
        raise InputError(
            "`within` is given and `because` is missing: say in `because` why this error of the slope is allowed"
        )

    def judge(predicted: Any, observed: Any) -> Judgment:
        x, y = as_float64(observed[0], "x"), np.atleast_2d(as_float64(observed[1], "y"))
        p = float(as_float64(predicted, "the slope"))
        if len(x) < 3 or y.shape[1] != len(x) or (x <= 0).any() or (y <= 0).any():
            raise InputError("observed must be (x, y) with at least 3 points, all positive")
        logs = np.log(y)
        slopes, half = _fit_slopes(x, logs, confidence, next_order)
        slope = float(slopes.mean())
        if len(y) > 1:
            spread = student_quantile(confidence, len(y) - 1) * float(slopes.std(ddof=1)) / len(y) ** 0.5
            half = spread if next_order is None else max(half, spread)
        coarse = half > resolution or x.max() / x.min() < 4
        allowed = f" and {within:g} is allowed ({because})" if within else ""
        reason = (
            f"Predicted slope {p:g}, measured {slope:.3f} ± {half:.3f} ({100 * confidence:g} % confidence){allowed}."
        )
        reason += (
            " The test is inconclusive: the interval is too wide, or x covers less than a factor 4." if coarse else ""
        )
        values = (
            Value("slope", slope, Interval(slope - half, slope + half, confidence), "estimate"),
            Value("predicted slope", p),
        )
        middle = np.exp(logs.mean(0))
        line = np.exp(np.log(middle).mean() + p * (np.log(x) - np.log(x).mean()))
        marks = (Scatter("observed", x, middle), Line(f"slope {p:g}", x, line, "dashed"))
        plot = Plot("Power law", marks, Axis(label, log=True), Axis("observed", log=True))
        return Judgment(decide(abs(slope - p) <= half + within, not coarse), reason, values, plot)  # (1)

    return judge


def _fit_slopes(x: np.ndarray, logs: np.ndarray, confidence: float, q: float | None) -> tuple[np.ndarray, float]:
    """Fits a straight line to each curve on logarithmic axes; returns the mean slope and half of its confidence
    interval.

    See equations (1) or (2) of the module docstring.
    """
    u = np.log(x) - np.log(x).mean()
    columns = [u, np.ones_like(u)]
    if q is not None:
        columns.append((x / x.max()) ** q)  # (2)
    if len(x) <= len(columns):
        raise InputError("next_order needs at least 4 points")
    places = np.stack(columns, 1)
    inverse = np.linalg.pinv(places)
    found = logs @ inverse.T
    left = (logs - found @ places.T).mean(0)
    degrees = len(x) - len(columns)
    error = float(np.sqrt(left @ left / degrees)) * float(np.linalg.norm(inverse[0]))
    return found[:, 0], student_quantile(confidence, degrees) * error
