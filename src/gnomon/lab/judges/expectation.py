"""Judges whether the mean of independent repetitions equals its prediction.

    |mean(o) - p| <= t s / sqrt(m) + within,    t the quantile of Student's t at the stated confidence         (1)

The judgment is inconclusive if the interval is wider than ``resolution`` times the prediction's size: then agreement
could not be distinguished from a wrong constant.
Hypotheses: independent repetitions whose mean is nearly Gaussian. Reference: [student1908probable].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Interval, Value
from gnomon.lab.judges.numbers import Judge, as_float64, as_repetitions, measured_against_predicted, student_quantile
from gnomon.lab.verdict import Judgment, decide

__all__ = ["mean_equals"]


@add_call_to_errors
def mean_equals(*, confidence: float = 0.999, resolution: float = 0.2, within: float = 0.0, because: str = "") -> Judge:
    """Returns a judge (a function that gives a verdict) for claims about expected values, corrected for testing
    several.

    See equation (1) of the module docstring.

    Args:
        confidence: of the whole comparison.
        resolution: the largest half width of the interval, relative to the largest prediction, that still decides.
        within: a bias that the theorem allows, such as a finite-width correction, relative to the largest prediction.
        because: what the allowed bias is.

    Reference: [student1908probable].
    Cost: one pass over the samples.

    >>> mean_equals()(1.0, [0.9, 1.1, 1.0, 0.95, 1.05, 1.02, 0.98, 1.01]).verdict.value
    'holds'
    """
    if within and not because:
        found = "`within` is given and `because` is missing"
        raise InputError(found, accepted="both or neither", fix="Say in `because` why this bias is allowed")

    def judge(predicted: Any, observed: Any) -> Judgment:
        o = as_repetitions(observed)
        p = np.broadcast_to(as_float64(predicted, "the prediction").ravel(), o.shape[1:])
        m, size = len(o), float(np.abs(p).max()) or 1.0
        half = student_quantile(confidence, m - 1, p.size) * o.std(0, ddof=1) / np.sqrt(m)
        allowed = half + within * size  # (1)
        gap = np.abs(o.mean(0) - p)
        worst = int((gap - allowed).argmax())
        coarse = float(half.max()) > resolution * size
        bias = f", and a bias of {within * size:.3g} is allowed ({because})" if within else ""
        agree = int((gap <= allowed).sum())
        others = f" Agrees in {agree} of {p.size} numbers; this is the one that differs most." if p.size > 1 else ""
        reason = (
            f"Predicted {p[worst]:.4g}, measured {o.mean(0)[worst]:.4g} ± {half[worst]:.2g} "
            f"({m} repetitions, {100 * confidence:g} % confidence{bias}).{others}"
        )
        reason += f" The interval is too wide to see a difference of {100 * resolution:g} %." if coarse else ""
        mean = float(o.mean(0)[worst])
        interval = Interval(mean - float(half[worst]), mean + float(half[worst]), confidence)
        values = (Value("observed", mean, interval, "estimate"), Value("predicted", float(p[worst])))
        return Judgment(
            decide(bool((gap <= allowed).all()), not coarse),
            reason,
            values,
            measured_against_predicted(p, o.mean(0), (o.mean(0) - half, o.mean(0) + half)),
        )

    return judge
