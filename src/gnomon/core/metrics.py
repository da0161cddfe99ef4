"""Scores and their intervals, each once: accuracy, explained variance, the interval of a share.

    Clopper-Pearson: [B(a/2; k, n-k+1), B(1-a/2; k+1, n-k)],  B the quantile of the beta distribution      (1)

(1) covers the true share with at least the stated confidence, for every n and every share, zero and one included.
Reference: [clopper1934use].

>>> interval = binomial_interval(0, 10, confidence=0.95)
>>> interval.low, round(interval.high, 4)                                    # 1 - 0.025^(1/10)
(0.0, 0.3085)
"""

from jaxtyping import Float
from torch import Tensor

from gnomon.core.results import Interval


def binomial_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """An interval for a share of which ``successes`` of ``trials`` were seen; equation (1), exact and conservative.

    Hypotheses: independent trials of one share.
    Reference: [clopper1934use].
    Cost: two quantiles of the beta distribution.

    >>> 0.5 in binomial_interval(5, 10)
    True
    """
    from scipy.special import betaincinv  # scipy is slow to import, and needed here alone

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))  # (1)
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return Interval(low, high, confidence)


def accuracy(outputs: Float[Tensor, "n k"], targets: Float[Tensor, "n k"]) -> float | None:
    """The share of points whose output says the right class; None where the targets are no classes.

    Targets +1 and -1 are compared by sign, output by output; one-hot rows by the place of the largest output.

    Cost: one pass over the outputs.

    >>> import torch
    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    0.5
    """
    if bool((targets.abs() == 1).all()):
        return float((outputs * targets > 0).double().mean())
    if targets.shape[1] > 1 and bool((((targets == 0) | (targets == 1)).all(1) & (targets.sum(1) == 1)).all()):
        return float((outputs.argmax(1) == targets.argmax(1)).double().mean())
    return None


def explained_variance(outputs: Float[Tensor, "n k"], targets: Float[Tensor, "n k"]) -> float:
    """1 - mean squared error / variance of the targets: 1 for a perfect fit, 0 for guessing the mean.

    >>> import torch
    >>> explained_variance(torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [3.0]]))
    1.0
    """
    y = targets.double()
    spread = float(y.var(0, correction=0).mean())
    error = float((outputs.double() - y).square().mean())
    return 1 - error / spread if spread > 0 else (1.0 if error == 0 else float("-inf"))
