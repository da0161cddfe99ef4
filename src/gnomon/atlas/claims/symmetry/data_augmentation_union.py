"""Drawing a random motion for each example gives, on average, the gradient on the data set of all moved examples.

    E_t grad L(t(x_i), y_i) = (1 / |T|) sum_t grad L(t(x_i), y_i)                                                  (1)

Reference: [bishop1995training].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def gradient(w, x, y):
    """Of the logistic loss, a mean over examples."""
    return -(y / (1 + np.exp(y * (x @ w)))) @ x / len(x)


def problem(n, d, seed):
    """Random signals with labels, and weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.choice((-1.0, 1.0), n), rng.normal(size=d), rng


def predicted(n, d, seed):
    """The gradient on all shifts of all examples, equation (1)."""
    x, y, w, _ = problem(n, d, seed)
    whole, labels = np.concatenate([np.roll(x, s, 1) for s in range(d)]), np.tile(y, d)
    return -((labels * (1 - np.tanh(labels * (whole @ w) / 2)) / 2)[:, None] * whole).mean(0)


def drawn(n, d, draws, seed, shares):
    """Gradients with a shift drawn for each example anew."""
    x, y, w, rng = problem(n, d, seed)
    rows = np.arange(n)[:, None]
    out = []
    for _ in range(draws):
        shift = rng.choice(d, size=n, p=shares)
        out.append(gradient(w, x[rows, (np.arange(d) - shift[:, None]) % d], y))
    return out


def observed(n, d, draws, seed):
    """Even shifts."""
    return drawn(n, d, draws, seed, np.full(d, 1 / d))


def control(n, d, draws, seed):
    """Half of the draws leave the example as it is."""
    return drawn(n, d, draws, seed, np.r_[0.5, np.full(d - 1, 0.5 / (d - 1))])


CLAIM = Claim(
    id="data-augmentation-union",
    title="Augmentation on the fly has the gradient of the extended data set on average",
    equation=r"E_\tau \nabla L(\tau x) = \frac{1}{|T|}\sum_\tau \nabla L(\tau x)",
    source=Source("definition", "bishop1995training"),
    premises=(Premise("all motions are drawn alike"),),
    parameters={"n": 10, "d": 6, "draws": 2000},
    judge=mean_equals(confidence=0.9999),
)
