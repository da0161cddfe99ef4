"""The information criterion BIC is smallest for the true terms of a law, except with a known small probability.

    BIC(S) = m log RSS(S) + |S| log m,    smallest elsewhere with probability 1 - (1 - p)^k                   (1)

S is a set of terms, RSS(S) its residual sum of squares, m the number of data. One of the k variables outside the law
enters if t^2 > (m - 5) (m^{1/m} - 1) for Student's t with m - 5 degrees of freedom, with probability p: 17 % of draws
are wrong for k = 5 and m = 100, and fewer for larger m. Reference: [schwarz1978estimating].
"""

from functools import partial

import numpy as np

from gnomon.discovery import TermSelection, best_terms_by_count
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(n):
    """Returns the probability that BIC prefers a wrong set of terms, for five variables that are not in the law."""
    from scipy.stats import t  # slow to import

    p = 2 * t.sf(((n - 5) * (n ** (1 / n) - 1)) ** 0.5, n - 5)
    return 1 - (1 - p) ** 5


def measure(n, draws, noise, seed, seen):
    """Returns per random data set whether BIC chooses another set than the true terms among ``seen``."""
    wrong = []
    for k in range(draws):
        draw = np.random.default_rng([seed, k])
        columns = draw.standard_normal((n, 8)) + 0.5 * draw.standard_normal((n, 1))
        y = 2 * columns[:, 1] - columns[:, 4] + 0.5 * columns[:, 6] + noise * draw.standard_normal(n)
        best = min(best_terms_by_count(columns[:, seen], y, TermSelection(thresholds=1)), key=lambda c: c.criterion)
        wrong.append({seen[j] for j in best.support} != {1, 4, 6} & set(seen))
    return np.array(wrong)


observed = partial(measure, seen=list(range(8)))  # All eight variables.
control = partial(measure, seen=[0, 2, 3, 4, 5, 6, 7])  # Control: variable 1 of the law is not measured.

CLAIM = Claim(
    id="physical-law-as-compression",
    question="Is the true law the shortest description of the data?",
    equation=r"S^* = \arg\min_S\; m\log RSS(S) + |S|\log m",
    axes=("draw of the data", "1 if another set of terms is chosen"),
    source=Source("theorem", "schwarz1978estimating"),
    premises=(Premise("the variables of the law are measured"), Premise("the errors are independent")),
    parameters={"n": 100, "draws": 1000, "noise": 0.3},
    full={"n": 200, "draws": 5000},
    judge=mean_equals(
        confidence=0.999, resolution=0.3, within=0.01, because="two variables may enter together, or none alone"
    ),
)
