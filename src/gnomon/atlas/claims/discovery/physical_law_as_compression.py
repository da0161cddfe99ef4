"""The law is the shortest description: among all supports the information criterion is smallest at the true one.

    BIC(S) = m log RSS(S) + |S| log m,    smallest elsewhere in at most one of ten draws                      (1)

Each of k variables that are not in the law enters where its share of the residual is above log m / m, so the share of
wrong draws is near k P(chi^2_1 > log m), 1.8 % for k = 5 and m = 5000.
Reference: [schwarz1978estimating].
"""

from functools import partial

import numpy as np

from gnomon.discovery import TermSelection, bic_path
from gnomon.lab import Claim, Premise, Source, at_most


def predicted():
    """Equation (1)."""
    return 0.1


def measure(n, draws, noise, seed, seen):
    """Whether the smallest criterion is elsewhere than at the true terms, for each draw."""
    wrong = []
    for k in range(draws):
        draw = np.random.default_rng([seed, k])
        columns = draw.standard_normal((n, 8)) + 0.5 * draw.standard_normal((n, 1))
        y = 2 * columns[:, 1] - columns[:, 4] + 0.5 * columns[:, 6] + noise * draw.standard_normal(n)
        best = min(bic_path(columns[:, seen], y, TermSelection(thresholds=1)), key=lambda c: c.criterion)
        wrong.append({seen[j] for j in best.support} != {1, 4, 6})
    return np.array(wrong)


observed = partial(measure, seen=list(range(8)))  # All eight variables.
control = partial(measure, seen=[0, 2, 3, 4, 5, 6, 7])  # Without the second.

CLAIM = Claim(
    id="physical-law-as-compression",
    title="The law is where the description length is smallest",
    equation=r"S^* = \arg\min_S\; m\log RSS(S) + |S|\log m",
    source=Source("theorem", "schwarz1978estimating"),
    premises=(
        Premise("the variables of the law are measured"),
        Premise("independent errors"),
    ),
    parameters={"n": 5000, "draws": 200, "noise": 0.3},
    full={"n": 10_000, "draws": 400},
    judge=at_most(confidence=0.99),
)
