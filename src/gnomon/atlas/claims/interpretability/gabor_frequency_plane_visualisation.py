"""The Gabor functions of learned filters cover the waves that they are tuned to, in all directions; random ones do not.

    min S / max S >= 0.01 over the band,    S(w) = sum_k |psi_k^(w)|^2 + |psi_k^(-w)|^2,    |psi_k| = 1          (1)

The filters are learned without labels from images with edges; the band is that of the middle 80 % of their frequencies.

Reference: [olshausen1996emergence].
"""

import numpy as np
import torch
from torch import nn

from gnomon.atlas.claims.signal_scattering.first_layer_gabor_fit import dead_leaves, learned
from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.scattering import frequency_cover, gabor_fit


def predicted():
    """Equation (1) in decades, with its sign turned."""
    return 2.0


def holes(layer):
    """Decades between the best and the least seen wave of the band."""
    return -float(np.log10(max(frequency_cover(gabor_fit(layer)).coverage, 1e-300)))


def observed(size, filters, patches, repetitions, seed):
    """Filters learned from disks that hide one another."""
    draws = [np.random.default_rng([seed, k]) for k in range(repetitions)]
    return [holes(learned(dead_leaves(256, 6000, rng), size, filters, patches, rng)) for rng in draws]


def control(size, filters, patches, repetitions, seed):
    """As many filters of a fresh layer."""
    found = []
    for k in range(repetitions):
        torch.manual_seed(1000 * seed + k)
        found.append(holes(nn.Conv2d(1, filters, size, bias=False)))
    return found


CLAIM = Claim(
    id="gabor-frequency-plane-visualisation",
    title="Gabor functions of learned filters cover the plane of frequencies like a dictionary of wavelets",
    equation=r"\min_w S / \max_w S \ge 0.01, \quad S(w) = \sum_k |\hat\psi_k(w)|^2 + |\hat\psi_k(-w)|^2",
    source=Source("observed", "olshausen1996emergence", "Figure 4"),
    premises=(
        Premise("the filters are learned from images"),
        Premise("images have edges"),
    ),
    parameters={"size": 10, "filters": 24, "patches": 6000, "repetitions": 6},
    full={"size": 10, "filters": 24, "patches": 20000, "repetitions": 12},
    judge=at_most(confidence=0.99),
    remark="The band is narrow: whitened patches are told apart by the highest frequencies that are kept of them.",
    loose_because="two decades are what counts as a hole; learned filters differ by about one.",
)
