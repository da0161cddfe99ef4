"""Against the best discriminator, a GAN's value is 2 JS - 2 log 2, with JS the Jensen-Shannon divergence.

    V(D*) = 2 JS(p, q) - 2 log 2     (1)

V is the value of the game, D* the best discriminator, JS the Jensen-Shannon divergence of data p and samples q.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(states, seed):
    """Returns two random distributions, then two equal ones."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(states), 2)
    return [(p, q), (p, p)]


def predicted(states, seed):
    """Returns twice the Jensen-Shannon divergence minus 2 log 2, for each pair of distributions."""
    from scipy.spatial.distance import jensenshannon

    return [2 * np.nan_to_num(jensenshannon(p, q)) ** 2 - 2 * np.log(2) for p, q in problem(states, seed)]


def value(states, seed, power):
    """Returns the GAN's value with the discriminator p^power / (p^power + q^power), for each pair of distributions."""
    values = []
    for p, q in problem(states, seed):
        d = p**power / (p**power + q**power)
        values.append(p @ np.log(d) + q @ np.log1p(-d))
    return values


observed = partial(value, power=1)  # The discriminator is the best one, p / (p + q).
control = partial(value, power=2)  # Control: the discriminator p^2 / (p^2 + q^2) is not the best one.

CLAIM = Claim(
    id="gan-js-divergence",
    question="What does a GAN minimize if its discriminator is perfect?",
    equation=r"\max_D V = 2\,\mathrm{JS}(p\|q) - 2\ln 2",
    axes=("different distributions, then equal ones", "value of the game (nats)"),
    source=Source("theorem", "goodfellow2014generative", "Theorem 1"),
    premises=(Premise("the discriminator is the best one"),),
    parameters={"states": 6},
    full={"states": 1000},
    judge=equals(rounding=1e4),  # tolerance: a small divergence loses digits when its root and square are taken
    remark="At p = q the value is -1.386294, its minimum. Some notes drop a logarithm, or a factor 1/2.",
)
