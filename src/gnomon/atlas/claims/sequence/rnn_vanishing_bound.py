"""The gradient through k recurrent steps is at most (largest activation slope x largest singular value)^k.

    |dz_i / dz_t| <= (alpha sigma_1(U))^(i - t),    alpha = sup |phi'|: 1 for tanh, 1/4 for the sigmoid       (1)

z_t is the state, U the recurrent matrix with largest singular value sigma_1, phi the activation. A linear network with
a symmetric matrix reaches the bound: there sigma_1 is the spectral radius. Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(networks, seed):
    """Returns random recurrent matrices, and a random generator for the inputs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(networks, 6, 6)) / 4, rng


def predicted(times, networks, seed):
    """Returns the bound on the gradient for each network and number of steps: tanh, sigmoid, then linear."""
    matrices, _ = problem(networks, seed)
    found = []
    for alpha, u in ((1.0, matrices), (0.25, matrices), (1.0, matrices + matrices.swapaxes(1, 2))):
        top = alpha * np.linalg.svd(u, compute_uv=False)[:, 0]
        found.append(top[:, None] ** np.arange(1, times + 1))
    return np.stack(found)


ACTIVATIONS = (  # name: the activation, and its slope as a function of the activation's value
    (np.tanh, lambda z: 1 - z**2),
    (lambda v: 1 / (1 + np.exp(-v)), lambda z: z * (1 - z)),
    (lambda v: v, lambda z: np.ones_like(z)),
)


def jacobians(gain, times, networks, seed):
    """Returns the norms of products of Jacobians for activations with slope ``gain``: tanh, sigmoid, then linear."""
    matrices, rng = problem(networks, seed)
    found = []
    for (phi, slope), many in zip(ACTIVATIONS, (matrices, matrices, matrices + matrices.swapaxes(1, 2)), strict=True):
        for u in many:
            z, product, row = 0.1 * rng.normal(size=6), np.eye(6), []
            for _ in range(times):
                z = phi(gain * (u @ z + 0.1 * rng.normal(size=6)))
                product = (gain * slope(z))[:, None] * u @ product
                row.append(np.linalg.norm(product, 2))
            found.append(row)
    return np.array(found).reshape(3, networks, times)


observed = partial(jacobians, gain=1.0)  # The slopes of the activation are at most alpha.
control = partial(jacobians, gain=3.0)  # Control: the slopes are up to three times as large as assumed.

CLAIM = Claim(
    id="rnn-vanishing-bound",
    question="When do gradients vanish through time?",
    equation=r"\left\|\frac{\partial z_i}{\partial z_t}\right\| \le (\alpha\, \sigma_1(U))^{i-t}",
    axes=("steps, for each network and activation", "norm of the Jacobian product"),
    source=Source("theorem", "pascanu2013difficulty"),
    premises=(Premise("slopes are at most alpha"),),
    parameters={"times": 10, "networks": 20},
    judge=bounded_by(rounding=1e4, tight=1 - 1e-9),
)
