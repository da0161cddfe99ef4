"""Scattering over positions and angles classifies rotated textures better than the power spectrum does.

    accuracy(power spectrum) < accuracy(roto-translation scattering)                                          (1)

Two classes of two gratings, at a relative angle of 90 or 30 degrees, with random phases and random rotations.
Reference: [sifre2013rotation].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, in_order
from gnomon.scattering import roto_translation_scattering


def predicted():
    """Returns the names of the features, the one with the lower accuracy first."""
    return ("spectrum", "scattering")


def textures(count, rng, oriented):
    """Returns images of two gratings and labels; if ``oriented``, classes differ only in the absolute angle."""
    u, v = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    labels, images = rng.integers(0, 2, count), np.zeros((count, 16, 16))
    for i, label in enumerate(labels):
        start = (label + 0.5 * rng.random()) * np.pi / 2 if oriented else rng.random() * np.pi
        between = np.pi / 2 if label and not oriented else np.pi / 6
        for angle in (start, start + between):
            images[i] += np.cos(1.6 * (u * np.cos(angle) + v * np.sin(angle)) + 2 * np.pi * rng.random())
    return torch.from_numpy(images + 0.1 * rng.normal(size=images.shape)), torch.from_numpy(2.0 * labels - 1)


def accuracy(f, y, train):
    """Returns the accuracy of ridge regression on the rows after the first ``train`` rows."""
    f = (f - f[:train].mean(0)) / (f[:train].std(0) + 1e-9)
    weights = torch.linalg.solve(f[:train] @ f[:train].mT + 0.1 * f.shape[1] * torch.eye(train), y[:train])
    return float(((f[train:] @ (f[:train].mT @ weights)).sign() == y[train:]).double().mean())


def accuracies(train, repetitions, seed, oriented):
    """Returns the accuracies with the power spectrum and with scattering features, for several draws."""
    found = {"spectrum": [], "scattering": []}
    for k in range(repetitions):
        x, y = textures(2 * train, np.random.default_rng([seed, k]), oriented)
        found["spectrum"].append(accuracy(torch.fft.fft2(x).abs().flatten(1), y, train))
        found["scattering"].append(accuracy(roto_translation_scattering(x, J=2, L=4), y, train))
    return found


observed = partial(accuracies, oriented=False)  # The classes differ in the angle between two gratings.
control = partial(accuracies, oriented=True)  # Control: the classes differ in the absolute angle, which is ignored.

CLAIM = Claim(
    id="scattering-classification-textures",
    question="Which features classify rotated textures?",
    equation=r"\mathrm{acc}_{|\hat x|} < \mathrm{acc}_{roto}",
    axes=("features", "accuracy"),
    source=Source("observed", "sifre2013rotation"),
    premises=(Premise("classes do not differ by a rotation"),),
    parameters={"train": 12, "repetitions": 6},
    full={"train": 40, "repetitions": 10},
    judge=in_order(confidence=0.95),
)
