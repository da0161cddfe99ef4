"""Measures whether generated samples cover all of the data, and whether they repeat training examples.

    coverage = share of data points with a sample within the distance of their k-th neighbor in the data   (1)
    expected for samples of the same distribution: 1 - C(N - 1, k) / C(N + M - 1, k)                       (2)

with N data points and M samples: none of the M is among the k nearest of N + M - 1 exchangeable points.
A sampler that copies is closer to its training examples than to an equal number of held-out ones:

    copied = share of samples whose nearest neighbor of both sets is a training example                    (3)

The p-value is exact: without copying, training and held-out examples are exchangeable.

Hypotheses: independent examples; (3): training and held-out examples from one distribution.
References: [naeem2020reliable] for (1) and (2), [meehan2020three] for (3).
"""

from dataclasses import dataclass
from math import comb
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.instruments.draws import alike, as_points

__all__ = ["SampleCoverage", "SampleMemorization", "sample_coverage", "sample_memorization"]

DISTANCES_PER_TILE = 2**22
"""Number of distances kept in memory at once."""
MISSING_MODES_Z = 6.0
"""Standard errors below the expected coverage that count as missing modes. Neighborhoods overlap, so binomial errors
are too small by up to a factor of two."""
SIGNIFICANCE_LEVEL = 0.01
"""Probability of a false alarm."""
MANY_COPIED = 0.5
"""Share of the samples, beyond what is expected, whose repetition is a problem instead of a warning."""
"""The chance that a sampler which did not copy is called one that did."""


