"""Shift invariance that is built into a model is exact; invariance learned by augmentation is approximate.

    change under shifts:  design < augmentation < 3/4 of the change without either                            (1)

Other augmentation also smooths the function: noise, the control, removes a tenth of the change.
Reference: [chen2020group].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def quadratic_features(z):
    """Returns 1 and all products of two samples, for each signal."""
    return np.concatenate([np.ones((len(z), 1)), (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)], 1)


def fourier_magnitudes(z):
    """Returns the absolute values of the Fourier transform of each signal."""
    return np.abs(np.fft.rfft(z, axis=1))


def changes(copies, n, d, seed):
    """Returns the relative change of ridge regression outputs under shifts, for three kinds of features and data."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x[: n // 2] += 2 * np.cos(2 * np.pi * 2 * np.arange(d) / d + rng.uniform(0, 6, size=(n // 2, 1)))
    y = np.r_[np.ones(n // 2), -np.ones(n - n // 2)]
    more = np.concatenate([copies(x, rng) for _ in range(4)])
    tests = [np.roll(x, s, 1) for s in (1, d // 3, d // 2)]
    found = {}
    for name, features, data, labels in (
        ("design", fourier_magnitudes, x, y),
        ("augmentation", quadratic_features, more, np.tile(y, 4)),
        ("3/4 of nothing", quadratic_features, x, y),
    ):
        f = features(data)
        w = f.T @ np.linalg.solve(f @ f.T + len(f) * np.eye(len(f)), labels)
        base = features(x) @ w
        found[name] = float(np.mean([np.linalg.norm(features(t) @ w - base) / np.linalg.norm(base) for t in tests]))
    return found | {"3/4 of nothing": 0.75 * found["3/4 of nothing"]}


def predicted():
    """Returns the names of the sources of invariance, from the smallest change to the largest."""
    return ("design", "augmentation", "3/4 of nothing")


def changes_over_seeds(copies, n, d, repetitions, seed):
    """Returns the relative changes of outputs under shifts for all three sources, for several seeds."""
    rows = [changes(copies, n, d, s) for s in range(seed, seed + repetitions)]
    return {name: [row[name] for row in rows] for name in predicted()}


def observed(n, d, repetitions, seed):
    """Returns the changes with random shifts of the examples as augmentation."""

    def shifted(x, rng):
        places = np.arange(d) - rng.integers(0, d, size=(n, 1))
        return np.take_along_axis(x, places % d, 1)

    return changes_over_seeds(shifted, n, d, repetitions, seed)


control = partial(changes_over_seeds, copies=lambda x, rng: x + 0.3 * rng.normal(size=x.shape))  # Noise, not shifts.

CLAIM = Claim(
    id="invariance-by-design-vs-augmentation",
    question="Is invariance by design better than augmentation?",
    equation=r"\text{design} < \text{augmentation} < \tfrac34 \text{nothing}",
    axes=("source of invariance", "relative change under shifts"),
    source=Source("observed", "chen2020group"),
    premises=(Premise("augmentation moves examples as the test does"),),
    parameters={"n": 60, "d": 12, "repetitions": 24},
    judge=in_order(confidence=0.99),
)
