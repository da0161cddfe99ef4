"""Finds test inputs that were standardized with their own mean and standard deviation instead of the training set's.

Standardized by the statistics of the training set, a column of m test examples has a mean of about 1 / sqrt(m) and a
deviation that differs from one by about 1 / sqrt(2 m). By its own statistics both are exact.

Hypotheses: none; numbers are equal to rounding.

>>> import torch
>>> x = torch.randn(50, 4) * 3 + 1
>>> standardized_alone_findings((x - x.mean(0)) / x.std(0))[0].values["columns"]
4
>>> standardized_alone_findings(x)
()
"""

from torch import Tensor

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding
from gnomon.findings import data as kinds

__all__ = ["standardized_alone_findings"]

MIN_EXAMPLES = 10
"""Fewest test examples."""
MIN_COLUMNS = 2
"""Fewest columns."""
ROUNDING_OF_MOMENTS = 1e-4
"""Rounding of means and deviations in float32; chance differs by 1 / sqrt(examples)."""


def standardized_alone_findings(test: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if every column of the test inputs has exactly mean 0 and standard deviation 1.

    Chance raises no false alarm.
    Cost: two moments.

    >>> import torch
    >>> standardized_alone_findings(torch.rand(20, 3))
    ()
    """
    if not isinstance(test, Tensor) or test.dim() != 2 or not test.is_floating_point():
        return ()
    if len(test) < MIN_EXAMPLES or test.shape[1] < MIN_COLUMNS:
        return ()
    x = test.double()
    centered = bool((x.mean(0).abs() < ROUNDING_OF_MOMENTS).all())
    scaled = any(bool(((x.std(0, correction=c) - 1).abs() < ROUNDING_OF_MOMENTS).all()) for c in (0, 1))
    if not (centered and scaled):
        return ()
    return (Finding(kinds.STANDARDIZED_ALONE, "test", {"columns": x.shape[1], "examples": len(x)}, (), 0.0),)
