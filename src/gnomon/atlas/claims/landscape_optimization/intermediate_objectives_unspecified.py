"""Layers trained one after the other come within 2 points of the accuracy of end-to-end training on digits.

Backpropagation gives hidden layers no objective of their own. Here each layer gets one: the loss of a linear classifier
on top of it. Training one layer after the other costs little on handwritten digits:

    test accuracy (end to end) - test accuracy (layer by layer) <= 0.02                                      (1)
Reference: [belilovsky2019greedy].
"""

from functools import partial

import torch
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.lab import Claim, Premise, Source, at_most


def problem(n, seed):
    """Returns digits and labels for training and for testing."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    x, y = torch.tensor(images / 16, dtype=torch.float32)[order], torch.tensor(labels)[order]
    return x[:n], y[:n], x[n:], y[n:]


def predicted():
    """Returns 0.02, the upper bound of end-to-end accuracy minus layer-by-layer accuracy."""
    return 0.02


def fit(parts, x, y, steps):
    """Trains a stack of modules on the cross-entropy loss."""
    net = nn.Sequential(*parts)
    descend(torch.optim.Adam(net.parameters(), lr=0.02), lambda: nn.functional.cross_entropy(net(x), y), steps)


def accuracy(parts, x, y):
    """Returns the share of examples that the stack of modules classifies correctly."""
    with torch.no_grad():
        return float((nn.Sequential(*parts)(x).argmax(1) == y).float().mean())


def differences(greedy, nets, n, width, steps, seed):
    """Returns (accuracy of end-to-end training) - (accuracy of layer-by-layer training), per network."""
    rows = []
    for k in range(nets):
        x, y, test, truth = problem(n, 100 * seed + k)
        stack = lambda: [nn.Sequential(nn.Linear(i, width), nn.Tanh()) for i in (64, width, width)]  # noqa: E731
        whole, layers = [*stack(), nn.Linear(width, 10)], stack()
        fit(whole, x, y, steps)
        inside, head = x, nn.Linear(width, 10)
        for layer in layers:
            head = nn.Linear(width, 10)
            if greedy:
                fit([layer, head], inside, y, steps)
            inside = layer(inside).detach()
        fit([head], inside, y, steps)
        rows.append(accuracy(whole, test, truth) - accuracy([*layers, head], test, truth))
    return rows


observed = partial(differences, greedy=True)  # The test trains each hidden layer, one after the other.
control = partial(differences, greedy=False)  # Control: hidden layers stay random; only the last classifier is trained.

CLAIM = Claim(
    id="intermediate-objectives-unspecified",
    question="Can layers be trained one after the other?",
    equation=r"A_{end\ to\ end} - A_{layer\ by\ layer} \le 0.02",
    axes=("training run", "accuracy of end-to-end minus layer-by-layer training"),
    source=Source("observed", "belilovsky2019greedy"),
    premises=(
        Premise("every layer is trained for an objective of its own"),
        Premise("the layers are narrow", lambda width: width <= 64),
    ),
    parameters={"nets": 6, "n": 300, "width": 20, "steps": 40},
    full={"nets": 10, "n": 500, "width": 20, "steps": 80},
    judge=at_most(confidence=0.99),
    loose_because="2 points count as close; after so few steps, layer-by-layer training is ahead by 0 to 3 points.",
)
