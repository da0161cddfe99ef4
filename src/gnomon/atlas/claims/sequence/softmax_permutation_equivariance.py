"""Permuting numbers before or after the softmax gives the same result (permutation equivariance).

    softmax(P z) = P softmax(z)                                                                               (1)

z are numbers and P is a permutation. Reference: [vaswani2017attention].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(size, seed):
    """Returns random numbers and a random permutation of them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=size), rng.permutation(size)


def predicted(size, seed):
    """Returns the softmax of the numbers, permuted afterwards."""
    z, order = problem(size, seed)
    return torch.softmax(torch.from_numpy(z), 0).numpy()[order]


def softmax_of_permuted(tilt, size, seed):
    """Returns the softmax of the permuted numbers; ``tilt`` favors later entries."""
    z, order = problem(size, seed)
    e = np.exp(z[order] + tilt * np.arange(size))
    return e / e.sum()


observed = partial(softmax_of_permuted, tilt=0.0)  # All entries equal.
control = partial(softmax_of_permuted, tilt=0.05)  # Control: a position-dependent term favors later entries.

CLAIM = Claim(
    id="softmax-permutation-equivariance",
    question="Why is attention permutation equivariant?",
    equation=r"\mathrm{softmax}(P z) = P\, \mathrm{softmax}(z)",
    axes=("entry", "softmax"),
    source=Source("derived"),
    premises=(Premise("all entries are treated equally"),),
    parameters={"size": 50},
    judge=equals(rounding=1e3),
)
