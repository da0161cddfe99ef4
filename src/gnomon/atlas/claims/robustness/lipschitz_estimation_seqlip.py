"""The exact constant of a two-layer relu network is at most a bound over pairs, which is at most the product.

The constant is the largest |B D A| over diagonals D of zeros and ones, 2^m of them. Between it and |B| |A| lies

    |B D A| <= (|B A| + |B| |A|) / 2                                                                          (1)

because D = (I + S) / 2 with |S| <= 1.
Reference: [virmaux2018lipschitz] for the problem and its hardness; (1) is derived here.
"""

import itertools
from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(m, repeats, seed):
    """Two layers for each repetition."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(repeats, m, 4)), rng.normal(size=(repeats, 3, m))


def predicted(m, repeats, seed):
    """The right side of (1), beside the product."""
    a, b = problem(m, repeats, seed)
    size = [np.linalg.svd(x, compute_uv=False)[:, 0] for x in (b @ a, a, b)]
    return np.r_[(size[0] + size[1] * size[2]) / 2, size[1] * size[2]]


def largest(values, m, repeats, seed):
    """The largest norm over all patterns of slopes, twice: against either bound."""
    a, b = problem(m, repeats, seed)
    found = [max(np.linalg.norm(bi * np.array(p) @ ai, 2) for p in itertools.product(values, repeat=m))
             for ai, bi in zip(a, b, strict=True)]  # fmt: skip
    return np.r_[found, found]


observed = partial(largest, values=(0.0, 1.0))  # Relu.
control = partial(largest, values=(0.0, 2.0))  # Slopes up to 2.

CLAIM = Claim(
    id="lipschitz-estimation-seqlip",
    title="Pairs of layers give a Lipschitz bound between the exact constant and the product of norms",
    equation=r"\max_D \|B D A\| \le \tfrac12 (\|BA\| + \|B\| \|A\|) \le \|B\| \|A\|",
    source=Source("derived", "virmaux2018lipschitz"),
    premises=(Premise("slopes of the activation are between 0 and 1"),),
    parameters={"m": 6, "repeats": 20},
    full={"m": 10, "repeats": 100},
    judge=bounded_by("above", tight=0.8),
)
