"""If the approximation error of P terms falls as 1 / P, the best P grows as the square root of the number of examples.

    error(P) = c / P + s^2 P / n,   smallest at P = sqrt(c n / s^2)                                                 (1)

c measures the target and s^2 is the noise variance. Here the features are P terms of an orthonormal series with squared
coefficients 1 / (j (j + 1)), which sum to 1 / (P + 1) beyond P. Reference: [barron1994approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 1/2, the exponent of the number of examples in the best number of terms."""
    return 0.5


def best_feature_counts(power, sizes, most, repetitions, seed):
    """Returns the number of terms with the smallest error from noisy coefficients, for each number of examples."""
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


observed = partial(best_feature_counts, power=1.0)  # The test's approximation error of P terms falls as 1 / P.
control = partial(best_feature_counts, power=3.0)  # Control: the error falls as 1 / P^3, so fewer terms are enough.

CLAIM = Claim(
    id="barron-estimation-bound",
    question="How many features should a model have for n examples?",
    equation=r"O(C^2/P) + O(DP/n \log n), \quad P^* \propto \sqrt n",
    axes=("number of examples n", "best number of features P"),
    source=Source("theorem", "barron1994approximation"),
    premises=(
        Premise("the tail of the target falls as 1 / P"),
        # The noise variance and c are both 1, so the best number of terms is the square root of the number of examples.
        Premise("the largest model is larger than the best one", lambda sizes, most: most >= 1.5 * max(sizes) ** 0.5),
    ),
    parameters={"sizes": (200, 800, 3200, 12_800), "most": 250, "repetitions": 10},
    judge=rate_is(within=0.05, because="the best P is a whole number", label="examples"),
    remark="Often printed with P and n exchanged. The logarithm of the bound does not appear in this model.",
)
