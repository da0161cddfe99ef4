"""AUTOTRAINER's training problems (ICSE 2021), and unbalanced data."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import flat_digits
from evaluation.published.data.made import blobs, imbalanced, moons, regression
from evaluation.published.networks import mlp
from evaluation.published.scores import balanced_accuracy


@faulty(
    "autotrainer-gradient-vanish",
    "AUTOTRAINER: gradient vanish (deep tanh network on blobs)",
    fix="Use ReLU with batch normalization or He initialization.",
)
def vanishing_gradient():
    """Fifteen tanh layers with weights of size 0.02 pass neither signals nor gradients."""
    train, test = blobs(classes=4, spread=1.2)

    def network():
        net = mlp(10, *[32] * 15, 4, activation=nn.Tanh)
        for layer in net:
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=0.02)
        return net

    given = Recipe(network=network, train=train, test=test, epochs=10)
    return given, replace(given, network=lambda: mlp(10, *[32] * 5, 4, norm=nn.BatchNorm1d))


@faulty(
    "autotrainer-gradient-explode",
    "AUTOTRAINER: gradient explode (weights too large)",
    fix="Initialize with variance 2 / fan_in, or PyTorch's default.",
)
def exploding_gradient():
    """Eight ReLU layers start with weights of standard deviation 1, so outputs and gradients reach 1e8."""
    train, test = flat_digits()

    def network():
        net = mlp(64, *[64] * 8, 10)
        for layer in net:
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=1.0)
        return net

    given = Recipe(network=network, train=train, test=test, optimizer=sgd(0.01), epochs=10)
    return given, replace(given, network=lambda: mlp(64, *[64] * 8, 10), optimizer=adam())


@faulty("autotrainer-dying-relu", "AUTOTRAINER: dying ReLU (biases of -8)", fix="Initialize the biases with zero.")
def dead_units_by_bias():
    """The biases start at -8, so all ReLU units are off for every example."""
    train, test = blobs(classes=4)

    def network():
        net = mlp(10, 64, 64, 4)
        nn.init.constant_(net[0].bias, -8.0)
        nn.init.constant_(net[2].bias, -8.0)
        return net

    given = Recipe(network=network, train=train, test=test, epochs=15)
    return given, replace(given, network=lambda: mlp(10, 64, 64, 4))


@faulty(
    "autotrainer-oscillating-loss",
    "AUTOTRAINER: oscillating loss (rate too large)",
    fix="Lower the learning rate from 1.5 to 0.05.",
)
def oscillating_loss():
    """SGD at 1.5 with momentum 0.9 makes the loss jump up and down."""
    train, test = moons()
    given = Recipe(
        network=lambda: mlp(2, 64, 64, 2), train=train, test=test, optimizer=sgd(1.5, momentum=0.9), epochs=20
    )
    return given, replace(given, optimizer=sgd(0.05, momentum=0.9))


@faulty(
    "autotrainer-slow-convergence",
    "AUTOTRAINER: slow convergence (rate too small)",
    fix="Raise the learning rate from 1e-6 to 1e-3.",
)
def slow_convergence():
    """Adam at 0.000001 hardly changes the loss in 20 epochs."""
    train, test = regression()
    given = Recipe(network=lambda: mlp(8, 64, 64, 1), train=train, test=test, optimizer=adam(1e-6), epochs=20)
    return given, replace(given, optimizer=adam(1e-3))


@faulty(
    "taxonomy-unbalanced-data",
    "Humbatova et al. 2020, leaf: unbalanced training data",
    fix="Weight the loss by the inverse class frequency, or sample the rare class more often.",
)
def rare_class_ignored():
    """One class has 3 % of the rows and overlaps the other, and the network never predicts it."""
    train, test = imbalanced(rare=0.03)
    given = Recipe(network=lambda: mlp(10, 32, 2), train=train, test=test, score=balanced_accuracy, epochs=8)
    weight = torch.tensor([1.0, 1 / 0.03])
    return given, replace(given, loss=lambda o, t: F.cross_entropy(o, t, weight=weight))
