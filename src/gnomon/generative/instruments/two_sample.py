"""Tests whether two sets of examples come from one distribution, with a stated false-alarm rate.

    MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y),    pairs of different points                   (1)
    energy = 2 mean |x - y| - mean |x - x'| - mean |y - y'|                                                (2)
    p-value = (1 + #{permutations of the labels with a larger statistic}) / (1 + permutations)             (3)

Both statistics are 0 on average for equal distributions and only for those. (3) is exact in any sample: at most a share
``level`` of equal pairs is called different. If a classifier trained to separate the two sets beats chance on held-out
examples, the distributions differ.

Hypotheses: examples are independent. References: [gretton2012kernel] for (1), [szekely2013energy] for (2),
[phipson2010permutation] for (3), [lopez2017revisiting] for the classifier.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.instruments.draws import alike, as_points

__all__ = ["TwoSampleTest", "classifier_test", "energy_test", "mmd_test"]

SIGNIFICANCE_LEVEL = 0.01
"""Probability that two samples of one distribution are called different."""
MAX_EXAMPLES = 4000
"""Maximum number of examples of both sets together, whose distances are held in memory: 128 MB."""


@dataclass(frozen=True, slots=True)
class TwoSampleTest(Result):
    """Result: a statistic that compares two sets of examples, and its p-value.

    >>> TwoSampleTest("energy", 0.3, 0.002, 200).differ
    True
    """

    method: str
    statistic: float
    p_value: float
    examples: int
    seen: str = ""

    @property
    def differ(self) -> bool:
        """Whether the two sets of examples differ, at a significance level of 1 %."""
        return self.p_value <= SIGNIFICANCE_LEVEL  # The smallest possible p-value of 99 permutations is 1 / 100.

    @property
    def verdict(self) -> str:
        """Says whether the two sets of examples come from different distributions."""
        detail = f"{self.method} {self.statistic:.3g}, p = {self.p_value:.3g}, {self.examples} examples"
        if self.differ:
            return f"The two sets come from different distributions ({detail})."
        return f"No difference between the two sets was found ({detail})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the generated samples differ from the data."""
        if not self.differ:
            return ()
        evidence = (Value(self.method, self.statistic), Value("p-value", self.p_value))
        values = {"method": self.method, "statistic": self.statistic, "p_value": self.p_value}
        return (Finding(kinds.SAMPLES_DIFFER, "", {**values, "examples": self.examples}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the p-value of the two-sample test next to the significance level."""
        bars = Bars("chance", ("p-value", "level"), (self.p_value, SIGNIFICANCE_LEVEL))
        return (Plot(self.method, (bars,), Axis("chance", limits=(0, 1)), caption=self.verdict),)


@add_call_to_errors
def mmd_test(
    x: Any, y: Any, *, permutations: int = 500, bandwidth: float | None = None, seed: int = 0
) -> TwoSampleTest:
    """Tests whether two sets of examples differ by the maximum mean discrepancy.

    See equations (1) and (3) of the module docstring.

        MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y)                                             (1)

    Args:
        x: examples, such as samples of a model.
        y: examples of the same shape, such as held-out data.
        permutations: number of permutations of the labels.
        bandwidth: b of k = exp(-|x - y|^2 / (2 b^2)); by default the mean of three kernels, with half the median
            distance, the median, and twice it.
        seed: random seed of the permutations, and of the subset used if there are more than 4000 examples in total.

    Hypotheses: independent examples. Reference: [gretton2012kernel].
    Cost: all distances, n^2 d, then n^2 for each permutation.

    >>> generator = torch.Generator().manual_seed(0)
    >>> x, y = torch.randn(2, 100, 2, generator=generator)
    >>> mmd_test(x, y).differ, mmd_test(x, y + 1).differ
    (False, True)
    """
    both, first = _pool(x, y, seed)
    squares = torch.cdist(both, both).square()
    middle = float(squares[torch.triu_indices(len(both), len(both), 1).unbind()].median()) ** 0.5
    middle = middle or 1.0
    widths = (bandwidth,) if bandwidth is not None else (middle / 2, middle, 2 * middle)
    kernel = torch.stack([(-squares / (2 * b**2)).exp() for b in widths]).mean(0)
    value, p = permutation_test(kernel, first, permutations, seed)  # (1)
    return TwoSampleTest("MMD^2", value, p, len(both))


@add_call_to_errors
def energy_test(x: Any, y: Any, *, permutations: int = 500, seed: int = 0) -> TwoSampleTest:
    """Tests whether two sets of examples differ by the energy distance.

    See equations (2) and (3) of the module docstring.

        energy = 2 mean |x - y| - mean |x - x'| - mean |y - y'|                                            (1)

    Args:
        x: examples, such as samples of a model.
        y: examples of the same shape, such as held-out data.
        permutations: number of permutations of the labels.
        seed: random seed of the permutations, and of the subset used if there are more than 4000 examples in total.

    Hypotheses: independent examples. Reference: [szekely2013energy].
    Cost: all distances, n^2 d, then n^2 for each permutation.

    >>> generator = torch.Generator().manual_seed(0)
    >>> x, y = torch.randn(2, 100, 2, generator=generator)
    >>> energy_test(x, y).differ, energy_test(x, 2 * y).differ
    (False, True)
    """
    both, first = _pool(x, y, seed)
    value, p = permutation_test(-torch.cdist(both, both), first, permutations, seed)  # (1)
    return TwoSampleTest("energy distance", value, p, len(both))


@add_call_to_errors
def classifier_test(x: Any, y: Any, *, classifier: Any = None, seed: int = 0) -> TwoSampleTest:
    """Tests whether two sets of examples differ by how well a classifier separates them on held-out examples.

        p-value = P(Binomial(m, 1/2) >= number right of m held-out examples)                               (1)

    Args:
        x: examples, such as samples of a model.
        y: examples of the same shape, such as held-out data.
        classifier: a scikit-learn classifier; by default nearest neighbors, with the square root of their number.
        seed: random seed of the split.

    Equally many examples of each set are used. Hypotheses: independent examples. Reference: [lopez2017revisiting].
    Cost: training the classifier on half of the examples.

    >>> generator = torch.Generator().manual_seed(0)
    >>> x, y = torch.randn(2, 100, 2, generator=generator)
    >>> classifier_test(x, y).differ, classifier_test(x, y + 2).differ
    (False, True)
    """
    from scipy.stats import binomtest  # slow to import

    a, b = as_points(x, "x", least=8), as_points(y, "y", least=8)
    alike(a, b)
    generator = torch.Generator().manual_seed(check_seed(seed))
    n = min(len(a), len(b)) // 2 * 2
    halves = [part[torch.randperm(len(part), generator=generator)[:n]].chunk(2) for part in (a, b)]
    train, test = (torch.cat([halves[0][i], halves[1][i]]) for i in (0, 1))
    labels = torch.arange(n) >= n // 2
    if classifier is None:
        from sklearn.neighbors import KNeighborsClassifier

        classifier = KNeighborsClassifier(max(1, round(n**0.5)))
    scale, center = train.std(0).clamp(min=1e-12), train.mean(0)
    classifier.fit(((train - center) / scale).numpy(), labels.numpy())
    right = int((torch.as_tensor(classifier.predict(((test - center) / scale).numpy())) == labels).sum())
    return TwoSampleTest(
        "held-out accuracy", right / n, float(binomtest(right, n, 0.5, "greater").pvalue), 2 * n
    )  # (1)


def permutation_test(kernel: Tensor, first: int, permutations: int, seed: int) -> tuple[float, float]:
    """Returns the test statistic of two sets of examples from their joint kernel matrix, and its permutation p-value.

    See equations (1) and (3) of the module docstring.
    With weights w = 1/n on one set and -1/m on the other, w^T K w without its diagonal, corrected for the counts, is
    the statistic; all permutations are one product of matrices.
    """
    count = check_integer("permutations", permutations, least=99)
    n, total = first, len(kernel)
    m = total - n
    inner = kernel - kernel.diagonal().diag()
    generator = torch.Generator().manual_seed(check_seed(seed))
    orders = torch.stack([torch.arange(total)] + [torch.randperm(total, generator=generator) for _ in range(count)])
    marks = torch.zeros(count + 1, total, dtype=kernel.dtype).scatter_(1, orders[:, :n], 1.0).T
    seen = inner @ marks
    xx = (marks * seen).sum(0)
    xy = ((1 - marks) * seen).sum(0)
    yy = inner.sum() - xx - 2 * xy
    values = xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * xy / (n * m)
    slack = 1e-12 * float(values.abs().max())
    larger = int((values[1:] >= values[0] - slack).sum())
    return float(values[0]), (1 + larger) / (1 + count)  # (3)


def _pool(x: Any, y: Any, seed: int) -> tuple[Tensor, int]:
    a, b = as_points(x, "x"), as_points(y, "y")
    alike(a, b)
    generator = torch.Generator().manual_seed(check_seed(seed))
    half = MAX_EXAMPLES // 2
    a, b = (p if len(p) <= half else p[torch.randperm(len(p), generator=generator)[:half]] for p in (a, b))
    return torch.cat([a, b]), len(a)
