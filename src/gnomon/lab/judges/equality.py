"""Judges whether a prediction without randomness equals the measurement, up to rounding or a stated error.

    |o - p| <= c eps max(|p|, |o|, scale)    or    |o - p| <= within                                        (1)

Reference: [higham2002accuracy], section 3.1, for errors that grow with the count of operations.
"""

from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Value
from gnomon.lab.judges.numbers import Judge, as_float64, measured_against_predicted
from gnomon.lab.verdict import Judgment, decide

__all__ = ["equals"]


@add_call_to_errors
def equals(
    *, rounding: float | None = None, dtype: str = "float64", within: float | None = None, because: str = ""
) -> Judge:
    """Returns a judge (a function that gives a verdict) for claims that numbers are equal, up to rounding or a stated
    error.

    See equation (1) of the module docstring.

    Args:
        rounding: the number c of roundings that the longer of the two computations can make; relative to the largest
            of the numbers.
        dtype: the floating-point type of the less exact computation.
        within: instead, an absolute error that the theorem or the method of measurement states; ``because`` says which.

    Hypotheses: neither side involves chance, or the error of the sampling is part of ``within``.
    Reference: [higham2002accuracy].
    Cost: one pass over the numbers.

    >>> equals(rounding=4)(1.0, 1.0 + 2e-16).verdict.value, equals(within=0.1, because="O(1/n)")(1.0, 1.3).verdict.value
    ('holds', 'refuted')
    """
    if (rounding is None) == (within is None) or (within is not None and not because):
        raise InputError("pass either rounding, or within together with because")

    def judge(predicted: Any, observed: Any) -> Judgment:
        p, o = as_float64(predicted, "the prediction"), as_float64(observed, "the measurement")
        if p.shape != o.shape:
            raise InputError(f"predicted has shape {p.shape} and observed {o.shape}")
        scale = max(float(np.abs(p).max(initial=0)), float(np.abs(o).max(initial=0)))
        unit = float(np.finfo(dtype).eps)
        finite = bool(np.isfinite(scale))
        tolerance = within if within is not None else (rounding or 0) * unit * scale if finite else 0.0
        error = float(np.abs(o - p).max(initial=0)) if finite else 0.0 if np.array_equal(p, o) else np.inf
        why = because or (f"{rounding:g} roundings of {dtype}" if rounding else "exact")
        reason = f"Largest difference from the prediction: {error:.3g}; allowed: {tolerance:.3g} ({why})."
        values = (Value("largest difference", error), Value("allowed", float(tolerance), obtained="upper bound"))
        return Judgment(decide(error <= tolerance, True), reason, values, measured_against_predicted(p, o))  # (1)

    return judge
