"""Judges whether a bound of theory holds in every single case.

o_i <= p_i (1 + c eps)   for a bound from above,    o_i >= p_i (1 - c eps)   from below                    (1)
"""

from typing import Any, Literal

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Value
from gnomon.lab.judges.numbers import Judge, as_float64, measured_against_predicted, reached_share
from gnomon.lab.verdict import Judgment, decide

__all__ = ["bounded_by"]


@add_call_to_errors
def bounded_by(
    side: Literal["above", "below"] = "above", *, rounding: float = 100, dtype: str = "float64", tight: float = 0.0
) -> Judge:
    """Returns a judge (a function that gives a verdict) for claims that a bound holds in every case.

    See equation (1) of the module docstring.

    Args:
        side: "above" if the prediction is an upper bound, "below" if it is a lower bound.
        rounding: the number c of roundings of the longer computation; dtype: floating-point type of the less exact
            computation.
        tight: the statement also says that the bound is nearly reached: the largest o / p (or p / o) is at least this.

    Hypotheses: numbers of one sign if ``tight`` is given.
    Reference: [higham2002accuracy].
    Cost: one pass over the numbers.

    >>> bounded_by()([1.0, 2.0], [0.5, 2.0]).verdict.value, bounded_by("below")(0.0, -0.1).verdict.value
    ('holds', 'refuted')
    """

    def judge(predicted: Any, observed: Any) -> Judgment:
        p, o = np.broadcast_arrays(as_float64(predicted, "the bound"), as_float64(observed, "the measurement"))
        sign = 1.0 if side == "above" else -1.0
        slack = rounding * float(np.finfo(dtype).eps) * np.maximum(np.abs(p), np.abs(o))
        excess = sign * (o - p)
        broken = int((excess > slack).sum())  # (1)
        share = reached_share(p, o, above=side == "above")
        loose = tight > 0 and not (share or 0.0) >= tight
        reason = _reason(side, broken, int(p.size), share)
        if loose:
            reason = f"{reason.rstrip('.')}, but the claim says that {tight:g} of the bound is reached."
        values = (Value("cases", int(p.size)), Value("broken", broken))
        return Judgment(
            decide(not broken and not loose, True), reason, values, measured_against_predicted(p, o), True, share
        )

    return judge


def _reason(side: str, broken: int, cases: int, share: float | None) -> str:
    """Says in how many cases the bound holds or fails, and how close the closest case comes to the bound."""
    bound = "at most" if side == "above" else "at least"
    if broken:
        return f"Not {bound} the bound in {broken} of {cases} cases."
    closest = (
        "the bound is zero" if share is None else "closest: equal" if share > 0.9995 else f"closest: {share:.3g} of it"
    )
    return f"{bound.capitalize()} the bound in {cases} of {cases} cases ({closest})."
