"""With noisy labels, early stopping with a patience of p checks finds better weights than training to the end.

The rule keeps the state with the best validation error so far and stops after p checks without a new best. With noisy
labels and more weights than examples, the risk along descent falls and then rises as the noise is fitted, so

    risk (kept state) < risk (end of training)                                                              (1)

Without noise the risk falls to the end, and stopping gains nothing. Reference: [prechelt1998early].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, in_order


def problem(sets, n, d, noise, seed):
    """Returns linear data sets with n training and n validation examples each, and the true weights."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(sets, d)) / d**0.5
    x, check = rng.normal(size=(2, sets, n, d))
    y, z = (np.einsum("snd,sd->sn", part, truth) + noise * rng.normal(size=(sets, n)) for part in (x, check))
    return truth, x, y, check, z


def predicted():
    """Returns the names of the kept and the final state, the one with the smaller error first."""
    return ("kept", "end")


def risks(noise, sets, n, d, steps, patience, seed):
    """Returns the squared distances of the kept and of the final weights from the true weights (excess error)."""
    truth, x, y, check, z = problem(sets, n, d, noise, seed)
    w, rate = np.zeros((sets, d)), 0.5 / (1 + (d / n) ** 0.5) ** 2
    best, waited, kept = np.full(sets, np.inf), np.zeros(sets), np.zeros((sets, d))
    for _ in range(steps):
        error = ((np.einsum("snd,sd->sn", check, w) - z) ** 2).mean(1)
        better = (error < best) & (waited < patience)
        waited = np.where(better, 0, waited + 1)
        best, kept = np.where(better, error, best), np.where(better[:, None], w, kept)
        w = w - rate * np.einsum("snd,sn->sd", x, np.einsum("snd,sd->sn", x, w) - y) / n
    return {name: ((v - truth) ** 2).sum(1) for name, v in (("kept", kept), ("end", w))}


observed = risks  # With noise.
control = partial(risks, noise=0.0)  # Without noise.

CLAIM = Claim(
    id="early-stopping-patience",
    question="When does early stopping help?",
    equation=r"R(\theta_{kept}) < R(\theta_{end})",
    axes=("state of the network", "distance to the true weights (excess risk)"),
    source=Source("observed", "prechelt1998early"),
    premises=(
        Premise("the labels are noisy"),
        Premise("there is time to fit the noise", lambda steps, patience: steps > 10 * patience),
    ),
    parameters={"sets": 30, "n": 40, "d": 50, "noise": 1.0, "steps": 600, "patience": 10},
    full={"sets": 60, "n": 80, "d": 100, "steps": 1500},
    judge=in_order(confidence=0.999),
)
