"""The law is the shortest description: among all supports the information criterion is smallest at the true one.

BIC(S) = m log RSS(S) + |S| log m,    smallest at the true support in at least nine of ten draws           (1)
"""

import numpy as np

from gnomon.discovery import bic_path
from gnomon.lab import Claim, Premise, Source, bounded_by

RELEVANT = "the variables of the law are measured"


def predicted():
    """At least nine of ten."""
    return 0.9


def measure(n, draws, noise, seed, seen):
    """The share of draws whose smallest criterion is at the true terms."""
    right = 0
    for k in range(draws):
        draw = np.random.default_rng([seed, k])
        columns = draw.standard_normal((n, 8)) + 0.5 * draw.standard_normal((n, 1))
        y = 2 * columns[:, 1] - columns[:, 4] + 0.5 * columns[:, 6] + noise * draw.standard_normal(n)
        best = min(bic_path(columns[:, seen], y), key=lambda c: c.criterion)
        right += {seen[j] for j in best.support} == {1, 4, 6}
    return right / draws


def observed(n, draws, noise, seed):
    """All eight variables."""
    return measure(n, draws, noise, seed, list(range(8)))


def control(n, draws, noise, seed):
    """Without the second."""
    return measure(n, draws, noise, seed, [0, 2, 3, 4, 5, 6, 7])


CLAIM = Claim(
    id="physical-law-as-compression",
    title="The law is where the description length is smallest",
    equation=r"S^* = \arg\min_S\; m\log RSS(S) + |S|\log m",
    source=Source("theorem", "schwarz1978estimating"),
    premises=(Premise(RELEVANT), Premise("independent errors")),
    breaks=RELEVANT,
    parameters={"n": 300, "draws": 20, "noise": 0.3},
    full={"draws": 200},
    judge=bounded_by("below"),
    predicted=predicted,
    observed=observed,
    control=control,
)
