"""If one input has s times the scale of the others, gradient descent needs about s^2 times as many steps.

The Hessian of least squares is X^T X / n. If one input has s times the scale of the others, its condition number k
grows as s^2, and so does the number of steps at the rate 1 / lambda_max:

    steps ~ k log(1 / accuracy),    k ~ s^2                                                              (1)

Standardized inputs have the same condition number for every s. Reference: [lecun1998efficient], Section 4.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 2, the exponent of the scale s in the number of steps."""
    return 2.0


def counts(standardize, scales, n, seed):
    """Returns the steps to a millionth of the initial excess loss, for each scale of the first input."""
    rng = np.random.default_rng(seed)
    raw, w, steps = rng.normal(size=(n, 4)), rng.normal(size=4), []
    for s in scales:
        x = raw * [s, 1, 1, 1]
        if standardize:
            x = (x - x.mean(0)) / x.std(0)
        h = x.T @ x / n
        e, t = w / np.diag(h) ** 0.5, 0
        aim, lr = 1e-6 * (e @ h @ e), 1 / np.linalg.eigvalsh(h)[-1]
        while e @ h @ e > aim:
            e, t = e - lr * h @ e, t + 1
        steps.append(t)
    return scales, steps


observed = partial(counts, standardize=False)  # Raw inputs.
control = partial(counts, standardize=True)  # Standardized inputs.

CLAIM = Claim(
    id="data-normalisation-conditioning",
    question="Why should inputs be normalized?",
    equation=r"\kappa(X^T X) \sim s^2, \quad t_\epsilon \sim \kappa \log(1 / \epsilon)",
    axes=("scale s of one input", "steps until the excess loss is 1e-6"),
    source=Source("derived", "lecun1998efficient", "Section 4.3"),
    premises=(Premise("the inputs keep their scales"),),
    parameters={"scales": (4.0, 8.0, 16.0, 32.0), "n": 100},
    full={"scales": (8.0, 16.0, 32.0, 64.0), "n": 1000},
    judge=rate_is(
        confidence=0.999, within=0.1, because="at s = 4 the other inputs change k by 1 / s^2 = 6 %", label="scale"
    ),
)
