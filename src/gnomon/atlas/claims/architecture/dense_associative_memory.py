"""An associative memory with energy of order k stores about d^(k - 1) patterns of d bits; exponential energy, far more.

    E(s) = -sum_t (x_t.s)^k,    n at one wrong bit in a hundred  =  d^(k-1) / (2.33^2 (2k-3)!!)               (1)

s is the state of d bits, x_t are the n stored patterns, and n is read off at one wrong bit in a hundred. Each bit sees
a signal of size d^(k-1) and n random terms of variance (2k-3)!! d^(k-1). Reference: [krotov2016dense].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

SIZES = {2: (96, 192, 384), 3: (24, 48, 96), 4: (24, 36, 54)}  # for each energy order k: the numbers of bits d tested
CHANGES = {  # energy change if a bit with overlap z flips: (z + 1)^k - (z - 1)^k, or, for key 0, proportional to e^z
    0: np.exp,
    2: lambda z: 4 * z,
    3: lambda z: 6 * z * z + 2,
    4: lambda z: 8 * z * (z * z + 1),
}
ROOM = {2: 1.0, 3: 3.0, 4: 15.0}  # (2k - 3)!!


def predicted():
    """Returns the exponents of d in the number of storable patterns, k - 1 for k = 2, 3, 4; then 0 % wrong bits."""
    return [1.0, 2.0, 3.0, 0.0]


def share_of_wrong_bits(order, units, patterns, rng):
    """Returns the share of bits of stored patterns that one update flips wrongly; order 0 means exponential energy."""
    x = rng.choice([-1.0, 1.0], size=(patterns, units))
    rest = x[:8] @ x.T
    field = np.zeros((8, units))
    for t in range(8):  # The share of unstable bits is estimated from 8 stored patterns, which are enough.
        overlap = rest[t][:, None] - x * x[t]  # overlap of each pattern with the state if bit i is left out of both
        change = CHANGES[order](overlap)
        field[t] = (x * change).sum(0)
    return float((field * x[:8] < 0).mean())


def slope(order, repeats, rng):
    """Returns the measured exponent of the bits d in the number of patterns that can be stored with 1 % wrong bits."""
    loads, found = np.array([0.6, 0.85, 1.2, 1.7]), []
    for d in SIZES[order]:
        top = d ** (order - 1) / (2.326**2 * ROOM[order])
        tried = np.maximum((loads * top).astype(int), 9)
        rates = [max(np.mean([share_of_wrong_bits(order, d, n, rng) for _ in range(5 * repeats)]), 1e-5) for n in tried]
        line = np.polyfit(np.log(rates), np.log(tried), 1)
        found.append(np.polyval(line, np.log(0.01)))
    return np.polyfit(np.log(SIZES[order]), found, 1)[0]


def powers_and_wrong_bits(orders, repeats, seed):
    """Returns the measured exponents, then the percentage of wrong bits among 1000 patterns of 40 bits."""
    rng = np.random.default_rng(seed)
    *powers, last = orders
    return [*(slope(k, repeats, rng) for k in powers), 100 * share_of_wrong_bits(last, 40, 1000, rng)]


observed = partial(powers_and_wrong_bits, orders=(2, 3, 4, 0))  # Energies of order 2, 3 and 4, and exponential (0).
control = partial(powers_and_wrong_bits, orders=(2, 2, 2, 2))  # Control: classical Hopfield networks (order 2) only.

CLAIM = Claim(
    id="dense-associative-memory",
    question="How many patterns can an associative memory with a steeper energy store?",
    equation=r"n_c \propto d^{k-1}",
    axes=("energy (order 2, 3, 4, exponential)", "power of d in the capacity; wrong bits in percent"),
    source=Source("theorem", "krotov2016dense"),
    premises=(Premise("the energy has order k"),),
    parameters={"repeats": 5},
    full={"repeats": 30},
    judge=equals(within=0.3, because="relative corrections 1.6 / d and 9 / n to a Gaussian tail, and sampling"),
    remark="Negative overlaps are not clipped, which changes the constant but not the power.",
)
