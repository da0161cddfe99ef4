"""The best number of features for n examples grows as the root of n, where errors are 1 / P + P / n.

    error(P) = c / P + s^2 P / n,   smallest at P = sqrt(c n / s^2)                                                 (1)

Here P terms of an orthonormal series with squared coefficients 1 / (j (j + 1)): beyond P they sum to 1 / (P + 1).
Reference: [barron1994approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Slope one half, equation (1)."""
    return 0.5


def best(power, sizes, most, repetitions, seed):
    """The best P for each n, the mean error over draws; coefficients are seen with variance 1 / n."""
    rng = np.random.default_rng(seed)
    j = np.arange(1, most + 1)
    target = np.sqrt(1.0 / j**power - 1.0 / (j + 1) ** power)
    rows = []
    for _ in range(repetitions):
        row = []
        for n in sizes:
            noise = rng.normal(size=(10, most)) / np.sqrt(n)
            error = np.cumsum((noise**2).mean(0)) + (target**2).sum() - np.cumsum(target**2)
            row.append(j[error.argmin()])
        rows.append(row)
    return sizes, rows


observed = partial(best, power=1.0)  # A tail of 1 / P.
control = partial(best, power=3.0)  # A smoother target, whose tail falls as 1 / P^3: fewer features are enough.

CLAIM = Claim(
    id="barron-estimation-bound",
    title="With error 1 / P + P / n, the best number of features grows as the root of the examples",
    equation=r"O(C^2/P) + O(DP/n \log n), \quad P^* \propto \sqrt n",
    source=Source("theorem", "barron1994approximation"),
    premises=(Premise("the tail of the target falls as 1 / P"),),
    parameters={"sizes": (200, 800, 3200, 12_800), "most": 250, "repetitions": 10},
    judge=rate_is(within=0.05, because="the best P is a whole number", label="examples"),
    remark="Often printed with P and n exchanged. The logarithm of the bound is not seen in this model.",
)
