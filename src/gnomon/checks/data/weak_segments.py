"""Finds parts of a table on which a trained network is much worse, such as rows whose age is above 60.

On the first half of the test examples, the rule "column j at most t" or "above t" with the largest z-score is chosen,

    z = (e_in - e_out) / sqrt(v_in / n_in + v_out / n_out)                                                    (1)

with the mean errors e and their variances v inside and outside. On the second half the rule is fixed, so that z there
is about normal if the rule was found by chance.

Hypotheses: independent examples; errors are 0 or 1, or squared.
Reference: [chung2019slice].

>>> g = torch.Generator().manual_seed(0)
>>> x = torch.rand(800, 4, generator=g)
>>> wrong = (torch.rand(800, generator=g) < torch.where(x[:, 2] > 0.8, 0.7, 0.05)).double()
>>> weak_segment_findings(x, wrong)[0].values["column"]
2
>>> weak_segment_findings(x, wrong[torch.randperm(800, generator=g)])
()
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["weak_segment_findings"]

QUANTILES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9)
"""Shares of the examples below the thresholds that are tried."""
MAX_SEGMENT_SHARE = 0.5
"""Share of the examples in a segment, at most."""
MIN_EXAMPLES = 200
"""Fewest test examples."""
MIN_IN_SEGMENT = 10
"""Fewest examples of a segment in each half."""
MIN_Z = 4.0
"""z-score (1) on the second half; a rule found by chance exceeds it with probability 3e-5, and a few times as often
with few examples."""
MIN_ERROR_RATIO = 3.0
"""The mean error in the segment is at least this multiple of the mean error outside."""
MIN_ERROR_DIFFERENCE = 0.2
"""Smallest difference of the mean errors that matters, as a share of the examples or of the variance."""
MAX_COLUMNS = 100
"""Tables with more columns are not searched: they are pixels or spectra."""


def weak_segment_findings(x: Inputs, errors: Float[Tensor, " n"], *, names: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Reports a range of a column in which test examples have far larger errors than elsewhere.

    ``errors`` are 1 for wrong answers and 0 for right ones, or squared errors over the variance of the targets.
    False alarms: 0 of 400 tables whose errors do not depend on the columns.
    Cost: a sort of each column.

    >>> weak_segment_findings(torch.rand(50, 2), torch.ones(50).double())                     # too few examples
    ()
    """
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    if len(parts) != 1 or parts[0].dim() != 2 or parts[0].shape[1] > MAX_COLUMNS or len(errors) < MIN_EXAMPLES:
        return ()
    table, errors = parts[0].detach().cpu().double(), errors.detach().cpu().double()
    first, second = (torch.arange(len(errors)) % 2 == half for half in (0, 1))
    best: tuple[float, int, float, bool] | None = None
    for column in range(table.shape[1]):
        own = table[first, column]
        for t in own.quantile(torch.tensor(QUANTILES, dtype=own.dtype)).unique().tolist():
            for above in (False, True):
                inside = own > t if above else own <= t
                z = _z(errors[first], inside)
                if z is not None and (best is None or z > best[0]):
                    best = (z, column, t, above)
    if best is None:
        return ()
    _, column, t, above = best
    inside = (table[second, column] > t) if above else (table[second, column] <= t)
    z, tested = _z(errors[second], inside), errors[second]
    if z is None or z < MIN_Z:
        return ()
    within, outside = float(tested[inside].mean()), float(tested[~inside].mean())
    if within < MIN_ERROR_RATIO * outside or within - outside < MIN_ERROR_DIFFERENCE:
        return ()
    values = {"column": names[column] if names else column, "side": "above" if above else "at most", "threshold": t}
    values |= {"within": within, "outside": outside, "examples": int(inside.sum()), "tested": len(tested)}
    return (Finding(kinds.WEAK_SEGMENT, "inputs", values, (Value("z-score on the second half", z),), 1e-4),)


def _z(errors: Tensor, inside: Tensor) -> float | None:
    """Returns a z-score for the difference of mean errors inside and outside of a segment; None if either part is too
    small.
    """
    n, m = int(inside.sum()), int((~inside).sum())
    if n < MIN_IN_SEGMENT or m < MIN_IN_SEGMENT or n > MAX_SEGMENT_SHARE * len(errors):
        return None
    one, other = errors[inside], errors[~inside]
    pooled = errors.var() * 1e-3  # keeps the z-score finite if all errors inside and outside are equal
    spread = (one.var() + pooled) / n + (other.var() + pooled) / m
    return float((one.mean() - other.mean()) / spread.clamp_min(1e-300).sqrt())
