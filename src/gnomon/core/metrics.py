"""Computes metrics and intervals: accuracy, margins, explained variance, effective rank, confidence intervals.

    Clopper-Pearson: [B(a/2; k, n-k+1), B(1-a/2; k+1, n-k)],  B the quantile of the beta distribution      (1)

    effective rank = exp(-sum_i p_i log p_i),    p_i = |l_i| / sum_j |l_j|,  l the eigenvalues              (2)
    relative change = |B - A| / |A|,             in the Frobenius norm                                     (3)

(1) covers the true share with at least the stated confidence, for every n and every share, zero and one included.
Reference: [clopper1934use] for (1), [roy2007effective] for (2), [student1908probable] for quantiles of means.

>>> interval = binomial_interval(0, 10, confidence=0.95)
>>> interval.low, round(interval.high, 4)                                    # 1 - 0.025^(1/10)
(0.0, 0.3085)
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.inputs.classes import are_classes, one_hot
from gnomon.core.results import Interval

__all__ = [
    "accuracy",
    "binomial_interval",
    "check_labels_and_margins",
    "class_margins",
    "predicted_classes",
    "effective_rank",
    "explained_variance",
    "margin_over_others",
    "relative_change",
    "student_quantile",
]


def binomial_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Returns the exact (Clopper-Pearson) confidence interval of a probability after ``successes`` in ``trials``.

    See equation (1) of the module docstring.
    Hypotheses: independent trials of one share.
    Reference: [clopper1934use].
    Cost: two quantiles of the beta distribution.

    >>> 0.5 in binomial_interval(5, 10)
    True
    """
    from scipy.special import betaincinv  # imported here, because scipy is slow to import

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))  # (1)
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return Interval(low, high, confidence)


def student_quantile(freedom: int, *, confidence: float = 0.95) -> float:
    """Returns the two-sided quantile of Student's t distribution with ``freedom`` degrees of freedom.

    Args:
        freedom: degrees of freedom, m - 1 for the mean of m numbers.
        confidence: probability between minus and plus the quantile.

    Hypotheses: independent, normal numbers; with many numbers, any.
    Reference: [student1908probable].
    Cost: one quantile.

    >>> round(student_quantile(1, confidence=0.5), 6)                            # of the Cauchy distribution: tan(pi/4)
    1.0
    """
    from scipy.special import stdtrit  # imported here, because scipy is slow to import

    return float(stdtrit(freedom, (1 + confidence) / 2))


def predicted_classes(outputs: Float[Tensor, "n k"]) -> Int[Tensor, " n"]:
    """Returns the predicted class of each row of outputs: the largest output; for a single output 1 if positive, else
    0.

    Cost: one pass over the outputs.

    >>> predicted_classes(torch.tensor([[2.0, 1.0], [0.0, 3.0]])).tolist(), predicted_classes(torch.tensor([[-1.0],
    ...     [2.0]])).tolist()
    ([0, 1], [0, 1])
    """
    return (outputs[:, 0] > 0).long() if outputs.shape[1] == 1 else outputs.argmax(1)


def class_margins(outputs: Float[Tensor, "n k"], classes: Int[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Returns each example's margin: the output of its true class minus the largest output of another class.

    >>> class_margins(torch.tensor([[2.0, 5.0]]), torch.tensor([0])), class_margins(torch.ones(1, 1), torch.tensor([0]))
    (tensor([-3.]), tensor([-1.]))
    """
    if outputs.shape[1] == 1:
        return (2.0 * classes - 1) * outputs[:, 0]
    return margin_over_others(outputs, outputs, classes)


def check_labels_and_margins(f: Float[Tensor, "n k"], y: Int[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Validates class labels, then returns each example's margin: output of its true class minus the largest other
    output.

    >>> check_labels_and_margins(torch.tensor([[2.0, 5.0]]), torch.tensor([0]))
    tensor([-3.])
    """
    one_hot(y.long(), max(2, f.shape[1]))
    return class_margins(f, y)


def margin_over_others(
    own: Float[Tensor, "n k"], others: Float[Tensor, "n k"], classes: Int[Tensor, " n"]
) -> Float[Tensor, " n"]:
    """Returns, for each row, the score of its class in ``own`` minus the largest score of another class in ``others``.

    >>> margin_over_others(torch.tensor([[2.0, 5.0]]), torch.tensor([[9.0, 6.0]]), torch.tensor([0]))
    tensor([-4.])
    """
    index = classes.long()[:, None]
    return own.gather(1, index)[:, 0] - others.scatter(1, index, -torch.inf).amax(1)


def accuracy(outputs: Float[Tensor, "n k"], targets: Tensor) -> float | None:
    """Returns the fraction of examples whose predicted class is correct; None if the targets are not classes.

    Integer classes (n,) and one-hot rows (n, k) are compared with the place of the largest output, targets +1 and -1
    with the sign, output by output.

    Cost: one pass over the outputs.

    >>> import torch
    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    0.5
    """
    if are_classes(targets):
        return float((predicted_classes(outputs) == targets).double().mean()) if outputs.shape[1] > 1 else None
    if bool((targets.abs() == 1).all()):
        return float((outputs * targets > 0).double().mean())
    if targets.shape[1] > 1 and bool((((targets == 0) | (targets == 1)).all(1) & (targets.sum(1) == 1)).all()):
        return float((predicted_classes(outputs) == targets.argmax(1)).double().mean())
    return None


def explained_variance(outputs: Float[Tensor, "n k"], targets: Float[Tensor, "n k"]) -> float:
    """Returns 1 - mean squared error / variance of the targets: 1 for a perfect fit, 0 for predicting the mean.

    Cost: one pass over outputs and targets.

    >>> import torch
    >>> explained_variance(torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [3.0]]))
    1.0
    """
    y = targets.double()
    spread = float(y.var(0, correction=0).mean())
    error = float((outputs.double() - y).square().mean())
    return 1 - error / spread if spread > 0 else (1.0 if error == 0 else float("-inf"))


def effective_rank(eigenvalues: Float[Tensor, " n"]) -> float:
    """Returns the effective number of nonzero eigenvalues: the exponential of the entropy of the normalized spectrum.

    See equation (2) of the module docstring.
    Hypotheses: the spectrum of a symmetric matrix; signs do not enter.
    Reference: [roy2007effective].
    Cost: one pass over the eigenvalues.

    >>> round(effective_rank(torch.ones(5)), 12), effective_rank(torch.tensor([3.0, 0.0]))
    (5.0, 1.0)
    """
    sizes = eigenvalues.double().abs()
    largest = sizes.max()
    if largest == 0:
        return 0.0
    p = sizes / largest  # Dividing by the largest number first keeps the sum from overflowing.
    p = p / p.sum()
    return float(torch.exp(-torch.special.xlogy(p, p).sum()))  # (2)


def relative_change(before: Tensor, after: Tensor) -> float:
    """Returns the relative change of a matrix, |after - before| / |before|, in the Frobenius norm.

    See equation (3) of the module docstring.
    Infinite if only ``before`` is zero, 0 if both are zero.
    Cost: one pass over both.

    >>> relative_change(torch.eye(2), 1.5 * torch.eye(2))
    0.5
    """
    moved, size = float((after.double() - before.double()).norm()), float(before.double().norm())
    return moved / size if size > 0 else (0.0 if moved == 0 else float("inf"))  # (3)
