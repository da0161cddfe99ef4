"""A neuron that only adds and subtracts its inputs computes few Boolean functions, and never XOR.

f(x) = 1{<s, x> >= theta} with x in {0, 1}^n and s in {-1, +1}^n. Flipping the inputs with s_i = -1 turns f into "at
least k inputs are on": k = 1 ... n gives n functions for each of the 2^n choices of s, all different. With constants,

    n 2^n + 2 functions                                                                                  (1)

Two layers of such neurons compute XOR = (x1 or x2) and not (x1 and x2).
Reference: [mcculloch1943logical].
"""

from functools import partial
from itertools import product

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(largest):
    """Equation (1) for n = 1, 2, ...; then XOR by one neuron: no; by two layers: yes."""
    return [n * 2**n + 2 for n in range(1, largest + 1)] + [0, 1]


def functions(n, strengths):
    """Truth tables of all neurons with n inputs, as tuples."""
    x = np.array(list(product((0, 1), repeat=n)))
    thresholds = np.arange(-n * max(strengths), n * max(strengths) + 2) - 0.5
    return {tuple(x @ s >= t) for s in product(strengths, repeat=n) for t in thresholds}


def counts(largest, strengths):
    """The number of functions for each n, whether XOR is among those of two inputs, and among those of two layers."""
    two, xor = functions(2, strengths), (False, True, True, False)
    rows = [tuple(2 * a + b for a, b in zip(f, g, strict=True)) for f in two for g in two]
    layered = {tuple(h[i] for i in row) for row in rows for h in two}
    return [len(functions(n, strengths)) for n in range(1, largest + 1)] + [xor in two, xor in layered]


observed = partial(counts, strengths=(-1, 1))  # All neurons with half-integer thresholds, listed.
control = partial(counts, strengths=(-1, 0, 1))  # Synapses may also be absent.

CLAIM = Claim(
    id="mcculloch-pitts-neuron",
    title="A neuron with synapses +1 and -1 computes n 2^n + 2 Boolean functions, and XOR takes two layers",
    equation=r"|\{x \mapsto 1\{s^T x \ge \theta\}\}| = n 2^n + 2",
    source=Source("derived", "mcculloch1943logical"),
    premises=(Premise("every synapse is +1 or -1"),),
    parameters={"largest": 4},
    full={"largest": 6},
    judge=equals(rounding=0),
    remark="A projection such as f(x) = x1 needs an absent synapse: it is not among the ten functions of two inputs.",
)
