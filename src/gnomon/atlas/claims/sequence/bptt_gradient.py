"""The gradient with respect to a recurrent matrix is a sum over time of products of activation slopes and matrices.

    dL/dz_t = sum over i >= t of dl_i/dz_i  prod over t < j <= i of diag(phi_j) U,  phi_j the slopes of step j    (1)

z_t is the state before its activation, l_i the loss at time i, L their sum, and U the recurrent matrix.
Reference: [pascanu2013difficulty].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(times, seed):
    """Returns a recurrent matrix, inputs, and weights of the states in the loss."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, 4)) / 2, rng.normal(size=(times, 4)), rng.normal(size=(times, 4))


def predicted(times, seed):
    """Returns the gradient with respect to the recurrent matrix, by automatic differentiation."""
    u, x, weights = (torch.from_numpy(a) for a in problem(times, seed))
    u.requires_grad_()
    z, loss = torch.zeros(4, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for t in range(times):
        z = torch.tanh(u @ z + x[t])
        loss = loss + weights[t] @ z
    return torch.autograd.grad(loss, u)[0].numpy()


def by_products(steps, times, seed):
    """Returns the gradient with respect to the recurrent matrix, from products over at most ``steps`` time steps."""
    u, x, weights = problem(times, seed)
    z = [np.zeros(4)]
    for t in range(times):
        z.append(np.tanh(u @ z[-1] + x[t]))
    total = np.zeros((4, 4))
    for t in range(times):
        back = np.zeros(4)
        for i in range(t, min(times, t + steps)):
            row = weights[i]
            for j in range(i, t, -1):
                row = (row * (1 - z[j + 1] ** 2)) @ u
            back += row
        total += np.outer(back * (1 - z[t + 1] ** 2), z[t])
    return total


def observed(times, seed):
    """Returns the gradient of the recurrent matrix from all products, back to the first time step."""
    return by_products(times, times, seed)


control = partial(by_products, steps=2)  # Control: sums products of at most two steps, as truncated backpropagation.

CLAIM = Claim(
    id="bptt-gradient",
    question="How does backpropagation through time compute gradients?",
    equation=r"\partial L / \partial z_t = \sum_{i \ge t} \ell_i' \prod_{j=t+1}^i \dot\Phi_j U",
    axes=("entry of the recurrent matrix", "derivative of the loss"),
    source=Source("theorem", "pascanu2013difficulty"),
    premises=(Premise("products reach back to the first step"),),
    parameters={"times": 8},
    judge=equals(rounding=1e5),
)
