"""In a Hopfield network with symmetric weights, updating one unit at a time never raises the energy.

    E(s) = -s.W s / 2,    s_i <- sign(W s)_i    =>    E' <= E,    and finitely many updates end at rest       (1)

s are the states +-1, W the weights, E the energy, and E' the energy after one update. Reference: [hopfield1982neural].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted(units, networks):
    """Returns 1, the bound on 1 + (change of energy) for each update, and on 1 + (units still moving at the end)."""
    return np.ones((networks, 3 * units + 1))


def energy_changes(skew, units, networks, seed):
    """Returns 1 + the change of energy by each update of three sweeps, then 1 + the units still moving later."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(networks):
        w = rng.normal(size=(units, units))
        w = (w + w.T) / 2 + skew * (w - w.T)
        np.fill_diagonal(w, 0.0)
        s, row = rng.choice([-1.0, 1.0], units), []
        for i in list(range(units)) * 20:
            before = -s @ w @ s / 2
            s[i] = 1.0 if w[i] @ s >= 0 else -1.0
            row.append(1 + (-s @ w @ s / 2) - before)
        found.append([*row[: 3 * units], 1 + float((s * (w @ s) < 0).sum())])
    return np.array(found)


observed = partial(energy_changes, skew=0.0)  # Symmetric weights.
control = partial(energy_changes, skew=1.0)  # Asymmetric weights.

CLAIM = Claim(
    id="hopfield-network",
    question="Why does a Hopfield network come to rest?",
    equation=r"E(s') \le E(s)",
    axes=("update of one unit, then units not at rest", "1 + change of the energy; 1 + count"),
    source=Source("theorem", "hopfield1982neural"),
    premises=(Premise("the weights are symmetric with a zero diagonal"),),
    parameters={"units": 20, "networks": 20},
    judge=bounded_by(),
)
