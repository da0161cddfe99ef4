"""Descent on an exponential loss turns to the maximum-margin direction; after time t the angle is order 1 / ln t.

If a plane through the origin separates the classes, w_t = w* ln t + O(1) with w* the hard-margin solution:

    angle(w_t, w*) ~ c / ln t                                                                               (1)

The measurement follows w' = -grad ln L, which is gradient flow on L in another time, t = int ds / L, so that ln t
exceeds 100. The largest margin is known by construction. Reference: [soudry2018implicit].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(sets, n, seed):
    """Returns examples times labels with two support vectors that make (1, 0) the best direction."""
    rng = np.random.default_rng(seed)
    z = np.stack([rng.uniform(1, 2, (sets, n)), rng.normal(size=(sets, n))], 2)
    z[:, :2, 0], z[:, 0, 1], z[:, 1, 1] = 0.5, rng.uniform(0.8, 1.2, sets), -rng.uniform(0.3, 0.5, sets)
    return z


def predicted():
    """Returns -1, the exponent of ln t in the angle to the maximum-margin direction."""
    return -1.0


def angles(power, sets, n, steps, rate, seed):
    """Returns angles to the best direction (1, 0) over ln t; the loss is e^-m or (1 + m)^-power for margin m."""
    z = problem(sets, n, seed)
    w, log_t, curve = np.zeros((sets, 2)), np.full(sets, -np.inf), []
    for _ in range(steps):
        m = np.einsum("snd,sd->sn", z, w)
        logs = -m if power is None else -power * np.log1p(np.maximum(m, -0.9))
        slope = logs if power is None else logs - np.log1p(np.maximum(m, -0.9)) + np.log(power)
        total = np.logaddexp.reduce(logs, 1)
        w = w + rate * np.einsum("sn,snd->sd", np.exp(slope - total[:, None]), z)
        log_t = np.logaddexp(log_t, np.log(rate) - total)
        curve.append((log_t, np.abs(np.arctan2(w[:, 1], w[:, 0]))))
    times, turned = (np.stack(part, 1) for part in zip(*curve, strict=True))
    marks = times[:, -1].min() * np.geomspace(0.2, 1, 8)
    return marks, np.array([np.interp(marks, t, angle) for t, angle in zip(times, turned, strict=True)])


observed = partial(angles, power=None)  # Exponential loss.
control = partial(angles, power=2.0)  # Control: a loss with the tail m^-2 in the margin m, not exponential.

CLAIM = Claim(
    id="max-margin-gd",
    question="Which classifier does gradient descent find on separable data?",
    equation=r"\angle(w_t, w^*) \sim c / \ln t",
    axes=("ln t (logarithm of the training time)", "angle to the maximum-margin direction (rad)"),
    source=Source("theorem", "soudry2018implicit"),
    premises=(Premise("the loss has an exponential tail"), Premise("a plane through the origin separates the classes")),
    parameters={"sets": 12, "n": 10, "steps": 5000, "rate": 0.1},
    full={"sets": 40, "n": 30, "steps": 25_000, "rate": 0.02},
    judge=rate_is(confidence=0.999, within=0.1, because="ln t has corrections ln ln t / ln t of 5 %", label="ln t"),
)
