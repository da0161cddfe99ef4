"""Pairs of a sine and a cosine of one frequency turn by a fixed rotation when time moves on.

    p(t + s) = R_s p(t),    p(t).p(t') depends on t - t' alone                                                (1)

It is sometimes printed with another frequency for every channel, where this fails.
Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times, channels):
    """Products by lag: the sum of the cosines of (1)."""
    rates = 10000.0 ** (-2 * np.arange(channels // 2) / channels)
    lags = np.arange(times)[:, None] - np.arange(times)
    return np.cos(lags[:, :, None] * rates).sum(2)


def products(paired, times, channels):
    """Of a table of sines and cosines."""
    k = np.arange(channels)
    rates = 10000.0 ** (-(2 * (k // 2) if paired else k) / channels)
    angles = np.arange(times)[:, None] * rates
    table = np.where(k % 2 == 0, np.sin(angles), np.cos(angles))
    return table @ table.T


observed = partial(products, paired=True)  # Pairs of one frequency.
control = partial(products, paired=False)  # A frequency for every channel.

CLAIM = Claim(
    id="positional-encoding-sinusoidal",
    title="Sinusoidal positions turn by the same rotation at every step",
    equation=r"p(t)\cdot p(t') = \sum_k \cos(\omega_k (t - t'))",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("sine and cosine come in pairs of one frequency"),),
    parameters={"times": 12, "channels": 8},
    judge=equals(within=1e-10, because="sums of cosines"),
)
