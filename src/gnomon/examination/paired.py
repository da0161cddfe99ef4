"""Tests whether two networks that were evaluated on the same examples differ by more than chance.

    b, c = examples that only the one, only the other gets wrong
    p = P(|B - (b + c) / 2| >= |b - c| / 2),    B ~ Binomial(b + c, 1/2)                                      (1)

For numbers instead of classes it is Student's test of the differences of squared errors.

Reference: [mcnemar1947note] for (1).

>>> import torch
>>> wrong = torch.zeros(100, dtype=torch.float64)
>>> round(paired_p_value(wrong.index_fill(0, torch.arange(6), 1.0), wrong), 4)             # six to nothing: 2 / 2^6
0.0312
"""

from jaxtyping import Float
from torch import Tensor

__all__ = ["paired_p_value"]


def paired_p_value(one: Float[Tensor, " n"], two: Float[Tensor, " n"]) -> float:
    """Returns the p-value of a paired test that two networks have equal error rates on the same examples.

    Errors are 0 and 1, for (1), or squared errors.
    Hypotheses: examples are independent; for squared errors there are enough of them (about 30) for their mean to be
    normal. The networks are these two: training them again may order them otherwise.
    Cost: one pass.

    >>> import torch
    >>> paired_p_value(torch.ones(5), torch.ones(5))
    1.0
    """
    from scipy import stats  # slow to import

    difference = (one - two).double()
    if not bool(difference.any()):
        return 1.0
    if bool((((one == 0) | (one == 1)) & ((two == 0) | (two == 1))).all()):
        more = int((difference > 0).sum())
        return float(stats.binomtest(more, more + int((difference < 0).sum())).pvalue)  # (1)
    if len(difference) < 2:
        return 1.0
    return float(stats.ttest_1samp(difference.numpy(), 0.0).pvalue)
