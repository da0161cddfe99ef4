"""Inner products of sinusoidal position encodings depend only on the distance between the positions.

    p(t + s) = R_s p(t),    p(t).p(t') depends on t - t' alone                                                (1)

p(t) is the encoding of position t: pairs of a sine and a cosine of one frequency, which R_s rotates by s steps. Some
texts print another frequency for every channel, for which this fails. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(times, channels):
    """Returns the inner product of each pair of positions as a sum of cosines of their distance."""
    rates = 10000.0 ** (-2 * np.arange(channels // 2) / channels)
    lags = np.arange(times)[:, None] - np.arange(times)
    return np.cos(lags[:, :, None] * rates).sum(2)


def products(paired, times, channels):
    """Returns the inner products of a table of sines and cosines; ``paired`` gives each pair one frequency."""
    k = np.arange(channels)
    rates = 10000.0 ** (-(2 * (k // 2) if paired else k) / channels)
    angles = np.arange(times)[:, None] * rates
    table = np.where(k % 2 == 0, np.sin(angles), np.cos(angles))
    return table @ table.T


observed = partial(products, paired=True)  # Each sine shares its frequency with one cosine.
control = partial(products, paired=False)  # Control: every channel has a frequency of its own.

CLAIM = Claim(
    id="positional-encoding-sinusoidal",
    question="Why use sines and cosines for positions?",
    equation=r"p(t)\cdot p(t') = \sum_k \cos(\omega_k (t - t'))",
    axes=("pair of positions", "inner product of the encodings"),
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("sine and cosine come in pairs of one frequency", lambda channels: channels % 2 == 0),),
    parameters={"times": 12, "channels": 8},
    grid={"times": (3, 6, 12, 18, 36), "channels": (4, 6, 7, 8, 12, 16)},
    judge=equals(within=1e-10, because="sums of cosines"),
)
