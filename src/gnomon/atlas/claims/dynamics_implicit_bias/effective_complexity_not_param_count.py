"""A wide network's effective number of parameters depends on its kernel, not on its number of weights.

Ridge regression on m random ReLU features / sqrt(m) has tr K_m (K_m + a I)^-1 degrees of freedom, with ridge a. K_m
tends to a kernel with a closed form (arc-cosine of order 1), so the number saturates while m grows a hundredfold, up to
a correction c/m. Twice the number at 2 m minus the number at m removes this correction:

    df -> tr K (K + a I)^-1,    K(x, x') = |x||x'| (sin t + (pi - t) cos t) / (2 pi)                          (1)

t is the angle between x and x'. Reference: [cho2009kernel].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(n, d, seed):
    """Returns n random input vectors for the random features."""
    return np.random.default_rng(seed).normal(size=(n, d))


def predicted(n, d, widths, ridge, seed):
    """Returns the effective number of parameters of an infinitely wide network, once for each width."""
    x = problem(n, d, seed)
    norm = np.linalg.norm(x, axis=1)
    t = np.arccos(np.clip(x @ x.T / np.outer(norm, norm), -1, 1))
    values = np.linalg.eigvalsh(np.outer(norm, norm) * (np.sin(t) + (np.pi - t) * np.cos(t)) / (2 * np.pi))
    return [(values / (values + ridge)).sum()] * len(widths)


def degrees_of_freedom(n, d, widths, ridge, draws, seed, power):
    """Returns the effective number of parameters of random features, extrapolated in the width, for each draw."""
    x, rng = problem(n, d, seed), np.random.default_rng([seed, 1])
    rows = []
    for _ in range(draws):
        features = [np.maximum(x @ rng.normal(size=(d, k * m)), 0) / (k * m) ** power for m in widths for k in (1, 2)]
        rows.append([np.trace(np.linalg.solve(f @ f.T + ridge * np.eye(n), f @ f.T)) for f in features])
    counts = np.array(rows)
    return 2 * counts[:, 1::2] - counts[:, ::2]


observed = partial(degrees_of_freedom, power=0.5)  # Features are divided by the square root of the width.
control = partial(degrees_of_freedom, power=0.0)  # Not divided.

CLAIM = Claim(
    id="effective-complexity-not-param-count",
    question="Is a wider network more complex?",
    equation=r"\mathrm{df} = \mathrm{tr}\, K (K + \alpha I)^{-1}",
    axes=("width m", "degrees of freedom", "widths"),
    source=Source("derived", "cho2009kernel"),
    premises=(
        Premise("features are divided by the square root of their number"),
        Premise("many more features than examples", lambda n, widths: min(widths) >= 4 * n),
    ),
    parameters={"n": 30, "d": 4, "widths": (200, 2000, 10_000), "ridge": 1.0, "draws": 12},
    full={"n": 50, "draws": 20},
    judge=mean_equals(confidence=0.9999),
)
