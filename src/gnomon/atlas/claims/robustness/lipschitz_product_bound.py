"""A network with activations of slope at most 1 stretches distances at most by the product of its weight norms.

    |f(x) - f(z)| <= |W_L| ... |W_1| |x - z|                                                                  (1)

f is the network, W_j are its weights, x and z two inputs. Layers of positive weights nearly reach the bound: their
leading directions agree, and ReLU changes nothing on positive inputs. Reference: [szegedy2014intriguing], Section 4.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(positive, width, depth, pairs, seed):
    """Returns layer weights and pairs of inputs, half of them close; all positive, or of both signs."""
    rng = np.random.default_rng(seed)
    sign = np.abs if positive else np.asarray
    weights = [sign(rng.normal(size=(width, width))) / width**0.5 for _ in range(depth)]
    x, step = sign(rng.normal(size=(pairs, width))), sign(rng.normal(size=(pairs, width)))
    return weights, x, x + step * rng.choice([1e-3, 1.0], size=(pairs, 1))


def predicted(width, depth, pairs, seed):
    """Returns the product of the weights' operator norms per pair of inputs: mixed signs, then positive weights."""
    found = []
    for positive in (False, True):
        weights = problem(positive, width, depth, pairs, seed)[0]
        found.append([np.prod([np.linalg.svd(w, compute_uv=False)[0] for w in weights])] * pairs)
    return np.array(found)


def stretch(activation, width, depth, pairs, seed):
    """Returns |f(x) - f(z)| / |x - z| for each pair of inputs: weights of mixed signs, then positive weights."""
    found = []
    for positive in (False, True):
        weights, x, z = problem(positive, width, depth, pairs, seed)
        a, b = x, z
        for w in weights[:-1]:
            a, b = activation(a @ w.T), activation(b @ w.T)
        found.append(np.linalg.norm((a - b) @ weights[-1].T, axis=1) / np.linalg.norm(x - z, axis=1))
    return np.array(found)


observed = partial(stretch, activation=lambda u: np.maximum(u, 0))  # ReLU.
control = partial(stretch, activation=lambda u: u**3)  # Control: the activation u^3 has an unbounded slope.

CLAIM = Claim(
    id="lipschitz-product-bound",
    question="How much can a network stretch differences of its inputs?",
    equation=r"\|f(x) - f(z)\| \le \prod_j \|W_j\|_2 \, \|x - z\|",
    axes=("pair of inputs (random, then positive weights)", "stretch"),
    source=Source("theorem", "szegedy2014intriguing", "Section 4.3"),
    premises=(Premise("the activation is 1-Lipschitz"),),
    parameters={"width": 20, "depth": 3, "pairs": 2000},
    full={"width": 100, "depth": 5, "pairs": 10_000},
    grid={"width": (5, 10, 20, 30, 60), "depth": (1, 2, 3, 4)},
    judge=bounded_by("above", rounding=1e6, tight=0.8),  # tolerance: differences of inputs 1e-3 apart lose digits
    remark="Random weights of both signs reach about a quarter of the bound.",
)
