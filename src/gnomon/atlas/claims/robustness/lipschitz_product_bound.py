"""A network with 1-Lipschitz activations stretches no difference of inputs by more than the product of its norms.

    |f(x) - f(z)| <= |W_L| ... |W_1| |x - z|                                                                  (1)

Reference: [szegedy2014intriguing], Section 4.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(width, depth, pairs, seed):
    """Weights of the layers, and pairs of inputs, half of them near each other."""
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=(width, width)) / width**0.5 for _ in range(depth)]
    x, step = rng.normal(size=(pairs, width)), rng.normal(size=(pairs, width))
    return weights, x, x + step * rng.choice([1e-3, 1.0], size=(pairs, 1))


def predicted(width, depth, pairs, seed):
    """The product of the largest singular values."""
    return np.full(
        pairs, np.prod([np.linalg.svd(w, compute_uv=False)[0] for w in problem(width, depth, pairs, seed)[0]])
    )


def stretch(activation, width, depth, pairs, seed):
    """|f(x) - f(z)| / |x - z|."""
    weights, x, z = problem(width, depth, pairs, seed)
    a, b = x, z
    for w in weights[:-1]:
        a, b = activation(a @ w.T), activation(b @ w.T)
    difference = (a - b) @ weights[-1].T
    return np.linalg.norm(difference, axis=1) / np.linalg.norm(x - z, axis=1)


observed = partial(stretch, activation=lambda u: np.maximum(u, 0))  # Relu.
control = partial(stretch, activation=lambda u: u**3)  # A cube, whose slope has no bound.

CLAIM = Claim(
    id="lipschitz-product-bound",
    title="A network stretches no difference by more than the product of its operator norms",
    equation=r"\|f(x) - f(z)\| \le \prod_j \|W_j\|_2 \, \|x - z\|",
    source=Source("theorem", "szegedy2014intriguing", "Section 4.3"),
    premises=(Premise("the activation is 1-Lipschitz"),),
    parameters={"width": 20, "depth": 3, "pairs": 2000},
    full={"width": 100, "depth": 5, "pairs": 10_000},
    judge=bounded_by("above", rounding=1e6),  # differences of inputs 1e-3 apart
    remark="Far from tight: the closest pair comes to a small share of the bound.",
)
