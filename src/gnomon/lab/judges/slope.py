"""A power law, by its slope in logarithms.

    log y = s log x + c + noise,    |s - p| <= t se(s) + within                                               (1)

With repetitions, the slope is fitted to each and se(s) is that of their mean; with one curve, it is that of the
least-squares line, which takes scatter around the line for noise. Inconclusive where t se(s) > ``resolution``.

Where y = c x^s (1 + a x^q + ...) with a known q, the slopes between neighbors are s + b x^q + ..., and s is the value
at x^q = 0 of a line through them: no error needs to be allowed for the next order. Their scatter around that line is
what orders beyond leave, and the interval holds it also where repetitions agree.

    s_j = log(y_{j+1} / y_j) / log(x_{j+1} / x_j) = s + b (x_j x_{j+1})^(q/2) + noise                          (2)

Hypotheses: x covers at least a factor 4; independent repetitions. Reference: [draper1998applied].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError
from gnomon.core.results import Axis, Interval, Line, Plot, Scatter, Value
from gnomon.lab.judges.numbers import Judge, array, quantile
from gnomon.lab.verdict import Judgment, decide

__all__ = ["rate_is"]


def rate_is(
    *,
    confidence: float = 0.99,
    resolution: float = 0.25,
    within: float = 0.0,
    because: str = "",
    next_order: float | None = None,
    label: str = "x",
) -> Judge:
    """A judge of a slope; equation (1). The prediction is the slope, the measurement (x, y) with y (k,) or (m, k).

    Args:
        confidence: of the interval of the slope.
        resolution: the largest half width of the interval that still decides.
        within: an error of the slope that the theorem allows, such as the next order at these x; ``because`` says it.
        next_order: q of equation (2), the power of x by which the relative correction goes; the slope is then that of
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
        raise InputError("rate_is(): within needs because, which says where the allowed error of the slope comes from.")

    def judge(predicted: Any, observed: Any) -> Judgment:
        x, y = array(observed[0], "x"), np.atleast_2d(array(observed[1], "y"))
        p = float(array(predicted, "the slope"))
        if len(x) < 3 or y.shape[1] != len(x) or (x <= 0).any() or (y <= 0).any():
            raise InputError("rate_is(): observed must be (x, y) with at least 3 points, all positive.")
        logs = np.log(y)
        if next_order is None:
            slopes, half = _straight(x, logs, confidence)
        else:
            slopes, half = _leading(x, logs, confidence, next_order)
        slope = float(slopes.mean())
        if len(y) > 1:
            spread = quantile(confidence, len(y) - 1) * float(slopes.std(ddof=1)) / len(y) ** 0.5
            half = spread if next_order is None else max(half, spread)
        coarse = half > resolution or x.max() / x.min() < 4
        allowed = f" and {within:g} is allowed ({because})" if within else ""
        reason = (
            f"The slope is {slope:.3f} +- {half:.3f} at {100 * confidence:g} % confidence, predicted {p:g}{allowed}."
        )
        reason += " The interval is too wide, or x covers less than a factor 4." if coarse else ""
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


def _straight(x: np.ndarray, logs: np.ndarray, confidence: float) -> tuple[np.ndarray, float]:
    """The least-squares slope of each curve, and half the interval of the first by its scatter."""
    u = np.log(x) - np.log(x).mean()
    slopes = logs @ u / (u @ u)
    left = logs[0] - logs[0].mean() - slopes[0] * u
    return slopes, quantile(confidence, len(x) - 2) * float(np.sqrt(left @ left / (len(x) - 2) / (u @ u)))


def _leading(x: np.ndarray, logs: np.ndarray, confidence: float, q: float) -> tuple[np.ndarray, float]:
    """The slope of the leading order of each curve by equation (2), and half the interval by their mean scatter."""
    if len(x) < 4:
        raise InputError("rate_is(): next_order needs at least 4 points.")
    local = np.diff(logs, axis=1) / np.diff(np.log(x))
    places = np.stack([np.ones(len(x) - 1), (x[:-1] * x[1:]) ** (q / 2)], 1)  # (2)
    inverse = np.linalg.inv(places.T @ places)
    found = local @ places @ inverse
    left = local - found @ places.T
    degrees = left.shape[1] - 2
    scatter = float(np.sqrt((left**2).sum(1) / degrees * inverse[0, 0]).mean())
    return found[:, 0], quantile(confidence, degrees) * scatter
