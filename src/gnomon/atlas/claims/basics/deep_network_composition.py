"""A deep network is the composition of its layers; exchanging two layers changes the network.

With x^0 = x, weights W_l of shape (outputs, inputs), biases b_l of length outputs, and an activation s,

    x^l = s(W_l x^{l-1} + b_l),    f(x) = W_L x^{L-1} + b_L                                              (1)
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def net(width, depth):
    """Returns a network with tanh after each hidden layer."""
    layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.Tanh())]
    return nn.Sequential(*layers, nn.Linear(width, width)).double()


def inputs(width, seed):
    """Returns five standard normal input vectors for the network."""
    return torch.randn(5, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(width, depth, seed):
    """Returns all hidden states and the output of the network, computed layer by layer."""
    x, states = inputs(width, seed).numpy(), []
    layers = [m for m in net(width, depth) if isinstance(m, nn.Linear)]
    for i, layer in enumerate(layers):
        x = np.einsum("ij,nj->ni", layer.weight.detach().numpy(), x) + layer.bias.detach().numpy()
        x = np.tanh(x) if i < depth else x
        states.append(x)
    return np.stack(states)


def record_states(module, x, depth):
    """Returns the outputs of the activations and of the whole module, recorded by hooks while the module runs."""
    states = []
    for m in [*list(module)[1 : 2 * depth : 2], module]:
        m.register_forward_hook(lambda _, __, out: states.append(out.detach()))
    module(x)
    return torch.stack(states)


def observed(width, depth, seed):
    """Returns the hidden states and the output of the network, recorded by hooks."""
    return record_states(net(width, depth), inputs(width, seed), depth)


def control(width, depth, seed):
    """Returns the states of the same network if its first two linear layers are exchanged."""
    layers = list(net(width, depth))
    return record_states(nn.Sequential(layers[2], layers[1], layers[0], *layers[3:]), inputs(width, seed), depth)


CLAIM = Claim(
    id="deep-network-composition",
    question="What does a deep network compute?",
    equation=r"x^l = \sigma(W_l x^{l-1} + b_l)",
    axes=("unit of each layer, for five inputs", "activation"),
    source=Source("definition"),
    premises=(
        Premise("layers are applied in their order"),
        Premise("at least two hidden layers", lambda depth: depth >= 2),
    ),
    parameters={"width": 16, "depth": 3},
    full={"width": 128, "depth": 10},
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: each layer sums `width` rounded terms
    remark="For W of shape (m, n) the bias has length m; lecture notes sometimes print n.",
)
