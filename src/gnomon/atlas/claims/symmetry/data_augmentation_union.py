"""Random augmentation has, on average, the gradient of the data set that contains all transformed examples.

    E_t grad L(t(x_i), y_i) = (1 / |T|) sum_t grad L(t(x_i), y_i)                                                  (1)

L is the loss, t a transformation from the set T, x_i an example with label y_i. Reference: [bishop1995training].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def gradient(w, x, y):
    """Returns the gradient of the logistic loss, averaged over examples."""
    return -(y / (1 + np.exp(y * (x @ w)))) @ x / len(x)


def problem(n, d, seed):
    """Returns random signals with labels, weights, and the random generator."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.choice((-1.0, 1.0), n), rng.normal(size=d), rng


def predicted(n, d, seed):
    """Returns the gradient over all shifts of all examples."""
    x, y, w, _ = problem(n, d, seed)
    whole, labels = np.concatenate([np.roll(x, s, 1) for s in range(d)]), np.tile(y, d)
    return -((labels * (1 - np.tanh(labels * (whole @ w) / 2)) / 2)[:, None] * whole).mean(0)


def random_gradients(extra, n, d, draws, seed):
    """Returns gradients with a random shift of each example, per draw; a share ``extra`` stays unshifted."""
    shares = (1 - extra) / d + extra * np.eye(d)[0]
    x, y, w, rng = problem(n, d, seed)
    rows = np.arange(n)[:, None]
    out = []
    for _ in range(draws):
        shift = rng.choice(d, size=n, p=shares)
        out.append(gradient(w, x[rows, (np.arange(d) - shift[:, None]) % d], y))
    return out


observed = partial(random_gradients, extra=0.0)  # Augmentation draws all shifts with equal probability.
control = partial(random_gradients, extra=0.5)  # Control: half of the draws leave the example unchanged.

CLAIM = Claim(
    id="data-augmentation-union",
    question="What does random augmentation optimize?",
    equation=r"E_\tau \nabla L(\tau x) = \frac{1}{|T|}\sum_\tau \nabla L(\tau x)",
    axes=("weight", "gradient"),
    source=Source("definition", "bishop1995training"),
    premises=(Premise("all transformations are equally likely"),),
    parameters={"n": 10, "d": 6, "draws": 2000},
    judge=mean_equals(confidence=0.9999),
)
