"""Finds targets of which a few huge values decide the squared error.

    s(y) = share of sum (y_i - mean)^2 that the 2 % of the examples with the largest squares hold                 (1)

is 0.13 for normal targets and 0.5 for lognormal ones of deviation 1. If s(y) is close to 1 and s(log y) is usual, the
logarithm of the target is the better target.

Hypotheses: positive targets, one number each.

>>> import torch
>>> y = (2.5 * torch.randn(400, generator=torch.Generator().manual_seed(0))).exp()
>>> skewed_target_findings(y)[0].kind, skewed_target_findings(y.log()), skewed_target_findings(y.sqrt().sqrt())
('skewed-targets', (), ())
"""

from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["skewed_target_findings"]

MIN_EXAMPLES = 100
"""Fewest examples for this check."""
SHARE_OF_LARGEST = 0.02
"""Share of the examples in (1)."""
MIN_SHARE = 0.95
"""Share (1) from which a few examples decide the squared error."""
MAX_SHARE_OF_LOGARITHM = 0.35
"""Largest share (1) of the logarithms."""


def skewed_target_findings(y: Tensor) -> tuple[Finding, ...]:
    """Returns a finding if 2 % of the targets hold most of the squared error and their logarithms do not.

    See equation (1) of the module docstring.
    Cost: a sort of the targets.

    >>> import torch
    >>> skewed_target_findings(torch.zeros(500))
    ()
    """
    values = y.detach().cpu().double().reshape(len(y), -1)
    if len(values) < MIN_EXAMPLES or values.shape[1] != 1 or not bool((values > 0).all()):
        return ()
    share, logarithm = _share(values[:, 0]), _share(values[:, 0].log())
    if share < MIN_SHARE or logarithm > MAX_SHARE_OF_LOGARITHM:
        return ()
    evidence = (Value("share of the squares in 2 % of the targets", share), Value("of their logarithms", logarithm))
    told = {"share": share, "low": float(values.min()), "high": float(values.max()), "middle": float(values.median())}
    return (Finding(kinds.SKEWED_TARGETS, "labels", told, evidence, 1e-6),)


def _share(y: Tensor) -> float:
    squares = (y - y.mean()).square().sort(descending=True).values
    total = float(squares.sum())
    return float(squares[: max(1, round(SHARE_OF_LARGEST * len(y)))].sum()) / total if total > 0 else 0.0
