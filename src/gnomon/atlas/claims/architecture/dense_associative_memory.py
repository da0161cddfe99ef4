"""Memories with energies of order k hold of the order of d^(k - 1) patterns.

    E(s) = -sum_t (x_t.s)^k,    n at one wrong bit in a hundred  =  d^(k-1) / (2.33^2 (2k-3)!!)               (1)

A bit sees a signal of size d^(k-1) and n random terms of variance (2k-3)!! d^(k-1).
Reference: [krotov2016dense].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

SIZES = {2: (96, 192, 384), 3: (24, 48, 96), 4: (24, 36, 54)}  # units, for at most some thousand patterns
CHANGES = {  # of the energy when a bit turns, from its overlap z: (z + 1)^k - (z - 1)^k, or e^z up to a factor
    0: np.exp,
    2: lambda z: 4 * z,
    3: lambda z: 6 * z * z + 2,
    4: lambda z: 8 * z * (z * z + 1),
}
ROOM = {2: 1.0, 3: 3.0, 4: 15.0}  # (2k - 3)!!


def predicted():
    """The powers k - 1 of the number of units, for k = 2, 3 and 4; then no wrong bits with an exponential energy."""
    return [1.0, 2.0, 3.0, 0.0]


def wrong(order, units, patterns, rng):
    """The share of bits that one step turns, from a stored pattern; order 0 stands for exponential energy."""
    x = rng.choice([-1.0, 1.0], size=(patterns, units))
    rest = x[:8] @ x.T
    field = np.zeros((8, units))
    for t in range(8):  # a few patterns are enough
        overlap = rest[t][:, None] - x * x[t]  # of each pattern with the state, without unit i
        change = CHANGES[order](overlap)
        field[t] = (x * change).sum(0)
    return float((field * x[:8] < 0).mean())


def slope(order, repeats, rng):
    """Power of the units in the number of patterns at one wrong bit in a hundred, between loads that were tried."""
    loads, found = np.array([0.6, 0.85, 1.2, 1.7]), []
    for d in SIZES[order]:
        top = d ** (order - 1) / (2.326**2 * ROOM[order])
        tried = np.maximum((loads * top).astype(int), 9)
        rates = [max(np.mean([wrong(order, d, n, rng) for _ in range(5 * repeats)]), 1e-5) for n in tried]
        line = np.polyfit(np.log(rates), np.log(tried), 1)
        found.append(np.polyval(line, np.log(0.01)))
    return np.polyfit(np.log(SIZES[order]), found, 1)[0]


def measured(orders, repeats, seed):
    """Slopes of three energies, and the percentage of wrong bits among 1000 patterns of 40 units with the fourth."""
    rng = np.random.default_rng(seed)
    *powers, last = orders
    return [*(slope(k, repeats, rng) for k in powers), 100 * wrong(last, 40, 1000, rng)]


observed = partial(measured, orders=(2, 3, 4, 0))  # Orders two, three and four, and the exponential.
control = partial(measured, orders=(2, 2, 2, 2))  # Second order throughout, the classical network.

CLAIM = Claim(
    id="dense-associative-memory",
    title="A memory of order k holds of the order of d^(k - 1) patterns, an exponential one far more",
    equation=r"n_c \propto d^{k-1}",
    source=Source("theorem", "krotov2016dense"),
    premises=(Premise("the energy is of order k"),),
    parameters={"repeats": 5},
    full={"repeats": 30},
    judge=equals(within=0.3, because="relative corrections 1.6 / d and 9 / n to a Gaussian tail, and sampling"),
    remark="Without the clipping of negative overlaps, which changes the constant and not the power.",
)
