"""Judges whether several quantities have a predicted order, from smallest to largest.

    mean(o_b - o_a) > t se   for neighbors a, b in the predicted order                                        (1)

Differences are taken within each repetition, so that what both share cancels. The prediction is the names in order, the
measurement a dict of them with one number for each repetition (a single number: compared as it is).
Hypotheses: independent repetitions. Reference: [student1908probable].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Bars, Plot, Value
from gnomon.lab.judges.numbers import Judge, as_float64, student_quantile
from gnomon.lab.verdict import Judgment, Verdict

__all__ = ["in_order"]

ORDERS = {
    Verdict.HOLDS: "In the predicted order",
    Verdict.REFUTED: "Not in the predicted order",
    Verdict.INCONCLUSIVE: "Too close together to see an order",
}
"""What a verdict says about the order."""


@add_call_to_errors
def in_order(*, confidence: float = 0.99) -> Judge:
    """Returns a judge (a function that gives a verdict) for the predicted order of several quantities.

    See equation (1) of the module docstring.
    Reference: [student1908probable].
    Cost: one pass over the numbers.

    >>> in_order()(("small", "large"), {"small": [1.0, 1.1, 0.9], "large": [2.0, 2.1, 2.0]}).verdict.value
    'holds'
    """

    def judge(predicted: Any, observed: Any) -> Judgment:
        if set(predicted) != set(observed):
            raise InputError(f"predicted names {list(predicted)} and observed {list(observed)}")
        rows = np.stack([np.atleast_1d(as_float64(observed[name], name)) for name in predicted])
        gaps = np.diff(rows, axis=0)
        m = gaps.shape[1]
        half = np.zeros(len(gaps))
        if m > 1:
            half = student_quantile(confidence, m - 1, len(gaps)) * gaps.std(1, ddof=1) / m**0.5
        means = gaps.mean(1)
        verdict = (
            Verdict.REFUTED
            if (means < -half).any()
            else Verdict.HOLDS
            if (means > half).all()
            else Verdict.INCONCLUSIVE
        )  # (1)
        reason = "; ".join(f"{name}: {row.mean():.4g}" for name, row in zip(predicted, rows, strict=True))
        values = tuple(Value(name, float(row.mean())) for name, row in zip(predicted, rows, strict=True))
        plot = Plot(
            "Predicted order, from above", (Bars("observed", tuple(predicted), rows.mean(1)),), Axis("observed")
        )
        return Judgment(verdict, f"{ORDERS[verdict]}: {reason}.", values, plot)

    return judge
