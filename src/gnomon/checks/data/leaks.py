"""Finds test examples that are also in the training set, as equal or slightly changed copies.

If train and test have the same distribution, a test example has an equal among the n training examples as often as a
training example has one among the others; and the ratio of its distances to its two nearest training examples

    r = d_1 / d_2                                                                                             (1)

has the law that it has for training examples among themselves. A copy has r near 0. With c_0 of n_0 training examples
and c of m test examples below a level t, both tests are Fisher's: under exchangeability

    p = P(H >= c),    H hypergeometric: m draws from n_0 + m examples of which c_0 + c are below t               (2)

and t is the lowest percent of the training examples' ratios, or a half or an eighth of that, for which p is tripled. An
alarm needs p < `SIGNIFICANCE_LEVEL` and an excess of at least `MIN_LEAKED_SHARE` of the test examples, so that what
it reports also matters.

Hypotheses: examples are exchangeable within each set.
Reference: [fisher1922interpretation].

>>> import torch
>>> x = torch.randn(400, 10, generator=torch.Generator().manual_seed(0))
>>> find_leaks(x[:300], x[300:]).findings, find_leaks(x[:300], torch.cat([x[310:], x[:10]])).exact
((), 10)
"""

from collections import Counter
from dataclasses import dataclass, field
from math import lgamma
from typing import Any

import torch
from torch import Tensor

from gnomon.checks.data.rows import bits_per_example, example_hashes, joint_example_rows, nearest_distances
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.inputs.checks import check_seed
from gnomon.core.inputs.source import AbstractSource, data_source
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.results import Finding, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import data as kinds

__all__ = ["DataLeaks", "fisher_p_value", "find_leaks"]

SIGNIFICANCE_LEVEL = 1e-4
"""False-alarm rate of each of the two tests on clean splits."""
MIN_LEAKED_SHARE = 0.01
"""Share of leaked test examples at which the test score is unreliable."""
LARGE_SHARE = 0.1
"""Share of repeated test examples that is a problem even if train repeats examples equally often."""
MAX_TRAIN_EXAMPLES = 60000
"""Maximum number of training examples to search."""
MAX_QUERIES = 1500
"""Maximum number of examples of each set whose neighbors are searched."""
LEVELS = (1.0, 0.5, 0.125)
"""Thresholds for copies, relative to the lowest percentile of the usual distance ratios."""
MIN_EXAMPLES = 30
"""Examples needed in each set, at least."""
MIN_BITS_OF_COPIES = 64.0
"""Bits of an example above which equal examples are copies, not coincidences."""
EXAMPLES_FOR_BITS = 4000
"""Examples used to estimate these bits."""


