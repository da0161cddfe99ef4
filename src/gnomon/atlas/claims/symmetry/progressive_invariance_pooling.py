"""Each stage of average pooling makes features less sensitive to a shift of the input by one sample.

Means over 2^J samples of white noise have variance 2^-J; means of the shifted signal differ by the samples at the ends:

    |P^J x_1 - P^J x| / |P^J x| = sqrt(2) 2^(-J/2)                                                                  (1)

x is the signal, x_1 the shifted signal, P^J pooling over J stages. Reference: [mallat2016understanding].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def changes(pool, stages, n, repetitions, seed):
    """Returns the features' measured relative change under a shift by one sample, after each number of stages."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repetitions):
        x = rng.normal(size=n)
        y = np.roll(x, 1)
        row = []
        for j in stages:
            a, b = (pool(z.reshape(-1, 2**j)) for z in (x, y))
            row.append(np.linalg.norm(a - b) / np.linalg.norm(a))
        rows.append(row)
    return rows


def predicted(stages):
    """Returns the relative change after a shift by one sample, for each number of stages."""
    return 2.0 ** ((1 - np.array(stages)) / 2)


observed = partial(changes, pool=lambda z: z.mean(1))  # Pooling takes means.
control = partial(changes, pool=lambda z: z[:, 0])  # Control: pooling keeps one sample instead of averaging.

CLAIM = Claim(
    id="progressive-invariance-pooling",
    question="How does pooling build up invariance?",
    equation=r"\|P^J L x - P^J x\| / \|P^J x\| = \sqrt{2}\, 2^{-J/2}",
    axes=("number of pooling stages J", "relative change under a shift by one", "stages"),
    source=Source("derived", "mallat2016understanding"),
    premises=(Premise("pooling takes means"), Premise("the signal is white noise")),
    parameters={"stages": (1, 2, 3, 4, 5), "n": 4096, "repetitions": 30},
    judge=mean_equals(confidence=0.999, within=0.01, because="the bias of a mean of ratios of norms of 128 numbers"),
)
