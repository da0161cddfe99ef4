"""A gradient step changes a network's outputs by minus the tangent kernel times the loss gradient in the outputs.

w' = -J^T dL/df and f' = J w' give, for every loss L of the outputs on the data,

    f'(x) = -sum_i Theta(x, x_i) dL/df(x_i)                                                                  (1)

Theta is the tangent kernel, J the Jacobian. dL/df_i = (2 / N) (f_i - y_i) for the mean squared error of N points and
(softmax(f_i) - onehot(y_i)) / N for cross-entropy. Reference: [jacot2018neural].
"""

from functools import partial

import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import ntk


def problem(n, width, seed):
    """Returns a tanh network with three outputs, points and classes."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))
    return net.double(), torch.randn(n, 5).double(), torch.arange(n) % 3


def predicted(n, width, seed):
    """Returns the predicted speed of the outputs under gradient flow, for squared loss and cross-entropy."""
    net, x, y = problem(n, width, seed)
    f, kernel = net(x).detach(), ntk(net, x, outputs="full")
    squared, entropy = 2 * (f - one_hot(y)) / n, (f.softmax(1) - one_hot(y)) / n
    return torch.stack([-torch.einsum("nmab,mb->na", kernel, g) for g in (squared, entropy)])


def velocity(n, width, seed, direction, step=1e-4):
    """Returns the measured speed of the outputs along the direction made from each loss's gradient."""
    net, x, y = problem(n, width, seed)
    start, found = parameters_to_vector(net.parameters()).detach(), []
    for loss in (lambda f: ((f - one_hot(y)) ** 2).sum(1).mean(), lambda f: cross_entropy(f, y)):
        vector_to_parameters(start, net.parameters())
        gradient = parameters_to_vector(torch.autograd.grad(loss(net(x)), list(net.parameters())))
        ends = []
        for sign in (1, -1):
            vector_to_parameters(start + sign * step * direction(gradient), net.parameters())
            ends.append(net(x).detach())
        found.append((ends[0] - ends[1]) / (2 * step))
    return torch.stack(found)


observed = partial(velocity, direction=lambda g: -g, step=1e-4)  # The test steps along minus the gradient.
control = partial(velocity, direction=lambda g: -g.sign(), step=1e-4)  # Control: a step along the gradient's signs.

CLAIM = Claim(
    id="ntk-gradient-flow-dynamics",
    question="How does a gradient step change the outputs?",
    equation=r"\dot f(x) = -\sum_i \Theta(x, x_i) \, \partial L / \partial f(x_i)",
    axes=("output at a training point, for two losses", "velocity of the output"),
    source=Source("theorem", "jacot2018neural", "Section 4"),
    premises=(Premise("the parameters follow the gradient itself"),),
    parameters={"n": 6, "width": 16},
    full={"n": 40, "width": 128},
    judge=equals(within=1e-6, because="the error of differences is step^2 = 1e-8 times third derivatives"),
    remark="Some slides lose the minus sign, which every loss has.",
)
