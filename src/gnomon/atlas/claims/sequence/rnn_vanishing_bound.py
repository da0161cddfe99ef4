"""A gradient through k steps of a recurrent network is at most (alpha sigma_1)^k, with alpha the largest slope.

    |dz_i / dz_t| <= (alpha sigma_1(U))^(i - t),    alpha = sup |phi'|  (1 for tanh)                          (1)

Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(networks, seed):
    """Matrices and inputs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(networks, 6, 6)) / 4, rng


def predicted(times, networks, seed):
    """Equation (1) for every network and number of steps."""
    matrices, _ = problem(networks, seed)
    top = np.linalg.svd(matrices, compute_uv=False)[:, 0]
    return top[:, None] ** np.arange(1, times + 1)


def jacobians(gain, times, networks, seed):
    """Norms of the products of Jacobians, for phi(u) = tanh(gain u)."""
    matrices, rng = problem(networks, seed)
    found = []
    for u in matrices:
        z, product, row = 0.1 * rng.normal(size=6), np.eye(6), []
        for _ in range(times):
            z = np.tanh(gain * (u @ z + 0.1 * rng.normal(size=6)))
            product = (gain * (1 - z**2))[:, None] * u @ product
            row.append(np.linalg.norm(product, 2))
        found.append(row)
    return np.array(found)


observed = partial(jacobians, gain=1.0)  # Tanh, of slope one at most.
control = partial(jacobians, gain=3.0)  # Slopes up to three.

CLAIM = Claim(
    id="rnn-vanishing-bound",
    title="Gradients through time shrink at least as the largest singular value times the largest slope",
    equation=r"\left\|\frac{\partial z_i}{\partial z_t}\right\| \le (\alpha\, \sigma_1(U))^{i-t}",
    source=Source("theorem", "pascanu2013difficulty"),
    premises=(Premise("slopes are at most alpha"),),
    parameters={"times": 10, "networks": 20},
    judge=bounded_by(),
)