@dataclass(frozen=True, slots=True, eq=False)
class DataLeaks(Result):
    """Result: number of test examples with an exact or near copy in the training set, and number expected by chance.

    ``copies`` are pairs (number in test, number in train) of the examples that were found, ``p_exact`` and ``p_near``
    the p-values (2), ``rich`` whether rows are long enough that no two are equal by chance.
    """

    exact: int
    near: int
    test: int
    expected: float
    p_exact: float
    p_near: float
    rich: bool
    copies: tuple[tuple[int, int], ...] = field(repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def share(self) -> float:
        """Returns the fraction of the checked test examples that have an exact or near copy in the training set."""
        return len(self.copies) / max(1, self.test)

    @property
    def has_leak(self) -> bool:
        """Checks whether the test set contains significantly more copies of training examples than chance explains."""
        by_chance = self.p_exact >= SIGNIFICANCE_LEVEL and self.p_near >= SIGNIFICANCE_LEVEL
        return not by_chance or (self.rich and self.exact >= 2 and self.exact / self.test >= MIN_LEAKED_SHARE)

    @property
    def verdict(self) -> str:
        """Says in one sentence how many test examples are copies of training examples."""
        if not self.has_leak:
            known = f"; {self.exact} have an exact copy in train, which chance explains" if self.exact else ""
            return f"No test example is a copy of a training example{known}."
        near = f" and {self.near} nearly equal" if self.near else ""
        return f"Of {self.test} test examples, {self.exact} equal{near} examples are in train ({self.share:.1%})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if test examples are also in train; only a warning if train repeats its own examples as
        often.
        """
        if not self.has_leak:
            return ()
        inherited = (
            self.p_exact >= SIGNIFICANCE_LEVEL and self.p_near >= SIGNIFICANCE_LEVEL
        )  # Train contains as many copies within itself, so copies belong to the data, not to the split.
        row = kinds.LEAKED_TEST
        if inherited:
            row = kinds.REPEATED_IN_TEST if self.rich and self.share >= LARGE_SHARE else kinds.REPEATED_EXAMPLES
        evidence = (
            Value("equal in both sets", self.exact, meaning=f"by chance: {self.expected:.3g}"),
            Value("nearly equal in both sets", self.near),
            Value("first examples", ", ".join(f"test {i} = train {j}" for i, j in self.copies[:5])),
        )
        values = {"share": self.share, "test": self.test, "exact": self.exact, "near": self.near}
        return (Finding(row, "test", values, evidence, 2 * SIGNIFICANCE_LEVEL),)


@add_call_to_errors
def find_leaks(train: Any, test: Any, *, seed: int = 0) -> DataLeaks:
    """Finds test examples that are exact or slightly changed copies of training examples.

    See equations (1) and (2) of the module docstring.
    ``train`` and ``test`` are inputs, or data as `gnomon.examine` takes them; targets are not used. False alarms: at
    most 2e-4 of clean splits. Power: 5 % of copies among 200 test examples are found whenever their distance is below
    half of that to other examples.

    Hypotheses: examples are exchangeable within each set. In one or two dimensions near copies cannot be detected.
    Reference: [fisher1922interpretation].
    Cost: a digest of each example, and `MAX_QUERIES` times n distances in 96 dimensions.

    >>> x = torch.rand(300, 20, generator=torch.Generator().manual_seed(0))
    >>> find_leaks(x[:200], torch.cat([x[210:], 0.999 * x[:10]])).near
    10
    """
    seed = check_seed(seed)
    (a, of_a), (b, of_b) = _draw(train, seed), _draw(test, seed)
    n, m = count_examples(a), count_examples(b)
    if min(n, m) < MIN_EXAMPLES:
        return DataLeaks(0, 0, m, 0.0, 1.0, 1.0, False, ())
    mine = example_hashes(a)
    first = {one: i for i, one in reversed([*enumerate(mine)])}
    equal = [(j, first[one]) for j, one in enumerate(example_hashes(b)) if one in first]
    inside = sum(k for k in Counter(mine).values() if k > 1)
    expected = inside / n * m
    p_exact = fisher_p_value(len(equal), m, inside, n) if len(equal) - expected >= MIN_LEAKED_SHARE * m else 1.0
    near, p_near = _near(a, b, {j for j, _ in equal}, seed)
    pairs = tuple((int(of_b[j]), int(of_a[i])) for j, i in (*equal, *near))
    rich = bits_per_example(take_examples(a, slice(0, EXAMPLES_FOR_BITS))) >= MIN_BITS_OF_COPIES
    return DataLeaks(len(equal), len(near), m, expected, p_exact, p_near, rich, pairs)


def _near(x: Inputs, of: Inputs, known: set[int], seed: int) -> tuple[list[tuple[int, int]], float]:
    """Finds test examples that are slightly changed copies of training examples, by distances to nearest neighbors.

    See equation (1) of the module docstring.
    """
    n, m = count_examples(x), count_examples(of)
    both = joint_example_rows(x, of, seed=seed)
    a, b = both[:n], both[n:]
    generator = torch.Generator().manual_seed(seed)
    own = torch.randperm(n, generator=generator)[:MAX_QUERIES]
    rest = torch.tensor([j for j in range(m) if j not in known], dtype=torch.long)
    rest = rest[torch.randperm(len(rest), generator=generator)[:MAX_QUERIES]]
    if len(rest) < MIN_EXAMPLES:
        return [], 1.0
    null, _ = nearest_distances(a, a[own], own_rows=own, seed=seed)
    seen, partner = nearest_distances(a, b[rest], seed=seed)
    usual, ratio = _ratio(null), _ratio(seen)
    top = min(float(usual[usual > 0].quantile(0.01)) if bool((usual > 0).any()) else 0.0, 0.8)
    found: list[tuple[float, Tensor]] = []
    for level in [top * part for part in LEVELS]:
        below, inside = ratio < level, int((usual < level).sum())
        p = len(LEVELS) * fisher_p_value(int(below.sum()), len(ratio), inside, len(usual))
        excess = float(below.double().mean()) - inside / len(usual)
        found.append((p if excess >= MIN_LEAKED_SHARE else 1.0, below))
    p, below = min(found, key=lambda one: one[0])
    if p >= SIGNIFICANCE_LEVEL:
        return [], 1.0
    return list(zip(rest[below].tolist(), partner[below].tolist(), strict=True)), p


def _ratio(distances: Tensor) -> Tensor:
    return distances[:, 0] / distances[:, 1].clamp_min(1e-30)  # (1)


def fisher_p_value(c: int, m: int, c0: int, n: int) -> float:
    """Returns the p-value of Fisher's exact test that something is more frequent in one group (c of m) than in another
    (c0 of n).

    Cost: at most m terms.

    >>> round(fisher_p_value(2, 2, 0, 2), 6)  # 1 of the 6 ways to mark two of four
    0.166667
    """
    marked = c0 + c
    k = torch.arange(c, min(m, marked) + 1, dtype=torch.float64)
    ways = _log_choose(m, k) + _log_choose(n, marked - k)
    return min(1.0, float((ways - _log_choose(n + m, torch.tensor(marked))).exp().sum()))  # (2)


def _log_choose(n: int, k: Tensor) -> Tensor:
    """Returns the logarithm of the binomial coefficient "n choose k"; minus infinity if k > n."""
    k = k.double()
    value = lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma((n - k).clamp_min(0) + 1)
    return torch.where((k < 0) | (k > n), -torch.inf, value)


def _draw(data: Any, seed: int) -> tuple[Inputs, Tensor]:
    """Returns a random sample of the inputs with their indices, or all inputs if there are few."""
    given = data if isinstance(data, AbstractSource) else data_source(data)
    index = stratified_sample(len(given), None, MAX_TRAIN_EXAMPLES, seed=seed)
    return (given.whole() if len(index) == len(given) else given.at(index)).x, index
