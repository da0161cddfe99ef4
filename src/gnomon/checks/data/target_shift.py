"""Compares the targets of train and test: distributions of numbers, or rates of 0/1 labels.

For numbers, the largest difference of the two distribution functions (Kolmogorov and Smirnov),

    D = max_t |F_train(t) - F_test(t)|,    p <= 2 exp(-2 D^2 n m / (n + m)),                                   (1)

and for a 0/1 label with rates p and q the usual test of two rates,

    z = (p - q) / sqrt(r (1 - r) (1 / n + 1 / m)),    r = rate of both together.                               (2)

Hypotheses: independent examples; targets of regression or several 0/1 labels.
Reference: [massey1951kolmogorov].

>>> import torch
>>> y = torch.randn(400, 1, generator=torch.Generator().manual_seed(0))
>>> target_shift_findings(10 * y[:200], y[200:])[0].kind, target_shift_findings(y[:200], y[200:])
('target-shift', ())
"""

from math import exp

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["target_shift_findings"]

MIN_EXAMPLES = 50
"""Fewest examples in each set."""
MAX_COLUMNS = 64
"""Most columns of targets; images as targets are not compared."""
SIGNIFICANCE_LEVEL = 1e-6
"""Probability of a false alarm for all columns together."""
MIN_DIFFERENCE = 0.1
"""Smallest difference of distribution functions or rates that matters."""
MIN_FAR_OUTSIDE = 0.02
"""Share of training targets far outside the range of the test targets that matters, even if few."""
MIN_FRACTIONAL_SHARE = 0.5
"""Share of fractional test targets from which whole training targets are a mistake."""
MIN_Z = 6.0
"""z-score (2) for a label; false-alarm rate 2e-9."""
MIN_RATE_RATIO = 1.5
"""Smallest ratio of rates that matters."""


def target_shift_findings(train: Float[Tensor, "n *k"], test: Float[Tensor, "m *k"]) -> tuple[Finding, ...]:
    """Reports the target column whose distribution differs most between train and test.

    Cost: sorting the targets.

    >>> target_shift_findings(torch.zeros(200, 1), torch.ones(200, 1))[0].values["test_rate"]
    1.0
    """
    a, b = (y.detach().cpu().double().reshape(len(y), -1) for y in (train, test))
    if min(len(a), len(b)) < MIN_EXAMPLES or a.shape[1] != b.shape[1] or a.shape[1] > MAX_COLUMNS:
        return ()
    if bool((((a == 0) | (a == 1)).all()) & ((b == 0) | (b == 1)).all()):
        return _rates(a, b)
    if rounded := _rounding_finding(a, b):
        return rounded
    found = [(_difference(a[:, j], b[:, j]), j) for j in range(a.shape[1])]
    far = [(_far_outside(a[:, j], b[:, j]), j) for j in range(a.shape[1])]
    apart, column = max(found)
    level = 2 * exp(-2 * apart**2 * len(a) * len(b) / (len(a) + len(b)))  # (1)
    if apart < MIN_DIFFERENCE or level * a.shape[1] > SIGNIFICANCE_LEVEL:
        share, column = max(far)
        if share < MIN_FAR_OUTSIDE:
            return ()
    one, other = a[:, column], b[:, column]
    low, high = float(other.min()), float(other.max())
    outside = float(((one < low) | (one > high)).double().mean())
    values = {"mean": float(one.mean()), "deviation": float(one.std()), "test_mean": float(other.mean())}
    values |= {"test_deviation": float(other.std()), "outside": outside, "examples": len(a)}
    evidence = (Value("difference of the distributions", apart), Value("p-value", level))
    return (Finding(kinds.TARGET_SHIFT, "labels", values, evidence, SIGNIFICANCE_LEVEL),)


def _rounding_finding(a: Tensor, b: Tensor) -> tuple[Finding, ...]:
    """Returns a finding if all training targets are whole numbers, of several values, and many test targets are not."""
    share = float((b != b.round()).any(1).double().mean())
    if not bool((a == a.round()).all()) or share < MIN_FRACTIONAL_SHARE or not bool(a.std(0).any()):
        return ()
    values = {"examples": len(a), "share": share}
    return (Finding(kinds.ROUNDED_TARGETS, "labels", values, (Value("share of fractions in test", share),), 0.0),)


def _rates(a: Tensor, b: Tensor) -> tuple[Finding, ...]:
    p, q = a.mean(0), b.mean(0)
    both = (p * len(a) + q * len(b)) / (len(a) + len(b))
    z = (p - q) / (both * (1 - both) * (1 / len(a) + 1 / len(b))).clamp(min=1e-12).sqrt()  # (2)
    rarer = q > p
    ratio = torch.where(rarer, q / p.clamp(min=1e-9), p / q.clamp(min=1e-9))
    differ = (z.abs() > MIN_Z) & ((p - q).abs() > MIN_DIFFERENCE) & (ratio > MIN_RATE_RATIO)
    if not bool(differ.any()):
        return ()
    first = int(torch.where(differ, z.abs(), 0.0).argmax())
    values = {"labels": int(differ.sum()), "total": a.shape[1], "label": first, "rate": float(p[first])}
    evidence = (Value("z-score", float(z[first])),)
    return (Finding(kinds.LABEL_RATES, "labels", values | {"test_rate": float(q[first])}, evidence, 2e-9),)


def _far_outside(one: Tensor, other: Tensor) -> float:
    """Returns the fraction of numbers in ``one`` that are far outside the range of the numbers in ``other``."""
    low, high = float(other.min()), float(other.max())
    width = high - low
    return float(((one < low - width) | (one > high + width)).double().mean()) if width > 0 else 0.0


def _difference(one: Tensor, other: Tensor) -> float:
    """Returns the largest difference between the distribution functions of two samples (Kolmogorov-Smirnov statistic).

    See equation (1) of the module docstring.
    """
    points = torch.cat([one, other]).sort().values
    shares = [torch.searchsorted(t.sort().values, points, right=True).double() / len(t) for t in (one, other)]
    return float((shares[0] - shares[1]).abs().max())
