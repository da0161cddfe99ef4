"""Healthy cases drawn at random: data, network and optimizer follow from a number.

Inputs are standardized, initialization and learning rate are usual, train and test come from the same distribution.
Every fault that is reported is a false alarm.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from evaluation.faults.case import Case
from evaluation.faults.data.graphs import random_graphs
from evaluation.faults.data.mnist import mnist, mnist_rows
from evaluation.faults.data.series import tones
from evaluation.faults.data.tables import digits_8x8, house_prices, load_uci, sklearn_table, smooth_regression, uci
from evaluation.faults.data.text import topic_tokens
from evaluation.faults.models.dense import perceptron
from evaluation.faults.models.graphs import GCN
from evaluation.faults.models.images import DenseNet
from evaluation.faults.models.sequences import BagOfWords, LastStepLSTM, TokenGRU, tone_cnn
from evaluation.faults.models.transformers import Mixer, Transformer, VisionTransformer
from evaluation.faults.recipes import adam, adamw, sgd
from evaluation.faults.registry import RANDOM_HEALTHY

UCI_TABLES = (
    "statlog-image", "waveform", "waveform-noise", "semeion", "spambase", "cardiotocography-3clases", "yeast",
    "steel-plates", "contrac", "molec-biol-splice", "abalone", "bank", "wine-quality-red", "statlog-vehicle",
    "synthetic-control", "breast-cancer-wisc-diag", "energy-y1", "pima", "statlog-german-credit", "car",
)  # fmt: skip
"""Clean and noisy tables with two to ten classes and 400 to 4,000 training examples."""


def random_optimizer(draw: Random) -> Callable | None:
    """Adam, AdamW, RMSprop or momentum with a usual learning rate; None is the default of `examine`."""
    return draw.choice((
        None, None, adam(draw.choice((3e-4, 1e-3, 2e-3))), adamw(1e-3, weight_decay=0.01),
        sgd(draw.choice((0.02, 0.05)), momentum=0.9), sgd(0.05, momentum=0.9, weight_decay=5e-4),
        adam(5e-4, torch.optim.RMSprop),
    ))  # fmt: skip


def random_dense(inputs: int, outputs: int, draw: Random) -> Callable[[], nn.Module]:
    """One to three hidden layers with a random width, activation and perhaps batch norm."""
    widths = [draw.choice((32, 64, 128, 256))] * draw.choice((1, 2, 3))
    act, norm = draw.choice((nn.ReLU, nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU)), draw.random() < 0.3
    return partial(perceptron, (inputs, *widths, outputs), act, norm=norm)


def random_cnn(side: int, draw: Random) -> Callable[[], nn.Module]:
    """Two convolutions with random channels, activation, norm and dropout, for gray images of ten classes."""
    c, norm, act = draw.choice((8, 16)), draw.random() < 0.6, draw.choice((nn.ReLU, nn.GELU, nn.LeakyReLU))
    dropout = draw.choice((0.0, 0.0, 0.3))

    def build() -> nn.Module:
        middle = [nn.BatchNorm2d(c)] if norm else []
        return nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), *middle, act(), nn.MaxPool2d(2), nn.Conv2d(c, 2 * c, 3, padding=1), act(),
            nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * c * (side // 2) ** 2, 10),
        )  # fmt: skip

    return build


def random_table(draw: Random) -> tuple[str, Callable, Callable]:
    """The name of a table of UCI, a dense network for it, and the data as a function of a seed."""
    name = draw.choice(UCI_TABLES)
    x, y = load_uci(name)[0]
    return name, random_dense(x.shape[1], int(y.max()) + 1, draw), uci(name)


def random_network_and_data(number: int) -> tuple[str, Callable, Callable]:
    """A name, a function that builds the network, and the data as a function of a seed."""
    draw = Random(number)
    kind = number % 10
    if kind < 4:
        return random_table(draw)
    if kind == 4:
        diabetes = partial(sklearn_table, "diabetes", regression=True)
        data, inputs = draw.choice(((smooth_regression, 8), (house_prices, 8), (diabetes, 10)))
        return "regression", random_dense(inputs, 1, draw), data
    if kind == 5:
        return "digits", random_cnn(8, draw), digits_8x8
    if kind == 6:
        return "mnist", random_cnn(28, draw), partial(mnist, draw.choice((1000, 2000)), 500)
    if kind == 7:
        net = draw.choice((Transformer, TokenGRU, BagOfWords))
        return net.__name__, net, partial(topic_tokens, draw.choice((1500, 3000)), 600)
    if kind == 8:
        choices = ((LastStepLSTM, partial(mnist_rows, 2000, 500)), (GCN, random_graphs), (tone_cnn, tones))
        net, data = draw.choice(choices)
        return net.__name__, net, data
    net = draw.choice((VisionTransformer, Mixer, DenseNet))
    return net.__name__, net, partial(mnist, 2000, 500)


def random_healthy_case(number: int) -> Case:
    """The healthy case with this number."""

    def build(seed: int):
        _, net, data = random_network_and_data(number)
        train, test = data(seed=seed + number)
        optimizer = random_optimizer(Random(f"rule {number}"))
        return net, train, test, {} if optimizer is None else {"optimizer": optimizer}

    return Case(f"{RANDOM_HEALTHY}-{number}", "healthy", (), RANDOM_HEALTHY, build)
