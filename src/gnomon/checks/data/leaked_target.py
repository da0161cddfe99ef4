"""Finds table columns that reveal the target, such as a copy of it or a value computed from it.

For each column x_j alone, and classes y or a number y,

    numbers:  r_j^2 = squared correlation of the ranks of x_j and y                                              (1)
    classes:  e_j = share of the variance of x_j between classes; accuracy of the nearest class mean             (2)

A column that is a copy of its class has e_j near 1. A column that only decides the class by a threshold has not: for
a normal variable cut at its mean e_j = 2 / pi. A leak stands alone: the second best column must be clearly worse.

Hypotheses: a table with at least two columns, whose other columns are not computed from the target as well.
Reference: [kaufman2012leakage].

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> x = torch.randn(300, 3, generator=g)
>>> y = (x[:, 0] > 0).long()
>>> leaked_target_findings(x, y, classes=2)                                        # a threshold is no leak
()
>>> x[:, 2] = y + 0.05 * torch.randn(300, generator=g)
>>> leaked_target_findings(x, y, classes=2)[0].values["column"]
2
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["leaked_target_findings"]

MIN_EXAMPLES = 100
"""Fewest examples for this check."""
MIN_SCORE = 0.995
"""Minimum score of a leaked column: (1) for numbers, accuracy for classes."""
MIN_EXPLAINED_BY_CLASS = 0.9
"""Share e_j of (2) of a column that is a copy of its class."""
MAX_SECOND_SCORE = 0.9
"""Largest value (1) of the second best column: with more, the target is easy rather than leaked."""
MAX_SECOND_BY_CLASS = 0.75
"""Largest share e_j of the second best column: with more, the classes are far apart rather than leaked."""
MAX_COLUMNS = 500
"""Tables with more columns are not searched: they are pixels or spectra."""


def leaked_target_findings(
    x: Inputs, y: Tensor, *, classes: int, names: Sequence[str] = ()
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a column of a table that alone predicts the target perfectly or almost perfectly.

    See equations (1) and (2) of the module docstring.
    ``y`` are classes (n,), or numbers (n,) or (n, 1) if ``classes`` is 0.
    False alarms: none of 1000 tables of 300 rows and 10 columns whose target is a noisy sum of columns or a threshold.

    Hypotheses: as above.
    Reference: [kaufman2012leakage].
    Cost: a sort of each column.

    >>> x = torch.randn(200, 4, generator=torch.Generator().manual_seed(1))
    >>> leaked_target_findings(x, 3 * x[:, 1] + 7, classes=0)[0].values["column"]
    1
    """
    parts = list(input_tensors(x))
    if len(parts) == 1 and parts[0].dim() == 3 and not classes:
        return _copied_values(parts[0].detach().cpu().double(), y.detach().cpu().double())
    if len(parts) != 1 or parts[0].dim() != 2 or not 2 <= parts[0].shape[1] <= MAX_COLUMNS:
        return ()
    table, y = parts[0].detach().cpu().double(), y.detach().cpu()
    if len(table) < MIN_EXAMPLES or (not classes and y.reshape(len(y), -1).shape[1] != 1):
        return ()
    if classes:
        scores, likeness = _class_scores(table, y.long().flatten())
    else:
        scores = likeness = _rank_correlations(table, y.double().flatten()).square()
    (best, second), place = likeness.topk(2).values.tolist(), int(likeness.argmax())
    score = float(scores[place])
    least, most = (MIN_EXPLAINED_BY_CLASS, MAX_SECOND_BY_CLASS) if classes else (MIN_SCORE, MAX_SECOND_SCORE)
    if score < MIN_SCORE or best < least or second > most:
        return ()
    unit = "right" if classes else "of the variance of its ranks"
    values = {"column": names[place] if names else place, "score": score, "unit": unit, "examples": len(table)}
    evidence = (Value("likeness of the best column", best), Value("likeness of the second best column", second))
    return (Finding(kinds.LEAKED_TARGET, "inputs", values, evidence, 1e-3),)


def _copied_values(x: Float[Tensor, "n t c"], y: Tensor) -> tuple[Finding, ...]:
    """Returns a finding if the target of nearly all windows equals their value at one place."""
    if y.numel() != len(x) or len(x) < MIN_EXAMPLES or x[0].numel() > MAX_COLUMNS or float(y.std()) == 0:
        return ()
    same = (x == y.reshape(-1, 1, 1)).double().mean(0)
    share = float(same.max())
    if share < MIN_SCORE:
        return ()
    place = ", ".join(str(int(i)) for i in torch.unravel_index(same.argmax(), same.shape))
    values = {"place": place, "share": share, "examples": len(x)}
    return (Finding(kinds.LEAKED_VALUE, "inputs", values, (Value("share of equal values", share),), 0.0),)


def _rank_correlations(table: Float[Tensor, "n p"], y: Float[Tensor, " n"]) -> Float[Tensor, " p"]:
    """Returns the rank correlation of each column of a table with the target.

    See equation (1) of the module docstring.
    """
    ranks = table.argsort(0).argsort(0).double()
    own = y.argsort().argsort().double()
    a, b = ranks - ranks.mean(0), own - own.mean()
    varies = table.std(0) > 0
    correlation = (a * b[:, None]).sum(0) / (a.square().sum(0) * b.square().sum()).sqrt()
    return torch.where(varies, correlation, 0.0)


def _class_scores(table: Float[Tensor, "n p"], y: Tensor) -> tuple[Tensor, Tensor]:
    """Returns for each column how well it alone separates the classes: accuracy of the nearest class mean, and variance
    explained.

    See equation (2) of the module docstring.
    """
    kinds_, place = torch.unique(y, return_inverse=True)
    if len(kinds_) < 2:
        return torch.zeros(table.shape[1]), torch.zeros(table.shape[1])
    sizes = torch.bincount(place).double()
    means = torch.zeros(len(kinds_), table.shape[1], dtype=torch.float64).index_add_(0, place, table) / sizes[:, None]
    spread = table.var(0, correction=0)
    between = (sizes[:, None] * (means - table.mean(0)).square()).sum(0) / len(y)
    nearest = (table[:, None, :] - means[None]).abs().argmin(1)
    accuracy = (nearest == place[:, None]).double().mean(0)
    return accuracy, torch.where(spread > 0, between / spread.clamp_min(1e-300), 0.0)  # (2)
