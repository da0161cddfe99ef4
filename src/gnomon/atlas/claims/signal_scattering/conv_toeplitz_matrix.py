"""A convolution can be learned from one example; a dense layer with n inputs needs n examples.

    f * h = H f,   H in R^{(n + m - 1) x n},   H[u, t] = h[u - t]                                             (1)

f is the signal of length n, h the kernel of length m. One example has n + m - 1 outputs, enough for m weights; the n (n
+ m - 1) weights of a dense matrix need n examples. Reference: [lecun1998gradient], Section II.
"""

from functools import partial

import numpy as np
from scipy.linalg import toeplitz

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """Returns a random kernel, and signals to learn from."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=m), rng.normal(size=(n + 1, n))


def predicted(n, m, seed):
    """Returns the convolution by numpy, then 1 and n, the examples that a convolution and a dense matrix need."""
    h, x = inputs(n, m, seed)
    return [*np.convolve(x[-1], h), 1.0, float(n)]


def examples_needed(x, y, design):
    """Returns the smallest number of examples after which least squares maps all signals correctly."""
    whole = [design(f) for f in x]
    for count in range(1, len(x) + 1):
        a, b = np.concatenate(whole[:count]), np.concatenate(y[:count])
        w = np.linalg.lstsq(a, b, rcond=1e-10)[0]
        if all(np.allclose(d @ w, target, atol=1e-6) for d, target in zip(whole, y, strict=True)):
            return float(count)
    return float(len(x) + 1)


def products_and_examples(n, m, seed, spread):
    """Returns products of convolution matrix and signals, then the examples needed to learn each map."""
    h, x = inputs(n, m, seed)
    matrix = toeplitz(np.r_[h, np.zeros(n - 1)], np.r_[h[0], np.zeros(n - 1)])
    matrix = matrix * (1 + spread * np.random.default_rng(seed + 1).normal(size=matrix.shape))
    y = list(x @ matrix.T)
    few = examples_needed(x, y, lambda f: toeplitz(np.r_[f, np.zeros(m - 1)], np.r_[f[0], np.zeros(m - 1)]))
    many = examples_needed(x, y, lambda f: np.kron(np.eye(n + m - 1), f))
    return [*(matrix @ x[-1]), few, many]


observed = partial(products_and_examples, spread=0.0)  # The convolution.
control = partial(products_and_examples, spread=0.3)  # Control: each row of the matrix has its own weights.

CLAIM = Claim(
    id="conv-toeplitz-matrix",
    question="Why does a convolution need fewer examples than a dense layer?",
    equation=r"f * h = H_n^h f, \quad H \in R^{(n + m - 1) \times n}",
    axes=("output, then examples needed (convolution, dense)", "output; number of examples"),
    source=Source("theorem", "lecun1998gradient", "Section II"),
    premises=(Premise("the true map uses the same weights at every position"),),
    parameters={"n": 8, "m": 3},
    judge=equals(rounding=1000),
)
