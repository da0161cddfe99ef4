"""On average, an epoch of SGD with rate r follows the flow of loss + (r/4) (mean squared batch gradient).

g_k and H_k are gradient and Hessian of batch k of m, g and H their means, C the loss. Averaged over all orders, an
epoch of m steps of size r leads to w - m r g + (r^2/2) sum_{j != k} H_j g_k + O(r^3) = w - m r g + (r^2/2) (m^2 H g -
sum_k H_k g_k) + O(r^3), which is the flow for time m r of

    C + (r / 4m) sum_k |g_k|^2 = C + (r/4)|g|^2 + (r / 4m) sum_k |g_k - g|^2                                   (1)
Reference: [smith2021origin], equation 1.
"""

from functools import partial
from itertools import permutations

import numpy as np
from scipy.linalg import expm

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(d, batches, seed):
    """Returns the Hessian H_k and minimum a_k of each batch's quadratic loss, and the initial weights."""
    rng = np.random.default_rng(seed)
    h = np.stack([b @ b.T / d for b in rng.normal(size=(batches, d, 2 * d)) / 2**0.5])
    return h, rng.normal(size=(batches, d)), 2 * rng.normal(size=d)


def predicted():
    """Returns 3, the exponent of the step size in the distance between the mean epoch and the flow."""
    return 3.0


def gap(d, batches, rates, seed, spread):
    """Returns per step size the distance of the weights after an epoch (mean of all orders) from the flow's end."""
    h, a, start = problem(d, batches, seed)
    mean, pull = h.mean(0), np.einsum("kij,kj->i", h, a) / batches
    if spread:
        square, target = (h @ h).mean(0), np.einsum("kij,kj->i", h @ h, a) / batches
    else:
        square, target = mean @ mean, mean @ pull
    errors = []
    for r in rates:
        ends = []
        for order in permutations(range(batches)):
            w = start
            for k in order:
                w = w - r * h[k] @ (w - a[k])
            ends.append(w)
        matrix, shift = mean + r / 2 * square, pull + r / 2 * target
        rest = np.linalg.solve(matrix, shift)
        errors.append(np.linalg.norm(np.mean(ends, 0) - rest - expm(-batches * r * matrix) @ (start - rest)))
    return rates, errors


observed = partial(gap, spread=True)  # The test compares SGD with the flow of the modified loss.
control = partial(gap, spread=False)  # Control: the flow for full batches, of the loss plus (r/4) |gradient|^2.

CLAIM = Claim(
    id="sgd-modified-loss",
    question="Which loss does SGD with a finite step size really minimize?",
    equation=r"\tilde C = C + \frac{r}{4 m} \sum_k \|\nabla C_k\|^2",
    axes=("learning rate r", "distance between the mean epoch and the flow"),
    source=Source("theorem", "smith2021origin", "Equation 1"),
    premises=(
        Premise("the penalty includes the spread of the batch gradients, not only the mean gradient"),
        Premise("batches come in random order, each once an epoch"),
    ),
    parameters={"d": 4, "batches": 4, "rates": (0.001, 0.002, 0.004, 0.008)},
    full={"d": 10, "batches": 5, "rates": (0.0005, 0.001, 0.002, 0.004, 0.008)},
    judge=rate_is(next_order=1.0, label="step size"),
)
