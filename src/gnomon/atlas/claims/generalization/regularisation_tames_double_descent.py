"""With the best ridge at each size the test error only falls as the model grows.

    min over ridge of risk(p) is not increasing in p                                                               (1)

A target of 60 isotropic features, of which the model sees the first p.
Reference: [nakkiran2021optimal].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, ordered


def risks(ridges, n, sizes, repetitions, seed):
    """Means over draws of the smallest exact risk over ridges, for each size."""
    rng = np.random.default_rng(seed)
    found = {str(p): [] for p in sizes}
    for _ in range(repetitions):
        w = rng.normal(size=max(sizes)) / np.sqrt(max(sizes))
        x, e = rng.normal(size=(n, max(sizes))), rng.normal(size=n)
        y = x @ w + 0.5 * e
        for p in sizes:
            u, s, v = np.linalg.svd(x[:, :p], full_matrices=False)
            best = np.inf
            for r in ridges:
                fit = v.T @ ((s / (s**2 + r)) * (u.T @ y))
                best = min(best, ((fit - w[:p]) ** 2).sum() + (w[p:] ** 2).sum())
            found[str(p)].append(best)
    return found


def predicted(sizes):
    """From the largest model to the smallest, equation (1)."""
    return tuple(str(p) for p in reversed(sizes))


observed = partial(risks, ridges=np.logspace(-1, 3, 12))  # The best of twelve ridges.
control = partial(risks, ridges=[1e-9])  # Next to no ridge: there is a peak.

CLAIM = Claim(
    id="regularisation-tames-double-descent",
    title="The best ridge removes the peak of double descent",
    equation=r"\min_\lambda \text{risk}(p) \text{ non-increasing in } p",
    source=Source("theorem", "nakkiran2021optimal"),
    premises=(Premise("the ridge is the best one at each size"),),
    parameters={"n": 30, "sizes": (5, 15, 30, 60), "repetitions": 60},
    judge=ordered(confidence=0.99),
)
