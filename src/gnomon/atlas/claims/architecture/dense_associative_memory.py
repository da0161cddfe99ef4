"""Memories with energies of order k hold of the order of d^(k - 1) patterns.

    E(s) = -sum_t (x_t.s)^k,    n at one wrong bit in a hundred  =  d^(k-1) / (2.33^2 (2k-3)!!)               (1)

A bit sees a signal of size d^(k-1) and n random terms of variance (2k-3)!! d^(k-1).
Reference: [krotov2016dense].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The power of the number of units, k - 1."""
    return 2.0


def wrong(order, units, patterns, rng):
    """The share of bits that one step turns, from a stored pattern."""
    x = rng.choice([-1.0, 1.0], size=(patterns, units))
    rest = x @ x.T
    field = np.zeros((8, units))
    for t in range(8):  # a few patterns are enough
        overlap = rest[t][:, None] - x * x[t]  # of each pattern with the state, without unit i
        change = 6 * overlap * overlap + 2 if order == 3 else 4 * overlap  # (z + 1)^k - (z - 1)^k
        field[t] = (x * change).sum(0)
    return float((field * x[:8] < 0).mean())


def capacities(order, sizes, repeats, seed):
    """Patterns at one wrong bit in a hundred, between loads that were tried."""
    rng, loads, found = np.random.default_rng(seed), np.array([0.6, 0.85, 1.2, 1.7]), []
    for _ in range(repeats):
        row = []
        for d in sizes:
            top = d ** (order - 1) / (2.326**2 * (3.0 if order == 3 else 1.0))
            tried = np.maximum((loads * top).astype(int), 9)
            rates = [max(np.mean([wrong(order, d, n, rng) for _ in range(5)]), 1e-5) for n in tried]
            line = np.polyfit(np.log(rates), np.log(tried), 1)
            row.append(np.exp(np.polyval(line, np.log(0.01))))
        found.append(row)
    return np.array(sizes, dtype=float), np.array(found)


observed = partial(capacities, order=3)  # Third order.
control = partial(capacities, order=2)  # Second order, the classical network.

CLAIM = Claim(
    id="dense-associative-memory",
    title="A memory of order three holds of the order of d^2 patterns",
    equation=r"n_c \propto d^{k-1}",
    source=Source("theorem", "krotov2016dense"),
    premises=(Premise("the energy is of third order"),),
    parameters={"sizes": (24, 48, 96), "repeats": 8},
    full={"sizes": (30, 60, 120, 200), "repeats": 8},
    judge=rate_is(within=0.15, because="relative corrections 1.6 / d and, for few patterns, 9 / n to a Gaussian tail"),
    remark="Without the clipping of negative overlaps, which changes the constant and not the power.",
)
