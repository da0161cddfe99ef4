"""Weights of variance 2 / inputs keep the mean square in ReLU layers; variance 1 / inputs halves it per layer.

A symmetric preactivation z has E relu(z)^2 = E z^2 / 2, so with Var(w) = c / n for n inputs

    E F_L^2 = (c / 2)^L E F_0^2                                                                          (1)

F_l is the signal after layer l. Reference: [he2015delving], Section 2.2.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(depth):
    """Returns 1 for each depth and both variances: the mean square divided by its predicted value."""
    return [1.0] * (2 * depth)


def sizes(activation, nets, width, depth):
    """Returns the mean squares after each layer divided by their predicted values, for both weight variances."""
    columns = []
    for c in (2.0, 1.0):
        x = torch.randn(nets, width, 1, dtype=torch.float64)
        start = x.square().mean((1, 2))
        for layer in range(depth):
            x = activation(torch.randn(nets, width, width, dtype=torch.float64) * (c / width) ** 0.5 @ x)
            columns.append(x.square().mean((1, 2)) / start * (2 / c) ** (layer + 1))
    return torch.stack(columns, 1)


observed = partial(sizes, activation=torch.relu)  # ReLU.
control = partial(sizes, activation=torch.tanh)  # tanh.

CLAIM = Claim(
    id="init-he",
    question="Which weight variance keeps signals through ReLU layers?",
    equation=r"E F_L^2 = (c/2)^L E F_0^2, \quad \mathrm{Var}(w) = c / n",
    axes=("layer (variance 2 / n, then 1 / n)", "relative mean square of the signal"),
    source=Source("theorem", "he2015delving", "Section 2.2"),
    premises=(Premise("the activation is a ReLU"),),
    parameters={"nets": 800, "width": 64, "depth": 5},
    full={"nets": 2000, "width": 80, "depth": 12},
    judge=mean_equals(confidence=0.9999, resolution=0.15),
)
