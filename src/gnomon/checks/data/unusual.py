"""Finds test examples that are far from all training examples of their class.

A classifier that should distinguish train from test misses a small part of strange examples. Their distances show them:

    s_i = distance to the nearest training example of the same class, itself left out                             (1)
    c_k = test examples among the k of largest s,    T = sum over k of (c_k - k m / (n + m)) / k^(3/4)            (2)

for n training and m test examples and k = (n + m) / 2, / 4, / 8, ... down to 8. If both have the same distribution, all
orders of the s are equally likely, and the law of T is that of counts of balls drawn without return; p-values are taken
from `NULL_DRAWS` draws of it. (2) gives large k a little less weight than counts of equal variance would, so that few
strange examples and many that are slightly strange are both found. Targets that are numbers count like inputs, by their
distance; without targets all examples are of one class.

Hypotheses: examples are independent. Orders are only nearly equally likely: the nearest one is looked for among n
training examples for test, and among n - 1 for train, and two of train may be nearest to each other. On 600 clean
splits of digits p was below 0.05 in 5.8 % and below 0.01 in 1.0 %.
Reference: [bates2023testing] for tests by ranks of scores that training examples have as well.

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> x, y = torch.randn(800, 5, generator=g), torch.zeros(400, dtype=torch.long)
>>> strange = x[400:].clone()
>>> strange[:30] *= 3                                                       # a few of 400
>>> found = unusual_test_examples(x[:400], y, strange, y)
>>> found.p_value < 1e-3 < unusual_test_examples(x[:400], y, x[400:], y).p_value, found.test, found.farthest
(True, 24, 25)
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.classes import are_classes
from gnomon.core.results import Result

__all__ = ["UnusualTestExamples", "unusual_test_examples"]

MIN_NEIGHBORHOOD = 8
"""Smallest k of (2)."""
NULL_DRAWS = 100_000
"""Draws of the null distribution of T, so that a p-value of 1e-4 has a standard error of 3e-5."""
MAX_EXACT_DIMENSIONS = 1024
"""Dimensions above which distances are computed in a random sketch [johnson1984extensions]."""
ROWS_PER_TILE = 2000
"""Number of rows compared at once."""


@dataclass(frozen=True, slots=True)
class UnusualTestExamples(Result):
    """Result: of the examples farthest from all training examples of their class, how many are test examples, and how
    many chance allows.

    ``test`` of the ``farthest`` examples are test examples, where ``expected`` would be chance, at the k of (2) where
    this is least likely; ``excess`` is the largest share of test minus the share of train that is as far or farther,
    ``first`` the numbers of the ten test examples that are farthest.
    """

    farthest: int
    test: int
    expected: float
    excess: float
    p_value: float
    first: tuple[int, ...]
    by_class: bool

    @property
    def verdict(self) -> str:
        """Says in one sentence how many of the most distant examples are test examples, and how many chance allows."""
        near = "training examples of their class" if self.by_class else "training examples"
        who = f"{self.test} of the {self.farthest} examples that are farthest from {near} are test examples"
        return f"{who}; {self.expected:.0f} are expected by chance."


def unusual_test_examples(
    x: Float[Tensor, "n p"], y: Tensor | None, x_test: Float[Tensor, "m p"], y_test: Tensor | None, *, seed: int = 0
) -> UnusualTestExamples:
    """Tests whether test examples are farther from training examples of their class than training examples are from
    each other.

    Hypotheses: as stated for the module.
    Reference: [bates2023testing].
    Cost: n (n + m) distances, and 1e5 draws of about ten numbers.

    >>> unusual_test_examples(torch.zeros(9, 1), None, torch.ones(9, 1), None).test                    # of nine
    9
    """
    n, m = len(x), len(x_test)
    both = None if y is None or y_test is None else torch.cat([y.detach().cpu(), y_test.detach().cpu()])
    order = _distances(torch.cat([x, x_test]), both, n, seed).argsort(descending=True, stable=True)
    sizes = [k for j in range(1, 40) if (k := (n + m) // 2**j) >= MIN_NEIGHBORHOOD][::-1]
    k = np.array(sizes)
    counts = (order >= n).cumsum(0).numpy()[k - 1]
    chance = k * m / (n + m)
    generator = np.random.default_rng(seed)
    balls = generator.multivariate_hypergeometric(np.diff([0, *sizes, n + m]), m, size=NULL_DRAWS)
    drawn = balls[:, :-1].cumsum(1)
    t, law = ((c - chance) @ k**-0.75 for c in (counts, drawn))  # (2)
    best = int(((counts - chance) / np.sqrt(k * (1 - k / (n + m)))).argmax())
    excess = float((counts / m - (k - counts) / n).max())
    p = (1 + int((law >= t - 1e-9).sum())) / (1 + NULL_DRAWS)
    first = tuple((order[order >= n][:10] - n).tolist())
    by_class = both is not None and are_classes(both)
    return UnusualTestExamples(sizes[best], int(counts[best]), float(chance[best]), excess, p, first, by_class)


def _distances(rows: Tensor, y: Tensor | None, n: int, seed: int) -> Tensor:
    """Returns the distance of each row to the nearest training row of its class; the first n rows are the training
    rows.
    """
    if rows.shape[1] > MAX_EXACT_DIMENSIONS:
        generator = torch.Generator().manual_seed(seed)
        rows = rows @ (
            torch.randn(rows.shape[1], MAX_EXACT_DIMENSIONS, generator=generator) / sqrt(MAX_EXACT_DIMENSIONS)
        )
    classes = None
    if y is not None and are_classes(y):
        classes = torch.unique(y.long(), return_inverse=True)[1]
    # Appends numeric targets to the rows of inputs, weighted so that targets and inputs count equally.
    elif y is not None and y.is_floating_point():
        table = y.float().reshape(len(y), -1)
        scale = rows.std(0, correction=0).norm() / table.std(0, correction=0).norm().clamp_min(1e-12)
        rows = torch.cat([rows, (table - table.mean(0)) * scale], 1)
    found = []
    for start in range(0, len(rows), ROWS_PER_TILE):
        part = torch.arange(start, min(start + ROWS_PER_TILE, len(rows)))
        d = torch.cdist(rows[part], rows[:n])
        if classes is not None:
            d.masked_fill_(classes[part, None] != classes[None, :n], torch.inf)
        own = part[part < n]
        d[own - start, own] = torch.inf
        found.append(d.min(1).values)  # (1)
    return torch.cat(found)
