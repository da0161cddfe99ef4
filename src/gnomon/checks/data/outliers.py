"""Finds a few rows of a table with values far outside the range of all other rows.

For each column, z = |x - median| / (interquartile range), sorted. The r largest values are outliers if

    z of the smallest outlier > `MIN_FACTOR` * z of the largest other value,    r <= `MAX_SHARE` n              (1)

A factor between neighbors in the order, rather than a distance, spares heavy tails: for a tail P(z > t) = t^-a the
largest two exceed the third by the factor c with probability about c^(-2 a).

Hypotheses: a table of numbers.
Reference: [huber2009robust], section 1.4.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["outlier_findings"]

MIN_FACTOR = 20.0
"""Factor of (1); two values of a tail with exponent 2 exceed the third by it with probability 6e-6."""
MAX_SHARE = 0.02
"""Maximum share of rows that count as outliers."""
MIN_OUTLIERS = 2
"""Minimum number of outliers in all columns together: a single value may be the tail of a distribution."""
MIN_EXAMPLES = 100
"""Minimum number of rows."""
MIN_Z = 10.0
"""Minimum distance of an outlier from the median, in interquartile ranges."""
MAX_COLUMNS = 2000
"""Tables with more columns are not searched: they are pixels or spectra."""


def outlier_findings(x: Inputs, *, names: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Reports rows of a table with values far outside the range of all other rows.

    See equation (1) of the module docstring.
    False alarms: none of 280 columns of 1,000 normal, lognormal, exponential, Student (3) and rounded numbers.
    Cost: a sort of each column.

    >>> import torch
    >>> x = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
    >>> outlier_findings(x)
    ()
    >>> x[:4, 2] = 1e4
    >>> outlier_findings(x)[0].values["rows"]
    4
    """
    parts = [t for t in input_tensors(x) if t.is_floating_point()]
    if len(parts) != 1 or parts[0].dim() != 2 or parts[0].shape[1] > MAX_COLUMNS or len(parts[0]) < MIN_EXAMPLES:
        return ()
    table = parts[0].detach().cpu().double()
    found = {column: cut for column in range(table.shape[1]) if (cut := _cut(table[:, column])) is not None}
    if not found:
        return ()
    rows = torch.zeros(len(table), dtype=torch.bool)
    for column, (center, distance, _) in found.items():
        rows |= (table[:, column] - center).abs() >= distance
    places = rows.nonzero()[:, 0].tolist()
    if not MIN_OUTLIERS <= len(places) <= MAX_SHARE * len(table):
        return ()
    column = max(found, key=lambda place: found[place][2])
    worst = float(table[:, column][(table[:, column] - found[column][0]).abs().argmax()])
    values = {
        "rows": len(places), "examples": len(table), "column": names[column] if names else column, "worst": worst,
        "usual": found[column][1] / found[column][2], "first": ", ".join(map(str, places[:5])),
    }  # fmt: skip
    evidence = (Value("distance of the outliers over the largest other distance", found[column][2]),)
    return (Finding(kinds.OUTLIER_ROWS, "inputs", values, evidence, 1e-4),)


def _cut(column: Float[Tensor, " n"]) -> tuple[float, float, float] | None:
    """Finds the limit beyond which values of a column are outliers; returns the median, the limit, and the ratio to
    other values.
    """
    if not bool(column.isfinite().all()):
        return None
    low, center, high = (float(column.quantile(q)) for q in (0.25, 0.5, 0.75))
    if high <= low:
        return None
    distance = ((column - center).abs() / (high - low)).sort(descending=True).values
    most = max(1, int(MAX_SHARE * len(column)))
    factors = distance[:most] / distance[1 : most + 1].clamp_min(1e-300)  # (1)
    place = int(factors.argmax())
    if float(factors[place]) < MIN_FACTOR or float(distance[place]) < MIN_Z:
        return None
    rounding = 1 - 1e-9  # The radius is slightly below the outlier's distance, so that the outlier itself is counted.
    return center, rounding * float(distance[place]) * (high - low), float(factors[place])
