"""Filters learned from images cover all frequencies of a band to a factor 100 of the best one; random filters do not.

    min S / max S >= 0.01 over the band,    S(w) = sum_k |psi_k^(w)|^2 + |psi_k^(-w)|^2,    |psi_k| = 1          (1)

psi_k^ is the spectrum of filter k, w a frequency. The filters are learned without labels from images with edges. The
band contains the middle 80 % of their frequencies. Reference: [olshausen1996emergence].
"""

import numpy as np
import torch
from torch import nn

from gnomon.atlas.claims.signal_scattering.first_layer_gabor_fit import dead_leaves, learn_filters
from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.scattering import frequency_coverage, gabor_fit


def predicted():
    """Returns 2: the best covered frequency has at most 10^2 times the response of the worst covered one."""
    return 2.0


def holes(layer):
    """Returns log10 of the ratio between the best and the worst covered frequency of the band."""
    return -float(np.log10(max(frequency_coverage(gabor_fit(layer)).coverage, 1e-300)))


def observed(size, filters, patches, repetitions, seed):
    """Returns log10 of best over worst coverage for filters learned from images of overlapping disks."""
    draws = [np.random.default_rng([seed, k]) for k in range(repetitions)]
    return [holes(learn_filters(dead_leaves(256, 6000, rng), size, filters, patches, rng)) for rng in draws]


def control(size, filters, patches, repetitions, seed):
    """Returns log10 of best over worst coverage for as many random filters of an untrained layer."""
    found = []
    for k in range(repetitions):
        torch.manual_seed(1000 * seed + k)
        found.append(holes(nn.Conv2d(1, filters, size, bias=False)))
    return found


CLAIM = Claim(
    id="gabor-frequency-plane-visualisation",
    question="Do learned filters cover all frequencies?",
    equation=r"\min_w S / \max_w S \ge 0.01, \quad S(w) = \sum_k |\hat\psi_k(w)|^2 + |\hat\psi_k(-w)|^2",
    axes=("repetition", "decades between best and worst covered frequency"),
    source=Source("observed", "olshausen1996emergence", "Figure 4"),
    premises=(Premise("the filters are learned from images"), Premise("images have edges")),
    parameters={"size": 10, "filters": 24, "patches": 6000, "repetitions": 6},
    full={"size": 10, "filters": 24, "patches": 20000, "repetitions": 12},
    judge=at_most(confidence=0.99),
    remark="The band is narrow: whitened patches are distinguished by the highest frequencies that are kept.",
    loose_because="two decades count as a hole; learned filters differ by about one.",
)
