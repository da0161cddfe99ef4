"""Projected ascent in the largest-entry norm clips; rescaling instead, as often misprinted, reaches a lower loss.

    e <- clip(e + a sign(g), -eps, eps)                                                                       (1)

For a linear score (1) is at eps sign(w) after ceil(eps / a) steps; rescaling eps z / max |z| shrinks the entries that
are done, so that on a bent score it stays below.
Reference: [madry2018towards].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """Weights of a linear score, then a start inside the box."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.uniform(-0.2, 0.2, size=d)


def predicted(d, eps, seed):
    """eps sign(w)."""
    return eps * np.sign(problem(d, seed)[0])


def ascended(project, d, eps, step, seed):
    """ceil(2 eps / step) steps from a start inside the box."""
    w, e = problem(d, seed)
    for _ in range(int(np.ceil(2 * eps / step))):
        e = project(e + step * np.sign(w))
    return e


def observed(d, eps, step, seed):
    """Clipping."""
    return ascended(lambda z: np.clip(z, -eps, eps), d, eps, step, seed)


def control(d, eps, step, seed):
    """Rescaling by the largest entry."""
    return ascended(lambda z: eps * z / np.abs(z).max(), d, eps, step, seed)


CLAIM = Claim(
    id="pgd-linf",
    title="Projected ascent with clipping reaches eps sign(w) on a linear score, rescaling does not",
    equation=r"\eta \leftarrow \mathrm{clip}(\eta + \alpha\, \mathrm{sgn} \nabla \ell, -\epsilon, \epsilon)",
    source=Source("theorem", "madry2018towards"),
    premises=(Premise("the projection clips every entry"),),
    parameters={"d": 10, "eps": 0.3, "step": 0.07},
    full={"d": 1000, "eps": 0.3, "step": 0.01},
    judge=equals(rounding=100),
    remark="Often misprinted as a rescaling by the largest entry, which is no projection onto the box.",
)
