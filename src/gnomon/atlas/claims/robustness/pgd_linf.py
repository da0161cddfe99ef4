"""On a linear score, projected ascent reaches the best move eps sign(w) with clipped, not with rescaled entries.

    e <- clip(e + a sign(g), -eps, eps)                                                                       (1)

e is the move, g the gradient, a the step size, w the weights. (1) is at eps sign(w) after ceil(eps / a) steps.
Rescaling by eps z / max |z|, as often misprinted, shrinks entries that have arrived. Reference: [madry2018towards].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, seed):
    """Returns the weights of a linear classifier, and a random start of the attack."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.uniform(-0.2, 0.2, size=d)


def predicted(d, eps, seed):
    """Returns eps sign(w), the attack's best move against a linear score with weights w."""
    return eps * np.sign(problem(d, seed)[0])


def ascend(project, d, eps, step, seed):
    """Returns the attack's move after ceil(2 eps / step) steps from a start inside the box, with this projection."""
    w, e = problem(d, seed)
    for _ in range(int(np.ceil(2 * eps / step))):
        e = project(e + step * np.sign(w), eps)
    return e


observed = partial(ascend, project=lambda z, eps: np.clip(z, -eps, eps))  # Clips every entry of z to [-eps, eps].
control = partial(ascend, project=lambda z, eps: eps * z / np.abs(z).max())  # Control: divides z by its largest entry.

CLAIM = Claim(
    id="pgd-linf",
    question="How must an attack in the largest-entry norm be projected?",
    equation=r"\eta \leftarrow \mathrm{clip}(\eta + \alpha\, \mathrm{sgn} \nabla \ell, -\epsilon, \epsilon)",
    axes=("coordinate", "move"),
    source=Source("theorem", "madry2018towards"),
    premises=(
        Premise("the projection clips every entry"),
        Premise("the start lies inside the box", lambda eps: eps >= 0.2),
    ),
    parameters={"d": 10, "eps": 0.3, "step": 0.07},
    full={"d": 1000, "eps": 0.3, "step": 0.01},
    judge=equals(rounding=100),
    remark="Often misprinted as a rescaling by the largest entry, which does not project onto the box.",
)
