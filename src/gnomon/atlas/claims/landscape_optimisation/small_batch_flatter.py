"""Batches of one sample lead SGD to flatter solutions than the whole set does.

f(x) = <u^2 - v^2, x> from u = v = a. The noise of single samples shrinks the weights as it fades out, so that with the
trace of the Hessian where all points are fitted,

    tr H = (8 / n) sum_ij x_ij^2 (u_j^2 + v_j^2),    tr H (one sample) < tr H (all samples)              (1)

Reference: [pesme2021implicit]; [keskar2017large] for the saying about networks.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, ordered

SMALL = "one of the two runs has batches of one sample"


def predicted():
    """From flat to sharp."""
    return ("small batch", "whole set")


def trace(batch, sets, n, d, steps, seed):
    """Trace of the Hessian after training on several data sets at once."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(sets, n, d))
    y = x[:, :, :2].sum(2)
    u = v = np.full((sets, d), 0.5)
    for _ in range(steps):
        chosen = rng.integers(n, size=batch) if batch < n else slice(None)
        part, goal = x[:, chosen], y[:, chosen]
        residual = np.einsum("sbd,sd->sb", part, u**2 - v**2) - goal
        slope = np.einsum("sb,sbd->sd", residual, part) / part.shape[1]
        u, v = u - 0.01 * slope * u, v + 0.01 * slope * v
    return 8 / n * np.einsum("snd,sd->s", x**2, u**2 + v**2)


def observed(sets, n, d, steps, seed):
    """One sample against all."""
    return {"small batch": trace(1, sets, n, d, steps, seed), "whole set": trace(n, sets, n, d, steps, seed)}


def control(sets, n, d, steps, seed):
    """All samples in both."""
    return {"small batch": trace(n, sets, n, d, steps, seed), "whole set": trace(n, sets, n, d, steps, seed)}


CLAIM = Claim(
    id="small-batch-flatter",
    title="Batches of one sample lead SGD to flatter solutions than the whole set does",
    equation=r"\mathrm{tr} H_{B = 1} < \mathrm{tr} H_{B = n}",
    source=Source("observed", "pesme2021implicit"),
    premises=(Premise(SMALL), Premise("both runs have the same learning rate")),
    breaks=SMALL,
    parameters={"sets": 20, "n": 20, "d": 40, "steps": 3000},
    full={"sets": 30, "n": 30, "d": 60, "steps": 6000},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
