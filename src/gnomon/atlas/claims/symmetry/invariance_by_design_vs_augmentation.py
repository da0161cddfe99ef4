"""Invariance built into a model is exact; invariance learned from moved examples is not, but much better than none.

    change under shifts:  design < augmentation < three quarters of that of nothing                                (1)

Other augmentation smooths the function as well: noise, the control, takes a tenth away.

Reference: [chen2020group].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def quadratic(z):
    """One, and all products of two samples."""
    return np.concatenate([np.ones((len(z), 1)), (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)], 1)


def modulus(z):
    """Of the Fourier transform."""
    return np.abs(np.fft.rfft(z, axis=1))


def changes(copies, n, d, seed):
    """Relative change of ridge regression outputs under shifts: on Fourier moduli, on copies of signals, on signals."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x[: n // 2] += 2 * np.cos(2 * np.pi * 2 * np.arange(d) / d + rng.uniform(0, 6, size=(n // 2, 1)))
    y = np.r_[np.ones(n // 2), -np.ones(n - n // 2)]
    more = np.concatenate([copies(x, rng) for _ in range(4)])
    tests = [np.roll(x, s, 1) for s in (1, d // 3, d // 2)]
    found = {}
    for name, features, data, labels in (
        ("design", modulus, x, y),
        ("augmentation", quadratic, more, np.tile(y, 4)),
        ("3/4 of nothing", quadratic, x, y),
    ):
        f = features(data)
        w = f.T @ np.linalg.solve(f @ f.T + len(f) * np.eye(len(f)), labels)
        base = features(x) @ w
        found[name] = float(np.mean([np.linalg.norm(features(t) @ w - base) / np.linalg.norm(base) for t in tests]))
    return found | {"3/4 of nothing": 0.75 * found["3/4 of nothing"]}


def predicted():
    """The order (1)."""
    return ("design", "augmentation", "3/4 of nothing")


def all_of(copies, n, d, repetitions, seed):
    """Over several seeds."""
    rows = [changes(copies, n, d, s) for s in range(seed, seed + repetitions)]
    return {name: [row[name] for row in rows] for name in predicted()}


def observed(n, d, repetitions, seed):
    """Examples are shifted at random."""

    def shifted(x, rng):
        places = np.arange(d) - rng.integers(0, d, size=(n, 1))
        return np.take_along_axis(x, places % d, 1)

    return all_of(shifted, n, d, repetitions, seed)


# A little noise is added to them instead.
control = partial(all_of, copies=lambda x, rng: x + 0.3 * rng.normal(size=x.shape))

CLAIM = Claim(
    id="invariance-by-design-vs-augmentation",
    title="Invariance by design is exact, by augmentation approximate",
    equation=r"\text{design} < \text{augmentation} < \tfrac34 \text{nothing}",
    source=Source("observed", "chen2020group"),
    premises=(Premise("augmentation moves examples as the test does"),),
    parameters={"n": 60, "d": 12, "repetitions": 24},
    judge=in_order(confidence=0.99),
)
