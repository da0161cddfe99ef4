"""Tests whether train and test have the same distribution, by training a classifier to distinguish them.

The classifier is ridge regression on random features, fitted to half of both sets and scored on the other half. With
k held-out examples of each set and the scores s,

    AUC = share of pairs with s(test) > s(train),    z = (AUC - 1/2) / sqrt((2 k + 1) / (12 k^2))                (1)

is standard normal for large sets with the same distribution. Classes are compared as well, by the total
variation

    TV = (1 / 2) sum_c |p_train(c) - p_test(c)|,    and Pearson's test of homogeneity                             (2)

and test examples are looked for that no training example of their class is near to (`unusual_test_examples`): a few
strange ones cost accuracy long before a classifier can distinguish the sets by them.

A data set that gives other numbers whenever it is read is augmented. If that is so for train alone, as is usual, the
sets differ on purpose, and only what no augmentation does on average is a fault: a mean that moves by more than a
spread, or a spread that changes by more than a factor of two.

Hypotheses: examples are independent.
Reference: [lopez2017revisiting] for classifiers as tests, [mann1947test] for (1), [bates2023testing] for the last one.

>>> import torch
>>> x = torch.randn(800, 5, generator=torch.Generator().manual_seed(0))
>>> data_shift(x[:400], x[400:]).shifted, data_shift(x[:400], x[400:] + 0.7).shifted
(False, True)
"""

from dataclasses import dataclass, replace
from math import erfc, sqrt
from typing import Any

import torch
from torch import Tensor

from gnomon.checks.data.rows import example_hashes, joint_example_rows, random_features
from gnomon.checks.data.unusual import UnusualTestExamples, unusual_test_examples
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.inputs.checks import check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import AbstractSource, StreamingSource, data_source
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.results import Finding, Result, Value
from gnomon.findings import data as kinds

__all__ = ["DataShift", "data_shift"]

SIGNIFICANCE_LEVEL = 1e-4
"""False-alarm rate of (1) and (2)."""
UNUSUAL_SIGNIFICANCE_LEVEL = 8e-4
"""False-alarm rate of the test for unusual examples; all tests together have 1e-3."""
MIN_AUC = 0.55
"""AUC at which a difference matters."""
LARGE_AUC = 0.7
"""AUC at which the test score belongs to a different problem: the two sets share about 60 % of their mass."""
MIN_TOTAL_VARIATION = 0.1
"""Total variation of class frequencies at which a difference matters: the largest possible loss of accuracy."""
LARGE_TOTAL_VARIATION = 0.25
"""Total variation of class frequencies at which the test score belongs to a different problem."""
MIN_EXCESS = 0.02
"""Share of unusual test examples at which a difference matters: the largest loss of accuracy, approximately."""
LARGE_EXCESS = 0.1
"""Share of unusual test examples at which the test score belongs to a different problem."""
MAX_EXAMPLES = 2000
"""Examples used from each set, at most."""
MAX_DISTANCE_EXAMPLES = 3000
"""Examples of each set whose distances are computed, at most."""
MIN_EXAMPLES = 60
"""Examples needed in each set, at least."""
RANDOM_FEATURES = 300
"""Number of random features."""
RELATIVE_RIDGE = 1e-2
"""Ridge relative to the mean diagonal of the Gram matrix."""
REREAD_EXAMPLES = 64
"""Number of examples read twice to detect augmentation."""
MAX_AUGMENTATION_SPREAD = 2.0
"""Factor by which augmentation may change the spread of inputs, on average."""


