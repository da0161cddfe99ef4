"""Random shifts add |m|^2 - |A m|^2 to the variance of images with mean m; A m is the mean over all shifts of m.

Images x of a class have mean m and variance V. They are shifted circularly by a uniform g that does not depend on x.
Norms stay, and the mean becomes A m, the average of m over all shifts. So the variance of the shifted images is

    V' = V + |m|^2 - |A m|^2                                                                             (1)

and (|m|^2 - |A m|^2) / V' is the share of the shift. The rest is what differs between the images themselves.
"""

from functools import partial

import numpy as np
import torch

from gnomon import data
from gnomon.lab import Claim, Premise, Source, mean_equals


def inputs(seed):
    """Returns the digit images of five classes, at least 100 of each."""
    split = data.digits(1200, 0, seed=seed)
    return [split.x[split.y == c, 0].double().numpy() for c in range(5)]


def predicted(seed):
    """Returns the variance added by shifts and the total variance, for each class."""
    parts = []
    for x in inputs(seed):
        mean = x.mean(0)
        shift = (mean**2).sum() - 64 * mean.mean() ** 2
        parts.append([shift, x.var(0).sum() + shift])
    return np.transpose(parts)


def variances(n, repetitions, seed, reach):
    """Returns the measured variance that shifts add and the total variance, for each class and repetition."""
    rng, rows = np.random.default_rng(seed), []
    images = inputs(seed)
    place = np.arange(8)
    for _ in range(repetitions):
        row = []
        for x in images:
            drawn = x[rng.integers(len(x), size=n)]
            v, u = rng.integers(reach, size=(2, n, 1))
            moved = drawn[np.arange(n)[:, None, None], ((place + v) % 8)[:, :, None], ((place + u) % 8)[:, None, :]]
            both = [torch.from_numpy(z).flatten(1).var(0).sum() for z in (moved, drawn)]
            row.append([both[0] - both[1], both[0]])
        rows.append(np.transpose(row))
    return np.array(rows)


observed = partial(variances, reach=8)  # All 64 shifts.
control = partial(variances, reach=2)  # Control: images are shifted by 0 or 1 pixel only, not by all 64 shifts.

CLAIM = Claim(
    id="image-variability-taxonomy",
    question="How much of the variance within a class of images comes from shifts?",
    equation=r"V' = V + |m|^2 - |A m|^2",
    axes=("digit class (part of the shift, then total variance)", "variance"),
    source=Source("derived"),
    premises=(Premise("all shifts are equally likely"), Premise("shifts do not depend on the image")),
    parameters={"n": 100, "repetitions": 30},
    full={"n": 400, "repetitions": 200},
    judge=mean_equals(confidence=0.9999, resolution=0.05),
)
