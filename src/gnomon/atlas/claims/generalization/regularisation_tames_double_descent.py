"""With the best ridge penalty at each model size, the expected test error never rises as the model grows.

    ridge(p) = (s^2 + (D - p) v) / v,    E risk(p, ridge(p)) is not increasing in p                                (1)

The target has D = 60 isotropic features with Gaussian weights of variance v = 1 / D and label noise s^2 = 1/4. The
model sees the first p features; the others act as noise. The ridge (1) is the best on average and does not use the
target. Reference: [nakkiran2021optimal].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def risks(factor, n, sizes, repetitions, seed):
    """Returns the exact test errors of ridge regression at ``factor`` times the best ridge, for each size and draw."""
    rng = np.random.default_rng(seed)
    found = {str(p): [] for p in sizes}
    for _ in range(repetitions):
        w = rng.normal(size=max(sizes)) / np.sqrt(max(sizes))
        x, e = rng.normal(size=(n, max(sizes))), rng.normal(size=n)
        y = x @ w + 0.5 * e
        for p in sizes:
            u, s, v = np.linalg.svd(x[:, :p], full_matrices=False)
            ridge = factor * (max(sizes) / 4 + max(sizes) - p)
            fit = v.T @ ((s / (s**2 + ridge)) * (u.T @ y))
            found[str(p)].append(((fit - w[:p]) ** 2).sum() + (w[p:] ** 2).sum())
    return found


def predicted(sizes):
    """Returns the model sizes, from the smallest test error (the largest model) to the largest error."""
    return tuple(str(p) for p in reversed(sizes))


observed = partial(risks, factor=1.0)  # The best ridge.
control = partial(risks, factor=1e-9)  # Control: the ridge is almost zero, so the expected test error has a peak.

CLAIM = Claim(
    id="regularisation-tames-double-descent",
    question="Can regularization remove double descent?",
    equation=r"E\,\text{risk}(p, \lambda^*(p)) \text{ non-increasing in } p",
    axes=("number of features p", "expected risk"),
    source=Source("theorem", "nakkiran2021optimal"),
    premises=(Premise("the ridge is the best one at each size"),),
    parameters={"n": 30, "sizes": (5, 15, 30, 60), "repetitions": 200},
    judge=in_order(confidence=0.99),
)