@dataclass(frozen=True, slots=True)
class DataShift(Result):
    """Result: how well a classifier distinguishes train from test, the difference of class frequencies, and unusual
    test examples.

    See equations (1) and (2) of the module docstring.
    ``examples`` are the numbers of scored examples in each set; with fewer than 30 no result is given, and ``strange``
    is None. ``augmented`` is whether training examples alone change whenever they are read, and inputs keep their size.
    """

    auc: float
    p_value: float
    classes: float
    p_classes: float
    examples: int
    strange: UnusualTestExamples | None = None
    augmented: bool = False

    @property
    def inputs_shifted(self) -> bool:
        """Checks whether the inputs of train and test differ enough to matter, for another reason than augmentation."""
        return self.p_value < SIGNIFICANCE_LEVEL and self.auc >= MIN_AUC and not self.augmented

    @property
    def classes_shifted(self) -> bool:
        """Checks whether the class frequencies of train and test differ enough to matter."""
        return self.p_classes < SIGNIFICANCE_LEVEL and self.classes >= MIN_TOTAL_VARIATION

    @property
    def has_strange(self) -> bool:
        """Checks whether significantly many test examples are far from all training examples of their class."""
        return (
            self.strange is not None
            and self.strange.p_value < UNUSUAL_SIGNIFICANCE_LEVEL
            and self.strange.excess >= MIN_EXCESS
        )

    @property
    def shifted(self) -> bool:
        """Checks whether inputs or class frequencies differ between train and test, or test examples are unusual."""
        return self.inputs_shifted or self.classes_shifted or self.has_strange

    @property
    def verdict(self) -> str:
        """Says in one sentence whether train and test have the same distribution."""
        if not self.examples:
            return "There are not enough examples to compare train and test."
        if self.inputs_shifted:
            return kinds.INPUTS_DIFFER.format(auc=self.auc)
        if self.classes_shifted:
            return kinds.CLASSES_DIFFER.format(share=self.classes)
        if self.strange is not None and self.has_strange:
            return f"Some test examples are unlike any training example. {self.strange.verdict}"
        if self.augmented:
            return (
                "Training examples change whenever they are read (augmentation) and test examples do not; "
                "otherwise there is no sign of a difference between train and test."
            )
        power = (
            MIN_AUC if self.examples >= 1600 else 0.5 + (3.7 + 1.6) * sqrt((2 * self.examples + 1) / 12) / self.examples
        )
        seen = f"this test notices a difference if a classifier is right in {power:.0%} of cases; chance is 50 %"
        return f"Train and test look the same: a classifier cannot distinguish them ({seen})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if the distribution of test differs strongly from train, and a warning if it differs a
        little.
        """
        found = []
        # If class frequencies differ, they already explain a shift of the inputs, so only the class frequencies are
        # reported.
        if self.inputs_shifted and not self.classes_shifted:
            evidence = Value("pairs distinguished", self.auc), Value("p-value", self.p_value)
            row = kinds.TRAIN_TEST_SHIFT if self.auc >= LARGE_AUC else kinds.SMALL_SHIFT
            found.append(Finding(row, "test", {"auc": self.auc}, evidence, SIGNIFICANCE_LEVEL))
        if self.classes_shifted:
            evidence = Value("difference of class frequencies", self.classes), Value("p-value", self.p_classes)
            row = kinds.CLASS_SHIFT if self.classes >= LARGE_TOTAL_VARIATION else kinds.SMALL_CLASS_SHIFT
            found.append(Finding(row, "labels", {"share": self.classes}, evidence, SIGNIFICANCE_LEVEL))
        if not found and self.strange is not None and self.has_strange:
            first = ", ".join(map(str, self.strange.first))
            evidence = Value("excess of unusual examples", self.strange.excess), Value("p-value", self.strange.p_value)
            row = kinds.MANY_UNUSUAL if self.strange.excess >= LARGE_EXCESS else kinds.SOME_UNUSUAL
            found.append(
                Finding(
                    row, "test", {"excess": self.strange.excess, "first": first}, evidence, UNUSUAL_SIGNIFICANCE_LEVEL
                )
            )
        return tuple(found)


@add_call_to_errors
def data_shift(train: Any, test: Any, *, seed: int = 0) -> DataShift:
    """Compares train with test: how well a classifier distinguishes them, class frequencies, and unusual test examples.

    ``train`` and ``test`` are inputs, or data as `gnomon.examine` takes them. False alarms: at most 1e-3, of the three
    tests together. Power: with 1000 examples of each set an AUC of 0.6 is found in 99 % of cases; of 900 digits, 4.7 %
    that are mirrored were found in 59 of 60 splits.

    Hypotheses: examples are independent of each other.
    Reference: [lopez2017revisiting], [mann1947test], [bates2023testing].
    Cost: one system of 450 unknowns, the features of at most 4000 examples, distances of 6000 to 3000.

    >>> x = torch.randn(400, 3, generator=torch.Generator().manual_seed(0))
    >>> data_shift((x[:200], x[:200, 0] > 0), (x[200:], x[200:, 0] > 1)).classes_shifted
    True
    """
    seed = check_seed(seed)
    a, b = (data if isinstance(data, AbstractSource) else data_source(data) for data in (train, test))
    classes, p_classes = _classes(a.labels(), b.labels())
    k = min(MAX_EXAMPLES, len(a), len(b))
    if k < MIN_EXAMPLES:
        return DataShift(0.5, 1.0, classes, p_classes, 0)
    chosen = [stratified_sample(len(s), None, MAX_DISTANCE_EXAMPLES, seed=seed) for s in (a, b)]
    parts = [s.at(index) for s, index in zip((a, b), chosen, strict=True)]
    x, n = joint_example_rows(parts[0].x, parts[1].x, seed=seed), len(chosen[0])
    few = [stratified_sample(len(index), None, k, seed=seed + 1) for index in chosen]
    auc, half = _classifier_auc(x[torch.cat([few[0], n + few[1]])], k, seed)
    z = (auc - 0.5) / sqrt((2 * half + 1) / (12 * half**2))  # (1)
    strange = unusual_test_examples(x[:n], parts[0].y, x[n:], parts[1].y, seed=seed)
    strange = replace(strange, first=tuple(chosen[1][list(strange.first)].tolist()))
    augmented = _changes(a, chosen[0]) and not _changes(b, chosen[1]) and _of_one_size(parts[0].x, parts[1].x)
    return DataShift(auc, erfc(z / sqrt(2)) / 2, classes, p_classes, half, strange, augmented)


def _changes(data: AbstractSource, index: Tensor) -> bool:
    """Checks whether reading the same examples twice gives different inputs, as with augmentation; False for
    streams.
    """
    if isinstance(getattr(data, "source", data), StreamingSource):
        return False
    one, two = (example_hashes(data.at(index[:REREAD_EXAMPLES]).x) for _ in range(2))
    return one != two


def _of_one_size(x: Inputs, of: Inputs) -> bool:
    """Checks whether two sets of inputs have similar means and standard deviations, so that augmentation may explain
    differences.
    """
    for a, b in zip(input_tensors(x), input_tensors(of), strict=True):
        if a.is_floating_point():
            (m, s), (n, t) = ((float(v.double().mean()), float(v.double().std(correction=0))) for v in (a, b))
            if abs(m - n) > max(s, t) or max(s, t) > MAX_AUGMENTATION_SPREAD * min(s, t):
                return False
    return True


def _classifier_auc(x: Tensor, k: int, seed: int) -> tuple[float, int]:
    """Trains a classifier to distinguish the first k rows from the others; returns its held-out AUC and number of
    held-out rows.

    See equation (1) of the module docstring.
    """
    features = random_features(x, width=RANDOM_FEATURES, seed=seed).double()
    sign = torch.cat([-torch.ones(k), torch.ones(k)]).double()
    order = torch.randperm(k, generator=torch.Generator().manual_seed(seed))
    fit, held = order[: k // 2], order[k // 2 :]
    fitted, out = torch.cat([fit, fit + k]), torch.cat([held, held + k])
    center = features[fitted].mean(0)
    f, g = features[fitted] - center, features[out] - center
    gram = f.mT @ f
    ridge = RELATIVE_RIDGE * gram.diagonal().sum() / len(gram) + 1e-12
    scores = g @ torch.linalg.solve(gram + ridge * torch.eye(len(gram), dtype=gram.dtype), f.mT @ sign[fitted])
    ranks = scores.argsort().argsort().double() + 1
    half = len(held)
    return float((ranks[half:].sum() - half * (half + 1) / 2) / half**2), half


def _classes(y: Tensor | None, of: Tensor | None) -> tuple[float, float]:
    """Compares the class frequencies of two sets: returns the total variation distance and the p-value of a chi-squared
    test.

    See equation (2) of the module docstring.
    """
    if y is None or of is None or not are_classes(y) or not are_classes(of):
        return 0.0, 1.0
    _, code = torch.unique(torch.cat([y.cpu().long(), of.cpu().long()]), return_inverse=True)
    table = torch.stack([torch.bincount(c, minlength=int(code.max()) + 1) for c in (code[: len(y)], code[len(y) :])])
    table = table.double()
    shares = table / table.sum(1, keepdim=True)
    expected = table.sum(0) * table.sum(1, keepdim=True) / table.sum()
    statistic = ((table - expected).square() / expected).sum()
    freedom = torch.tensor(table.shape[1] - 1, dtype=torch.float64)
    p = float(torch.special.gammaincc(freedom / 2, statistic / 2)) if freedom > 0 else 1.0
    return float((shares[0] - shares[1]).abs().sum() / 2), p  # (2)
