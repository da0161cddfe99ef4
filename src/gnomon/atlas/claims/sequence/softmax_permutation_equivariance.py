"""Softmax commutes with every permutation, the reason why attention does.

    softmax(P z) = P softmax(z)                                                                               (1)

Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(size, seed):
    """Numbers and a permutation."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=size), rng.permutation(size)


def predicted(size, seed):
    """Permuted afterwards."""
    z, order = problem(size, seed)
    return torch.softmax(torch.from_numpy(z), 0).numpy()[order]


def permuted_before(tilt, size, seed):
    """Permuted before; ``tilt`` favors later places."""
    z, order = problem(size, seed)
    e = np.exp(z[order] + tilt * np.arange(size))
    return e / e.sum()


observed = partial(permuted_before, tilt=0.0)  # All places alike.
control = partial(permuted_before, tilt=0.05)  # Later places favored.

CLAIM = Claim(
    id="softmax-permutation-equivariance",
    title="Softmax of permuted numbers is the permuted softmax",
    equation=r"\mathrm{softmax}(P z) = P\, \mathrm{softmax}(z)",
    source=Source("derived"),
    premises=(Premise("all entries are treated alike"),),
    parameters={"size": 50},
    judge=equals(rounding=1e3),
)