@dataclass(frozen=True, slots=True)
class SampleCoverage(Result):
    """Result: the fraction of data points that have a generated sample nearby, and the fraction expected.

    See equations (1) and (2) of the module docstring.

    >>> [f.kind for f in SampleCoverage(0.5, 0.97, 0.01, 5).findings]
    ['modes-dropped']
    """

    coverage: float
    expected: float
    error: float
    neighbors: int

    @property
    def verdict(self) -> str:
        """Says whether the generated samples cover all of the data."""
        detail = (
            f"{self.coverage:.1%} of data points have a sample nearby; a perfect sampler reaches {self.expected:.1%}"
        )
        return (
            f"Parts of the data are never sampled: {detail}." if self.findings else f"{detail[0].upper()}{detail[1:]}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if parts of the data are never sampled."""
        if self.coverage >= self.expected - MISSING_MODES_Z * self.error:
            return ()
        evidence = (Value("coverage", self.coverage), Value("expected", self.expected))
        return (Finding(kinds.MODES_DROPPED, "", {"coverage": self.coverage, "expected": self.expected}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of data points with a sample nearby, next to the fraction that a perfect sampler
        reaches.
        """
        bars = Bars("share", ("measured", "expected"), (self.coverage, self.expected))
        return (Plot("SampleCoverage", (bars,), Axis("share of data points", limits=(0, 1)), caption=self.verdict),)


@add_call_to_errors
def sample_coverage(samples: Any, data: Any, *, neighbors: int = 5) -> SampleCoverage:
    """Measures which fraction of the data has generated samples nearby, compared with a perfect sampler.

    See equations (1) and (2) of the module docstring.

        coverage = share of data points with a sample within the distance of their k-th neighbor           (1)

    Args:
        samples: samples of a model.
        data: examples, preferably held out.
        neighbors: the number k of neighbors.

    A false alarm needs a coverage six standard errors too low: less than 1 % of pairs of equal laws with 100 points or
    more, and 0.2 % of those with 150 points in the plane. Hypotheses: independent examples.
    Reference: [naeem2020reliable].
    Cost: all distances, in tiles.

    >>> generator = torch.Generator().manual_seed(0)
    >>> data, samples = torch.randn(2, 300, 2, generator=generator)
    >>> sample_coverage(samples, data).findings == (), sample_coverage(samples.abs(), data).findings[0].kind
    (True, 'modes-dropped')
    """
    k = check_integer("neighbors", neighbors)
    a, b = as_points(samples, "samples"), as_points(data, "data", least=k + 2)
    alike(a, b)
    n, m = len(b), len(a)
    reached = 0
    for part in b.split(max(1, DISTANCES_PER_TILE // max(n, m))):
        # k + 1, because the nearest neighbor of each point is the point itself.
        radius = torch.cdist(part, b).kthvalue(k + 1, dim=1).values
        reached += int((torch.cdist(part, a).amin(1) <= radius).sum())
    share, expected = reached / n, 1 - comb(n - 1, k) / comb(n + m - 1, k)  # (1) (2)
    return SampleCoverage(share, expected, max(expected * (1 - expected) / n, 1 / n**2) ** 0.5, k)


@dataclass(frozen=True, slots=True)
class SampleMemorization(Result):
    """Result: the fraction of generated samples that are closer to a training example than to any held-out example.

    See equation (3) of the module docstring.

    >>> [f.kind for f in SampleMemorization(0.9, 0.5, 1e-6, 200).findings]
    ['memorized-samples']
    """

    copied: float
    expected: float
    p_value: float
    samples: int

    @property
    def verdict(self) -> str:
        """Says whether the generative model repeats its training examples."""
        detail = (
            f"{self.copied:.1%} of samples are closer to a training example than to a held-out example; without "
            f"copying {self.expected:.1%} would be"
        )
        p = f"p = {self.p_value:.2g}"
        return f"The sampler copies: {detail} ({p})." if self.findings else f"No copying was found: {detail} ({p})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if generated samples repeat training examples."""
        if self.p_value > SIGNIFICANCE_LEVEL:
            return ()
        evidence = (Value("copied", self.copied), Value("p-value", self.p_value))
        many = (self.copied - self.expected) / (1 - self.expected) >= MANY_COPIED
        row = kinds.MANY_MEMORIZED if many else kinds.SOME_MEMORIZED
        return (Finding(row, "", {"copied": self.copied, "expected": self.expected}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of samples closest to a training example, next to the fraction expected
        without copying.
        """
        bars = Bars("share", ("measured", "without copying"), (self.copied, self.expected))
        return (Plot("SampleMemorization", (bars,), Axis("share of samples", limits=(0, 1)), caption=self.verdict),)


@add_call_to_errors
def sample_memorization(
    samples: Any, train: Any, held_out: Any, *, permutations: int = 999, seed: int = 0
) -> SampleMemorization:
    """Measures whether generated samples repeat training examples, by comparing their distances to held-out examples.

        copied = share of samples whose nearest neighbor of both sets is a training example                (1)

    Args:
        samples: samples of a model.
        train: the examples the model was trained on.
        held_out: examples of the same distribution that the model never saw, preferably as many.
        permutations: number of permutations of the two sets.
        seed: random seed of the permutations.

    Hypotheses: train and held_out are exchangeable for a model that does not copy. Reference: [meehan2020three].
    Cost: all distances between samples and examples, in tiles.

    >>> generator = torch.Generator().manual_seed(0)
    >>> train, held_out, new = torch.randn(3, 200, 2, generator=generator)
    >>> copied = sample_memorization(train + 1e-3, train, held_out)
    >>> sample_memorization(new, train, held_out).findings, copied.findings[0].kind
    ((), 'memorized-samples')
    """
    a, b, c = (as_points(x, name) for x, name in ((samples, "samples"), (train, "train"), (held_out, "held_out")))
    alike(a, b)
    alike(a, c)
    count = check_integer("permutations", permutations, least=99)
    generator = torch.Generator().manual_seed(check_seed(seed))
    order = torch.cat([b, c])
    nearest = torch.cat(
        [torch.cdist(part, order).argmin(1) for part in a.split(max(1, DISTANCES_PER_TILE // len(order)))]
    )
    hits = nearest.bincount(minlength=len(order)).double() / len(a)
    own = float(hits[: len(b)].sum())  # (1)
    swapped = [float(hits[torch.randperm(len(order), generator=generator)[: len(b)]].sum()) for _ in range(count)]
    larger = sum(value >= own - 1e-12 for value in swapped)
    return SampleMemorization(own, len(b) / len(order), (1 + larger) / (1 + count), len(a))


def nearest_distances(x: Tensor, data: Tensor) -> Tensor:
    """Returns the distance of each point to the nearest data point."""
    return torch.cat([torch.cdist(part, data).amin(1) for part in x.split(max(1, DISTANCES_PER_TILE // len(data)))])
