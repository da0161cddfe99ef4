"""Computes 95 % confidence intervals of scores that are ratios of two sums over test examples.

    r = sum_i a_i / sum_i b_i,    se = sqrt(n / (n - 1) sum_i (a_i - r b_i)^2) / sum_i b_i                     (1)
    unexplained variance: a_i = |f_i - y_i|^2, b_i = |y_i - mean of y|^2;   interval r exp(+- t se / r)          (2)
    share of right tokens or pixels: a_i of b_i are right in example i;   effective size r (1 - r) / se^2       (3)

t is the quantile of Student's distribution with n - 1 degrees of freedom. (3) is the size of a sample of independent
tokens that would be as certain; it goes into the exact interval of a share. Only whole examples count as independent,
because tokens of one text and pixels of one image depend on each other. Training is not repeated: an interval says how
much the score depends on the choice of the test examples, not on the random seed of training.

>>> import torch
>>> interval = explained_variance_interval(torch.tensor([[0.1], [0.9], [2.2]]), torch.tensor([[0.0], [1.0], [2.0]]))
>>> interval.low < 0.97 < interval.high
True
"""

from math import exp, sqrt

from jaxtyping import Float
from torch import Tensor

from gnomon.core.metrics import student_quantile
from gnomon.core.results import Interval

__all__ = ["explained_variance_interval", "perplexity_interval", "share_interval"]

CONFIDENCE_LEVEL = 0.95
"""Probability that an interval contains the score on all data like the test examples."""
MAX_LOG_PERPLEXITY = 700.0
"""The exponential of larger numbers overflows."""


def _ratio(a: Tensor, b: Tensor) -> tuple[float, float]:
    """Returns the ratio of two sums over examples, and its standard error."""
    a, b = a.double().cpu(), b.double().cpu()
    n, total = len(a), float(b.sum())
    ratio = float(a.sum()) / total
    return ratio, sqrt(n / (n - 1) * float((a - ratio * b).square().sum())) / total  # (1)


def explained_variance_interval(f: Float[Tensor, "n k"], y: Float[Tensor, "n k"]) -> Interval | None:
    """Returns the interval of the explained variance of predictions; None if examples are few or targets are equal.

    See equation (2) of the module docstring.
    Hypotheses: independent examples, about 30 or more.
    Cost: one pass over the outputs.

    >>> import torch
    >>> explained_variance_interval(torch.zeros(1, 1), torch.zeros(1, 1)) is None
    True
    """
    if len(y) < 3 or float(y.double().var(0).sum()) == 0:
        return None
    share, error = _ratio((f - y).double().square().sum(1), (y - y.double().mean(0)).square().sum(1))
    if share == 0:
        return None
    factor = exp(min(student_quantile(len(y) - 1, confidence=CONFIDENCE_LEVEL) * error / share, MAX_LOG_PERPLEXITY))
    return Interval(1 - share * factor, 1 - share / factor, CONFIDENCE_LEVEL)  # (2)


def perplexity_interval(losses: Float[Tensor, " n"], counts: Tensor) -> Interval | None:
    """Returns the interval of the perplexity, from the sum of the losses of each example and its number of tokens.

    Hypotheses: independent examples, about 30 or more.
    Cost: one pass over the examples.

    >>> import torch
    >>> perplexity_interval(torch.ones(2), torch.ones(2)) is None                                   # too few examples
    True
    """
    if len(losses) < 3 or float(counts.sum()) == 0:
        return None
    mean, error = _ratio(losses, counts)
    half = student_quantile(len(losses) - 1, confidence=CONFIDENCE_LEVEL) * error
    low, high = (exp(min(end, MAX_LOG_PERPLEXITY)) for end in (mean - half, mean + half))
    return Interval(low, high, CONFIDENCE_LEVEL)


def share_interval(right: Tensor, counts: Tensor) -> Interval | None:
    """Returns the interval of the share of right tokens, from the number of right tokens of each example and of all.

    See equation (3) of the module docstring.
    Hypotheses: independent examples, about 30 or more.
    Cost: two quantiles of the beta distribution.

    >>> import torch
    >>> share_interval(torch.ones(40), torch.ones(40)).high                                       # as 40 of 40 examples
    1.0
    """
    from scipy.special import betaincinv  # imported here, because scipy is slow to import

    if len(right) < 3 or float(counts.sum()) == 0:
        return None
    share, error = _ratio(right, counts)
    tail, most = (1 - CONFIDENCE_LEVEL) / 2, float(counts.sum())
    size = min(most, share * (1 - share) / error**2) if error > 0 else float(len(right))  # (3)
    hits = share * size
    low = 0.0 if hits <= 0 else float(betaincinv(hits, size - hits + 1, tail))
    high = 1.0 if hits >= size else float(betaincinv(hits + 1, size - hits, 1 - tail))
    return Interval(low, high, CONFIDENCE_LEVEL)
