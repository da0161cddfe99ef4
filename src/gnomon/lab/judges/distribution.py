"""Judges whether samples follow a predicted distribution, by the Kolmogorov-Smirnov test.

    D = sup_t |F_n(t) - F(t)|,    refuted where P(D_n >= D) < 1 - confidence                                  (1)

A test of n samples sees distances above about 2 / sqrt(n): with fewer than (2 / resolution)^2 samples it is
inconclusive. The prediction is a distribution of scipy.stats (frozen), or its distribution function.
Hypotheses: independent samples, a continuous F. Reference: [massey1951kolmogorov].
"""

from typing import Any

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Axis, Line, Plot, Value
from gnomon.lab.judges.numbers import Judge, as_float64, plotted_indices
from gnomon.lab.verdict import Judgment, decide

__all__ = ["distributed_as"]


@add_call_to_errors
def distributed_as(*, confidence: float = 0.999, resolution: float = 0.1) -> Judge:
    """Returns a judge (a function that gives a verdict) for claims that samples follow a given distribution.

    See equation (1) of the module docstring.

    Args:
        confidence: the chance that samples of the predicted distribution pass.
        resolution: the distance of distribution functions that must be seen.

    Reference: [massey1951kolmogorov].
    Cost: a sort of the samples.

    >>> from scipy.stats import norm
    >>> distributed_as()(norm(), norm.ppf((np.arange(500) + 0.5) / 500)).verdict.value
    'holds'
    """

    def judge(predicted: Any, observed: Any) -> Judgment:
        from scipy.stats import kstest  # slow to import

        o = np.sort(as_float64(observed, "the samples").ravel())
        cdf = predicted.cdf if hasattr(predicted, "cdf") else predicted
        test = kstest(o, cdf)
        few = len(o) < (2 / resolution) ** 2
        reason = (
            f"Predicted and measured distribution functions differ by {test.statistic:.3g} (p = {test.pvalue:.3g}, "
        )
        reason += f"{len(o)} samples)."
        reason += (
            f" {int((2 / resolution) ** 2) + 1} samples are needed to see a distance of {resolution:g}." if few else ""
        )
        values = (Value("distance", float(test.statistic)), Value("p-value", float(test.pvalue)))
        heights = (np.arange(len(o)) + 0.5) / len(o)
        shown = plotted_indices(len(o))
        marks = (Line("observed", o[shown], heights[shown]), Line("predicted", o[shown], cdf(o[shown]), "dashed"))
        plot = Plot("Distribution", marks, Axis("value"), Axis("share below"))
        return Judgment(decide(bool(test.pvalue >= 1 - confidence), not few), reason, values, plot)  # (1)

    return judge
