"""Updates of one unit at a time never raise the energy of a network with symmetric weights and zero diagonal.

    E(s) = -s.W s / 2,    s_i <- sign(W s)_i    =>    E' <= E                                                 (1)

Reference: [hopfield1982neural].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(units, networks):
    """No rise; one is added, so that rounding is measured against it."""
    return np.ones((networks, 3 * units))


def rises(skew, units, networks, seed):
    """One plus the changes of energy over three sweeps; ``skew`` makes the weights unsymmetric."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(networks):
        w = rng.normal(size=(units, units))
        w = (w + w.T) / 2 + skew * (w - w.T)
        np.fill_diagonal(w, 0.0)
        s, row = rng.choice([-1.0, 1.0], units), []
        for i in list(range(units)) * 3:
            before = -s @ w @ s / 2
            s[i] = 1.0 if w[i] @ s >= 0 else -1.0
            row.append(1 + (-s @ w @ s / 2) - before)
        found.append(row)
    return np.array(found)


observed = partial(rises, skew=0.0)  # Symmetric weights.
control = partial(rises, skew=1.0)  # Others.

CLAIM = Claim(
    id="hopfield-network",
    title="One unit at a time, the energy of a symmetric network never rises",
    equation=r"E(s') \le E(s)",
    source=Source("theorem", "hopfield1982neural"),
    premises=(Premise("the weights are symmetric with a zero diagonal"),),
    parameters={"units": 20, "networks": 20},
    judge=bounded_by(),
)
