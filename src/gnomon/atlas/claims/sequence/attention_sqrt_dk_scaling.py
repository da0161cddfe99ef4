"""The inner product of two standard normal vectors of size d has variance d; divided by sqrt(d) it has variance 1.

    Var(q.k / sqrt(d)) = 1                                                                                    (1)

q is a query and k a key. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted():
    """Returns 1, the variance of inner products divided by sqrt(d)."""
    return 1.0


def variances(power, size, pairs, repeats, seed):
    """Returns the variances of inner products divided by size^power, for each repetition."""
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, repeats, pairs, size))
    return ((q * k).sum(2) / size**power).var(1, ddof=1)


observed = partial(variances, power=0.5)  # Inner products are divided by the square root of the vectors' size d.
control = partial(variances, power=0.0)  # Not divided.

CLAIM = Claim(
    id="attention-sqrt-dk-scaling",
    question="Why are attention logits divided by the root of the key size?",
    equation=r"\mathrm{Var}(q \cdot k / \sqrt{d}) = 1",
    axes=("repetition", "variance of the scaled products"),
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("products are divided by the root of the size"),),
    parameters={"size": 64, "pairs": 1000, "repeats": 40},
    judge=mean_equals(resolution=0.05),
)
