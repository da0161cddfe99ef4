"""The smallest weights that fit noise labels are largest if the model has as many parameters as examples.

    |w|^2 of least norm:  few parameters < many parameters < as many as examples                                   (1)

|w| is the norm of the weights that fit noise labels with the smallest norm. Reference: [belkin2019reconciling].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the three model sizes, from the smallest norm of the weights to the largest."""
    return ("fewer", "more", "as many")


def log_norms(noise, n, repetitions, seed):
    """Returns log |w| of the fit for a tenth as many, ten times as many, and as many features as examples."""
    rng = np.random.default_rng(seed)
    found = {name: [] for name in predicted()}
    for _ in range(repetitions):
        for name, p in (("as many", n), ("more", 10 * n), ("fewer", n // 10)):
            x = rng.normal(size=(n, p)) / np.sqrt(p)
            w = np.full(p, (p / n) ** 0.5)
            y = x @ w * (1 - noise) + noise * rng.normal(size=n)
            found[name].append(np.log(np.linalg.norm(np.linalg.pinv(x) @ y)))
    return found


observed = partial(log_norms, noise=1.0)  # Labels are noise.
control = partial(log_norms, noise=0.0)  # Control: labels are an exact linear function, so no noise is fitted.

CLAIM = Claim(
    id="double-descent-three-cases",
    question="When does least squares need huge weights?",
    equation=r"\|w\|_{p \ll n} < \|w\|_{p \gg n} < \|w\|_{p = n}",
    axes=("number of features", "log of the norm of the weights"),
    source=Source("observed", "belkin2019reconciling"),
    premises=(Premise("the labels contain what the model cannot express"),),
    parameters={"n": 30, "repetitions": 20},
    judge=in_order(confidence=0.99),
)
