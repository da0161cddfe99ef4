"""A power law, by its slope in logarithms.

    log y = s log x + c + noise,    |s - p| <= t se(s) + within                                               (1)

With repetitions, the slope is fitted to each and se(s) is that of their mean; with one curve, it is that of the
least-squares line, which takes scatter around the line for noise. Inconclusive where t se(s) > ``resolution``.
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
    *, confidence: float = 0.99, resolution: float = 0.25, within: float = 0.0, because: str = "", label: str = "x"
) -> Judge:
    """A judge of a slope; equation (1). The prediction is the slope, the measurement (x, y) with y (k,) or (m, k).

    Args:
        confidence: of the interval of the slope.
        resolution: the largest half width of the interval that still decides.
        within: an error of the slope that the theorem allows, such as the next order at these x; ``because`` says it.
        label: what x is, for the picture.

    Reference: [draper1998applied].
    Cost: a least-squares fit for each repetition.

    >>> x = [1.0, 2.0, 4.0, 8.0]
    >>> rate_is()(-1.0, (x, [1.01, 0.5, 0.249, 0.125])).verdict.value
    'holds'
    """
    if within and not because:
        raise InputError("rate_is(): within needs because, which says where the allowed error of the slope comes from.")

    def judge(predicted: Any, observed: Any) -> Judgment:
        x, y = array(observed[0], "x"), np.atleast_2d(array(observed[1], "y"))
        p = float(array(predicted, "the slope"))
        if len(x) < 3 or y.shape[1] != len(x) or (x <= 0).any() or (y <= 0).any():
            raise InputError("rate_is(): observed must be (x, y) with at least 3 points, all positive.")
        u, logs = np.log(x) - np.log(x).mean(), np.log(y)
        slopes = logs @ u / (u @ u)
        slope = float(slopes.mean())
        if len(y) > 1:
            half = quantile(confidence, len(y) - 1) * float(slopes.std(ddof=1)) / len(y) ** 0.5
        else:
            left = logs[0] - logs[0].mean() - slope * u
            half = quantile(confidence, len(x) - 2) * float(np.sqrt(left @ left / (len(x) - 2) / (u @ u)))
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
        line = np.exp(np.log(middle).mean() + p * u)
        marks = (Scatter("observed", x, middle), Line(f"slope {p:g}", x, line, "dashed"))
        plot = Plot("Power law", marks, Axis(label, log=True), Axis("observed", log=True))
        return Judgment(decide(abs(slope - p) <= half + within, not coarse), reason, values, plot)  # (1)

    return judge
