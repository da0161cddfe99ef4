"""Where parameters are as many as examples the fit needs huge weights; with more or fewer they are small.

    |w|^2 of least norm:  few parameters < many parameters < as many as examples                                   (1)

Reference: [belkin2019reconciling].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """The order (1)."""
    return ("fewer", "more", "as many")


def sizes(noise, n, repetitions, seed):
    """Logarithms of |w| for a tenth, ten times, and once as many features as rows."""
    rng = np.random.default_rng(seed)
    found = {name: [] for name in predicted()}
    for _ in range(repetitions):
        for name, p in (("as many", n), ("more", 10 * n), ("fewer", n // 10)):
            x = rng.normal(size=(n, p)) / np.sqrt(p)
            w = np.full(p, (p / n) ** 0.5)
            found[name].append(
                np.log(np.linalg.norm(np.linalg.pinv(x) @ (x @ w * (1 - noise) + noise * rng.normal(size=n))))
            )
    return found


observed = partial(sizes, noise=1.0)  # Labels are noise.
control = partial(sizes, noise=0.0)  # Labels are made by weights that grow with their number, and are found again.

CLAIM = Claim(
    id="double-descent-three-cases",
    title="Weights are largest where parameters are as many as examples",
    equation=r"\|w\|_{p \ll n} < \|w\|_{p \gg n} < \|w\|_{p = n}",
    source=Source("observed", "belkin2019reconciling"),
    premises=(Premise("labels hold what the model cannot express"),),
    parameters={"n": 30, "repetitions": 20},
    judge=in_order(confidence=0.99),
)
