"""One backward pass gives the gradient with respect to all weights of a deep network (backpropagation).

With z^l = W_l h^{l-1} + b_l, h^l = tanh(z^l) and the loss |h^L - y|^2 / 2, the errors d^l = dloss / dz^l satisfy

    d^L = (h^L - y) * tanh'(z^L),    d^l = (W_{l+1}^T d^{l+1}) * tanh'(z^l)                              (1)
    dloss / dW_l = d^l (h^{l-1})^T,    dloss / db_l = d^l                                                (2)

h^0 is the input, y the target, L the number of layers, and * the product of entries.
Reference: [rumelhart1986learning].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def net(width, depth):
    """Returns a network with tanh after each linear layer."""
    return nn.Sequential(*(m for _ in range(depth) for m in (nn.Linear(width, width), nn.Tanh()))).double()


def problem(width, seed):
    """Returns a random input and a random target."""
    return torch.randn(2, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(width, depth, seed):
    """Returns the gradient with respect to all parameters, by the formulas of backpropagation."""
    x, y = problem(width, seed)
    layers = net(width, depth)[::2]
    with torch.no_grad():
        h = [x]
        for layer in layers:
            h.append(torch.tanh(layer.weight @ h[-1] + layer.bias))
        error, gradient = (h[-1] - y) * (1 - h[-1] ** 2), []
        for i in reversed(range(depth)):
            gradient = [torch.outer(error, h[i]).flatten(), error, *gradient]  # (2)
            error = (layers[i].weight.mT @ error) * (1 - h[i] ** 2)  # error at the layer before, by the chain rule
    return torch.cat(gradient)


def differences(width, depth, seed, move):
    """Returns central differences of the loss for each parameter, at the input shifted by ``move``."""
    x, y = problem(width, seed)
    module, step = net(width, depth), 1e-5
    with torch.no_grad():
        found = []
        for p in module.parameters():
            for i in range(p.numel()):
                losses = []
                for sign in (1, -2, 1):
                    p.view(-1)[i] += sign * step
                    losses.append((module(x + move) - y).square().sum() / 2)
                found.append((losses[0] - losses[1]) / (2 * step))
    return torch.stack(found)


observed = partial(differences, move=0.0)  # The test computes both gradients at the same weights.
control = partial(differences, move=0.1)  # At another input.

CLAIM = Claim(
    id="backpropagation",
    question="How does backpropagation compute all gradients in one backward pass?",
    equation=r"\delta^l = (W_{l+1}^T \delta^{l+1}) \odot \sigma'(z^l), \quad \nabla_{W_l} = \delta^l (h^{l-1})^T",
    axes=("parameter of the network", "derivative of the loss"),
    source=Source("theorem", "rumelhart1986learning"),
    premises=(Premise("the backward pass uses the activations of the same weights and input"),),
    parameters={"width": 5, "depth": 4},
    full={"width": 12, "depth": 8},
    judge=equals(
        within=1e-8, because="central differences: step^2 = 1e-10 times a third derivative, 1e-16 / step rounding"
    ),
    remark="Some texts print the Jacobian in it without the derivative signs.",
)
