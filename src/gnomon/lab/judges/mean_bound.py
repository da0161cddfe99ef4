"""Judges whether a bound on an expectation or a probability holds, from independent repetitions.

    holds      mean(o) + t s / sqrt(m) <= p        refuted    mean(o) - t s / sqrt(m) > p                     (1)

In between the bound may be met with equality: it holds to ``resolution`` if the interval is that narrow, and is
inconclusive otherwise. For repetitions that are only 0 or 1 the interval is the exact binomial one.
Hypotheses: independent repetitions. References: [student1908probable], [clopper1934use].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.metrics import binomial_interval
from gnomon.core.results import Interval, Value
from gnomon.lab.judges.numbers import (
    Judge,
    as_float64,
    as_repetitions,
    measured_against_predicted,
    reached_share,
    student_quantile,
)
from gnomon.lab.verdict import Judgment, Verdict

__all__ = ["at_most"]


@add_call_to_errors
def at_most(*, confidence: float = 0.999, resolution: float = 0.1) -> Judge:
    """Returns a judge (a function that gives a verdict) for upper bounds of expected values, corrected for testing
    several.

    See equation (1) of the module docstring.
    References: [student1908probable], [clopper1934use].
    Cost: one pass over the samples.

    >>> at_most()(0.5, [0, 0, 1, 0, 0, 0, 0, 0] * 20).verdict.value
    'holds'
    """

    def judge(predicted: Any, observed: Any) -> Judgment:
        o = as_repetitions(observed)
        p = np.broadcast_to(as_float64(predicted, "the bound").ravel(), o.shape[1:])
        intervals = [_interval(column, confidence, o.shape[1]) for column in o.T]
        low, high = (np.array([getattr(i, end) for i in intervals]) for end in ("low", "high"))
        above, below = low > p, high <= p
        narrow = high - low <= 2 * resolution * np.maximum(np.abs(p), 1e-300)
        verdict = Verdict.REFUTED if above.any() else Verdict.HOLDS if (below | narrow).all() else Verdict.INCONCLUSIVE
        worst = int((o.mean(0) - p).argmax())
        mean, interval = float(o.mean(0)[worst]), intervals[worst]
        reason = f"Bound {p[worst]:.4g}, measured {mean:.4g} in {len(o)} repetitions: {interval}."
        share = reached_share(p, o.mean(0))
        reason += "" if share is None else f" The closest case reaches {share:.3g} of its bound."
        values = (
            Value("observed", mean, interval, "estimate"),
            Value("bound", float(p[worst]), obtained="upper bound"),
        )
        return Judgment(verdict, reason, values, measured_against_predicted(p, o.mean(0), (low, high)), True, share)

    return judge


def _interval(column: np.ndarray, confidence: float, comparisons: int) -> Interval:
    if np.isin(column, (0.0, 1.0)).all():
        return binomial_interval(int(column.sum()), len(column), confidence=1 - (1 - confidence) / comparisons)
    half = student_quantile(confidence, len(column) - 1, comparisons) * float(column.std(ddof=1)) / len(column) ** 0.5
    return Interval(float(column.mean()) - half, float(column.mean()) + half, confidence)
