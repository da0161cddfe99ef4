"""Filters that are learned from images with edges are Gabor functions; those of Gaussian images are not.

    w(u) ~ A e^{-(u - c)^T D (u - c)} cos(xi . (u - c) + p),    median R^2 >= 0.7                             (1)

A convolution learns, without labels, outputs that are as independent as possible, from patches of images in which
disks of all sizes hide one another. Gaussian images of the same power spectrum have nothing but that spectrum.

Reference: [olshausen1996emergence]; [bell1997independent] for independent outputs.
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.scattering import gabor_fit

EDGES = "images have edges, which their power spectrum does not tell"


def predicted():
    """Equation (1), with its sign turned."""
    return -0.7


def dead_leaves(side, disks, rng):
    """An image of disks that hide one another, with radii r of density r^-3: edges of all sizes."""
    image, at = np.zeros((side, side)), np.arange(side)
    for _ in range(disks):
        r = 2.0 / np.sqrt(rng.uniform((2.0 / side) ** 2, 1.0))
        center, gray = rng.uniform(0, side, 2), rng.normal()
        rows, columns = (at[max(0, int(c - r)) : int(c + r) + 2] for c in center)
        inside = (rows[:, None] - center[0]) ** 2 + (columns - center[1]) ** 2 < r * r
        part = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) and len(columns) else None
        if part is not None:
            part[inside] = gray
    return image


def gaussian(image, rng):
    """A Gaussian image of the same power spectrum."""
    noise = np.fft.fft2(rng.normal(size=image.shape))
    return np.fft.ifft2(np.abs(np.fft.fft2(image)) * noise / np.abs(noise)).real


def learned(image, size, filters, patches, rng):
    """A convolution whose outputs are as independent as fixed-point iterations make them."""
    corners = rng.integers(0, len(image) - size, (patches, 2))
    x = np.stack([image[a : a + size, b : b + size].ravel() for a, b in corners])
    x = x - x.mean()
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    white = vectors[:, -filters:] / np.sqrt(values[-filters:])
    z, w = x @ white, np.linalg.qr(rng.normal(size=(filters, filters)))[0]
    for _ in range(80):
        g = np.tanh(z @ w.T)
        w = g.T @ z / len(z) - (1 - g * g).mean(0)[:, None] * w
        u, _, v = np.linalg.svd(w)
        w = u @ v
    layer = nn.Conv2d(1, filters, size, bias=False)
    layer.weight.data = torch.from_numpy((w @ white.T).reshape(-1, 1, size, size)).float()
    return layer


def medians(size, filters, patches, repetitions, seed, change):
    """Minus the median R^2 of the filters of several images."""
    found = []
    for k in range(repetitions):
        rng = np.random.default_rng([seed, k])
        image = change(dead_leaves(256, 6000, rng), rng)
        found.append(-float(gabor_fit(learned(image, size, filters, patches, rng)).explained.median()))
    return found


def observed(size, filters, patches, repetitions, seed):
    """Images of disks."""
    return medians(size, filters, patches, repetitions, seed, lambda image, rng: image)


def control(size, filters, patches, repetitions, seed):
    """Gaussian images of their power spectrum."""
    return medians(size, filters, patches, repetitions, seed, gaussian)


CLAIM = Claim(
    id="first-layer-gabor-fit",
    title="Filters learned from images with edges are Gabor functions",
    equation=r"w(u) \approx A e^{-(u - c)^T D (u - c)} \cos(\xi \cdot (u - c) + p)",
    source=Source("observed", "olshausen1996emergence", "Figure 4"),
    premises=(Premise(EDGES),),
    breaks=EDGES,
    parameters={"size": 10, "filters": 24, "patches": 6000, "repetitions": 4},
    full={"size": 12, "filters": 64, "patches": 20000, "repetitions": 5},
    judge=at_most(confidence=0.99),
    remark="The layer learns without labels. First layers of classifiers of photographs are not measured here.",
)
