"""A ReLU network with two weight matrices A, B has a Lipschitz constant of at most (|B A| + |B| |A|) / 2.

A and B are the weights. The constant is at most the largest |B D A| over the 2^m diagonal matrices D of zeros and ones,
with m hidden units, and

    |B D A| <= (|B A| + |B| |A|) / 2                                                                          (1)

because D = (I + S) / 2 with |S| <= 1.
Reference: [virmaux2018lipschitz] for the problem and its hardness; (1) is derived here.
"""

import itertools
from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(m, repeats, seed):
    """Returns random weights of two layers for each repetition."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(repeats, m, 4)), rng.normal(size=(repeats, 3, m))


def predicted(m, repeats, seed):
    """Returns the bound (|B A| + |B| |A|) / 2, then the simpler bound |B| |A|, for each repetition."""
    a, b = problem(m, repeats, seed)
    size = [np.linalg.svd(x, compute_uv=False)[:, 0] for x in (b @ a, a, b)]
    return np.r_[(size[0] + size[1] * size[2]) / 2, size[1] * size[2]]


def largest_norms(values, m, repeats, seed):
    """Returns the largest norm |B D A| over all activation patterns D, once for each bound."""
    a, b = problem(m, repeats, seed)
    found = [max(np.linalg.norm(bi * np.array(p) @ ai, 2) for p in itertools.product(values, repeat=m))
             for ai, bi in zip(a, b, strict=True)]  # fmt: skip
    return np.r_[found, found]


observed = partial(largest_norms, values=(0.0, 1.0))  # ReLU.
control = partial(largest_norms, values=(0.0, 2.0))  # Control: the activation has slopes up to 2 instead of 1.

CLAIM = Claim(
    id="lipschitz-estimation-seqlip",
    question="How much better than the product of norms is a Lipschitz bound over pairs of layers?",
    equation=r"\max_D \|B D A\| \le \tfrac12 (\|BA\| + \|B\| \|A\|) \le \|B\| \|A\|",
    axes=("network (pair bound, then product)", "Lipschitz constant"),
    source=Source("derived", "virmaux2018lipschitz"),
    premises=(Premise("slopes of the activation are between 0 and 1"),),
    parameters={"m": 6, "repeats": 20},
    full={"m": 10, "repeats": 100},
    judge=bounded_by("above", tight=0.8),
)
