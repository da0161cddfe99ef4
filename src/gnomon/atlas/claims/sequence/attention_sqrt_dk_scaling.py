"""The product of two independent standard normal vectors has variance d, so over sqrt(d) it has variance one.

    Var(q.k / sqrt(d)) = 1                                                                                    (1)

Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted():
    """Equation (1)."""
    return 1.0


def variances(power, size, pairs, repeats, seed):
    """Of products over size^power."""
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, repeats, pairs, size))
    return ((q * k).sum(2) / size**power).var(1, ddof=1)


observed = partial(variances, power=0.5)  # Over the root.
control = partial(variances, power=0.0)  # As they are.

CLAIM = Claim(
    id="attention-sqrt-dk-scaling",
    title="Products of queries and keys over sqrt(d) have variance one",
    equation=r"\mathrm{Var}(q \cdot k / \sqrt{d}) = 1",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("products are divided by the root of the size"),),
    parameters={"size": 64, "pairs": 1000, "repeats": 40},
    judge=mean_equals(resolution=0.05),
)
