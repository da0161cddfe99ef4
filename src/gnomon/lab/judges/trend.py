"""Judges whether a quantity only increases, or only decreases, along a parameter.

    d_j = +-(o_{j+1} - o_j):   holds if every mean(d_j) > t se_j (strictly), or >= -c eps for single curves  (1)

Refuted if some mean(d_j) < -t se_j; inconclusive in between. The prediction is "increasing" or "decreasing".
Hypotheses: repetitions are independent of each other. Reference: [student1908probable].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Line, Plot, Value
from gnomon.lab.judges.numbers import Judge, as_float64, plotted_indices, student_quantile
from gnomon.lab.verdict import Judgment, Verdict

__all__ = ["monotone_in"]


@add_call_to_errors
def monotone_in(label: str, *, confidence: float = 0.99, rounding: float = 100, dtype: str = "float64") -> Judge:
    """Returns a judge (a function that gives a verdict) for claims that a quantity only increases or only decreases.

    See equation (1) of the module docstring.
    The measurement is one curve (k,), judged to rounding, or repetitions (m, k).
    Reference: [student1908probable].
    Cost: one pass over the numbers.

    >>> monotone_in("depth")("increasing", [1.0, 1.0, 2.0]).verdict.value
    'holds'
    """

    def judge(predicted: Any, observed: Any) -> Judgment:
        if predicted not in ("increasing", "decreasing"):
            raise InputError(f"predicted must be 'increasing' or 'decreasing', but it is {predicted!r}")
        o = np.atleast_2d(as_float64(observed, "the measurement"))
        steps = np.diff(o, axis=1) * (1 if predicted == "increasing" else -1)
        means = steps.mean(0)
        if len(o) > 1:
            half = student_quantile(confidence, len(o) - 1, steps.shape[1]) * steps.std(0, ddof=1) / len(o) ** 0.5
            sure, wrong = means > half, means < -half
        else:
            half = rounding * float(np.finfo(dtype).eps) * np.maximum(np.abs(o[0, 1:]), np.abs(o[0, :-1]))
            sure, wrong = means >= -half, means < -half
        verdict = Verdict.REFUTED if wrong.any() else Verdict.HOLDS if sure.all() else Verdict.INCONCLUSIVE  # (1)
        reason = (
            f"{int(sure.sum())} of {len(means)} steps along {label} are {predicted}, {int(wrong.sum())} the reverse."
        )
        marks = (Line("observed", plotted_indices(o.shape[1]), o.mean(0)[plotted_indices(o.shape[1])]),)
        values = (Value("steps as predicted", int(sure.sum())), Value("steps against", int(wrong.sum())))
        return Judgment(verdict, reason, values, Plot("Along " + label, marks, Axis(label), Axis("observed")))

    return judge
