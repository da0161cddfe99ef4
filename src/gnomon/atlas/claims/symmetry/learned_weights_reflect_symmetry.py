"""Filters trained on data that contain mirror images are nearly mirror symmetric.

    |flip(w) - w| / |w|   with mirror images in the data is less than a tenth of the value without them        (1)

w is a filter of a linear classifier of digits. Reference: [chen2020group].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def asymmetry(copy, steps, seed):
    """Returns the mean asymmetry |flip(w) - w| / |w| of the ten filters of a linear digit classifier."""
    from gnomon.data import digits

    split = digits(600, 10, seed=seed)
    x, y = split.x.double().numpy().reshape(600, 8, 8), split.y.numpy()
    x = x - x.mean(0)
    if copy is not None:
        x, y = np.concatenate([x, copy(x)]), np.tile(y, 2)
    x = x.reshape(len(x), -1)
    x = x / np.linalg.norm(x, axis=1).mean()
    w = 0.01 * np.random.default_rng(seed).normal(size=(64, 10))
    for _ in range(steps):
        p = np.exp(x @ w)
        p /= p.sum(1, keepdims=True)
        p[np.arange(len(y)), y] -= 1
        w -= 2.0 * x.T @ p / len(x)
    f = w.T.reshape(10, 8, 8)
    return float((np.linalg.norm(f - f[:, :, ::-1], axis=(1, 2)) / np.linalg.norm(f, axis=(1, 2))).mean())


def predicted():
    """Returns the names of both trainings, the one with the smaller asymmetry first."""
    return ("ten times with", "without")


def asymmetries(copy, steps, repetitions, seed):
    """Returns ten times the asymmetry with copies in the data, and the asymmetry without them."""
    seeds = range(seed, seed + repetitions)
    kinds = zip(predicted(), (10, 1), (copy, None), strict=True)
    return {name: [times * asymmetry(made, steps, s) for s in seeds] for name, times, made in kinds}


observed = partial(asymmetries, copy=lambda x: x[:, :, ::-1])  # The data contain the mirror image of every example.
control = partial(asymmetries, copy=lambda x: x[:, ::-1])  # Control: the data contain upside-down copies of examples.

CLAIM = Claim(
    id="learned-weights-reflect-symmetry",
    question="Do learned filters reflect the symmetry of the data?",
    equation=r"10 \, \|Fw - w\| / \|w\| < \|Fv - v\| / \|v\|",
    axes=("training data", "asymmetry of the filters"),
    source=Source("observed", "chen2020group"),
    premises=(Premise("the data contain the mirror image of each example"),),
    parameters={"steps": 25, "repetitions": 3},
    full={"steps": 500, "repetitions": 6},
    judge=in_order(confidence=0.99),
)
