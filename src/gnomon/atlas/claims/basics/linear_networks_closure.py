"""A chain of linear layers without activations computes the same function as one linear layer.

    W_3 (W_2 (W_1 x + b_1) + b_2) + b_3 = W x + b,    W = W_3 W_2 W_1,  b = W_3 (W_2 b_1 + b_2) + b_3    (1)

W_l and b_l are weights and biases of layer l. Depth adds no functions; narrow layers remove some.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def net(depth, width, between):
    """Returns linear layers with the module ``between`` after each but the last."""
    layers = [module for _ in range(depth) for module in (nn.Linear(width, width), between)]
    return nn.Sequential(*layers[:-1]).double()


def inputs(width, seed):
    """Returns twenty standard normal input vectors for the network."""
    return torch.randn(20, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(depth, width, seed):
    """Returns the outputs of the single linear layer to which the chain of layers collapses."""
    w, b = np.eye(width), np.zeros(width)
    for layer in net(depth, width, nn.Identity())[::2]:
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        w, b = weight @ w, weight @ b + bias
    return inputs(width, seed).numpy() @ w.T + b


def outputs(between, depth, width, seed):
    """Returns the outputs of the deep network."""
    return net(depth, width, between)(inputs(width, seed))


observed = partial(outputs, between=nn.Identity())  # Linear layers only.
control = partial(outputs, between=nn.ReLU())  # Control: a ReLU follows each layer except the last one.

CLAIM = Claim(
    id="linear-networks-closure",
    question="Does depth help if all layers are linear?",
    equation=r"W_L \cdots W_1 x = W x",
    axes=("output, for twenty inputs", "output"),
    source=Source("derived"),
    premises=(
        Premise("nothing nonlinear is between the layers"),
        Premise("at least two layers", lambda depth: depth >= 2),
    ),
    parameters={"depth": 4, "width": 10},
    full={"depth": 20, "width": 100},
    judge=equals(rounding=10_000),  # tolerance: `depth` matrix products, multiplied in another order on each side
)
