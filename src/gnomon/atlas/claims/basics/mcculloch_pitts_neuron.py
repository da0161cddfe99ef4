"""A neuron whose n weights are +1 or -1 can compute n 2^n + 2 Boolean functions, but not XOR.

f(x) = 1{<s, x> >= theta} with inputs x in {0, 1}^n, weights s in {-1, +1}^n and threshold theta. Flipping the inputs
with s_i = -1 turns f into "at least k inputs are on". k = 1 ... n gives n functions for each of the 2^n choices of s,
all different. With the two constants,

    n 2^n + 2 functions                                                                                  (1)

Two layers of such neurons compute XOR = (x1 or x2) and not (x1 and x2). Reference: [mcculloch1943logical].
"""

from functools import partial
from itertools import product

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(largest):
    """Returns the number of functions for each n, then 0 (one neuron cannot compute XOR) and 1 (two layers can)."""
    return [n * 2**n + 2 for n in range(1, largest + 1)] + [0, 1]


def functions(n, strengths):
    """Returns the truth tables of all neurons with n inputs and weights from ``strengths``."""
    x = np.array(list(product((0, 1), repeat=n)))
    thresholds = np.arange(-n * max(strengths), n * max(strengths) + 2) - 0.5
    return {tuple(x @ s >= t) for s in product(strengths, repeat=n) for t in thresholds}


def counts(largest, strengths):
    """Returns the number of functions for each n, whether one neuron computes XOR, and whether two layers do."""
    two, xor = functions(2, strengths), (False, True, True, False)
    rows = [tuple(2 * a + b for a, b in zip(f, g, strict=True)) for f in two for g in two]
    layered = {tuple(h[i] for i in row) for row in rows for h in two}
    return [len(functions(n, strengths)) for n in range(1, largest + 1)] + [xor in two, xor in layered]


observed = partial(counts, strengths=(-1, 1))  # The test counts functions of weights -1 and 1 at all thresholds.
control = partial(counts, strengths=(-1, 0, 1))  # Control: a weight may also be 0, which gives more functions.

CLAIM = Claim(
    id="mcculloch-pitts-neuron",
    question="Which Boolean functions can a single neuron with weights +-1 compute?",
    equation=r"|\{x \mapsto 1\{s^T x \ge \theta\}\}| = n 2^n + 2",
    axes=("number of inputs n, then XOR by one neuron, XOR by two layers", "number of functions; 1 if possible"),
    source=Source("derived", "mcculloch1943logical"),
    premises=(Premise("every weight is +1 or -1"),),
    parameters={"largest": 4},
    full={"largest": 6},
    judge=equals(rounding=0),
    remark="A projection such as f(x) = x1 needs a weight 0, so it is not among the ten functions of two inputs.",
)
