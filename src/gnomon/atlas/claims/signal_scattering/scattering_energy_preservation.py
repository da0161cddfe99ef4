"""Scattering coefficients up to order 2 keep at least 90 % of the energy of noise, and never more than 100 %.

    (9/10) |x|^2 <= sum_{orders 0..2} |S_m x|^2 <= |x|^2,                                                 (1)

S_m x are the coefficients of order m of the signal x. The right side holds for any number of orders.
Reference: [mallat2012group], Theorem 2.6; [bruna2013invariant], Section 2.3.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.scattering import WaveletTransform


def inputs(size, signals, seed):
    """Returns signals of white noise, and of noise with a falling spectrum."""
    x = np.random.default_rng(seed).normal(size=(signals, size))
    x[::2] = np.fft.irfft(np.fft.rfft(x[::2]) / (1 + np.arange(size // 2 + 1)) ** 0.5, size)
    return x


def predicted(size, signals, seed):
    """Returns each signal's energy, the bound on kept energy, then a tenth of it, the bound on lost energy."""
    whole = (inputs(size, signals, seed) ** 2).sum(1)
    return np.concatenate([whole, whole / 10])


def energies(size, signals, seed, orders):
    """Returns the energy of each signal's scattering coefficients up to ``orders``, then the lost energy."""
    transform = WaveletTransform(size.bit_length() - 4, size)
    fields, found = torch.from_numpy(inputs(size, signals, seed))[:, None], 0
    missing = fields.square().sum((1, 2))
    for _ in range(orders + 1):
        through = transform(fields)
        found = found + through[:, :, 0].abs().square().sum((1, 2))
        fields = through[:, :, 1:].abs().flatten(1, 2)
    return torch.cat((found, missing - found))


observed = partial(energies, orders=2)  # The energy is summed over the scattering orders 0, 1 and 2.
control = partial(energies, orders=1)  # Control: the energy is summed over the scattering orders 0 and 1 only.

CLAIM = Claim(
    id="scattering-energy-preservation",
    question="How much of a signal's energy do two orders of scattering keep?",
    equation=r"\tfrac{9}{10} \|x\|^2 \le \sum_{m \le 2} \|S_m x\|^2 \le \|x\|^2",
    axes=("signal (kept, then missing energy)", "energy"),
    source=Source("theorem", "mallat2012group", "Theorem 2.6"),
    premises=(Premise("both orders are counted"),),
    parameters={"size": 256, "signals": 8},
    full={"size": 1024, "signals": 40},
    judge=bounded_by(),
)
