"""Filters learned from images with edges are Gabor functions (waves in a window); from Gaussian images they are not.

    w(u) ~ A e^{-(u - c)^T D (u - c)} cos(xi . (u - c) + p),    median R^2 >= 0.7                             (1)

A is the amplitude, c the center, D the shape, xi the frequency and p the phase. A convolution learns, without labels,
outputs that are as independent as possible, from images in which disks of all sizes hide one another. Gaussian images
with the same power spectrum contain only that spectrum.
Reference: [olshausen1996emergence]; [bell1997independent] for independent outputs.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.scattering import gabor_fit


def predicted():
    """Returns -0.7, minus the smallest allowed median R^2 (explained variance) of the Gabor fits."""
    return -0.7


def dead_leaves(side, disks, rng):
    """Returns an image of disks that hide one another, with many small and few large disks."""
    # Disks stay small: a large disk could cover most of the image and leave too few edges to learn from.
    image, at = np.zeros((side, side)), np.arange(side)
    for _ in range(disks):
        r = 2.0 / np.sqrt(rng.uniform((8.0 / side) ** 2, 1.0))
        center, gray = rng.uniform(0, side, 2), rng.normal()
        rows, columns = (at[max(0, int(c - r)) : int(c + r) + 2] for c in center)
        inside = (rows[:, None] - center[0]) ** 2 + (columns - center[1]) ** 2 < r * r
        part = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) and len(columns) else None
        if part is not None:
            part[inside] = gray
    return image


def gaussian(image, rng):
    """Returns a Gaussian image with the same power spectrum as the given image."""
    noise = np.fft.fft2(rng.normal(size=image.shape))
    return np.fft.ifft2(np.abs(np.fft.fft2(image)) * noise / np.abs(noise)).real


def learn_filters(image, size, filters, patches, rng):
    """Returns a convolution whose outputs are as independent as possible (ICA), by fixed-point iterations."""
    rows, columns = rng.integers(0, len(image) - size, (2, patches))
    x = np.lib.stride_tricks.sliding_window_view(image, (size, size))[rows, columns].reshape(patches, -1)
    x = x - x.mean()
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    white = vectors[:, -filters:] / np.sqrt(values[-filters:])
    z, w = x @ white, np.linalg.qr(rng.normal(size=(filters, filters)))[0]
    for _ in range(80):
        g = np.tanh(z @ w.T)
        w = g.T @ z / len(z) - (1 - g * g).mean(0)[:, None] * w
        u, _, v = np.linalg.svd(w)
        w = u @ v
    return convolution(torch.from_numpy((w @ white.T).reshape(-1, 1, size, size)).float())


def convolution(weight):
    """Returns a convolutional layer with the given weights."""
    layer = nn.Conv2d(1, len(weight), weight.shape[2], bias=False)
    layer.weight.data = weight
    return layer


def medians(size, filters, patches, repetitions, seed, change):
    """Returns minus the median R^2 of Gabor fits to half of the filters, for several images."""
    half = filters // 2  # The filters are in random order, so any half of them is representative.
    found = []
    for k in range(repetitions):
        rng = np.random.default_rng([seed, k])
        layer = learn_filters(change(dead_leaves(192, 3400, rng), rng), size, filters, patches, rng)
        found.append(layer.weight.data[:half])
    return -gabor_fit(convolution(torch.cat(found))).explained.reshape(repetitions, half).median(1).values


observed = partial(medians, change=lambda image, rng: image)  # Images of disks.
control = partial(medians, change=gaussian)  # Control: Gaussian images with the same power spectrum, but no edges.

CLAIM = Claim(
    id="first-layer-gabor-fit",
    question="Why do first layers learn Gabor filters?",
    equation=r"w(u) \approx A e^{-(u - c)^T D (u - c)} \cos(\xi \cdot (u - c) + p)",
    axes=("image", "- median R^2 of Gabor fits"),
    source=Source("observed", "olshausen1996emergence", "Figure 4"),
    premises=(Premise("images have edges, which their power spectrum does not contain"),),
    parameters={"size": 10, "filters": 24, "patches": 8000, "repetitions": 6},
    full={"size": 12, "filters": 64, "patches": 20000, "repetitions": 8},
    judge=at_most(confidence=0.99),
    remark="The layer learns without labels. First layers of classifiers of photographs are not measured here.",
)
