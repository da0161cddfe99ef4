"""Healthy examinations without end for `bench_faults.py --family N`: data, network and optimizer drawn from a number.

Everything is as a careful practitioner would have it: inputs standardized, a usual initialization, a usual learning rate,
test and training set drawn alike. Whatever fault is named is a false alarm.
"""

from functools import partial
from random import Random

import torch
from faults_cases import Case, adam, sgd
from faults_models import GCN, Recurrent, Transformer, graphs, mnist, perceptron, rows, tokens, uci, wave
from faults_more import DenseNet, Gru, Mixer, ViT, Words, bundled, digits, houses, tones, waves
from torch import nn

TABLES = (
    "statlog-image", "waveform", "waveform-noise", "semeion", "spambase", "cardiotocography-3clases", "yeast",
    "steel-plates", "contrac", "molec-biol-splice", "abalone", "bank", "wine-quality-red", "statlog-vehicle",
    "synthetic-control", "breast-cancer-wisc-diag", "energy-y1", "pima", "statlog-german-credit", "car",
)  # fmt: skip
"""Of UCI: clean and noisy ones, two to ten classes, 400 to 4,000 training examples."""


def optimizer(draw: Random):
    """Adam, AdamW, RMSprop or momentum, with rates that people use."""
    return draw.choice((
        None, None, adam(draw.choice((3e-4, 1e-3, 2e-3))), adam(1e-3, torch.optim.AdamW, weight_decay=0.01),
        sgd(draw.choice((0.02, 0.05)), momentum=0.9), sgd(0.05, momentum=0.9, weight_decay=5e-4),
        adam(5e-4, torch.optim.RMSprop),
    ))  # fmt: skip


def dense(inputs: int, outputs: int, draw: Random):
    widths = [draw.choice((32, 64, 128, 256))] * draw.choice((1, 2, 3))
    act, norm = draw.choice((nn.ReLU, nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU)), draw.random() < 0.3
    return partial(perceptron, (inputs, *widths, outputs), act, norm=norm)


def images(side: int, draw: Random):
    c, norm, act = draw.choice((8, 16)), draw.random() < 0.6, draw.choice((nn.ReLU, nn.GELU, nn.LeakyReLU))
    dropout = draw.choice((0.0, 0.0, 0.3))

    def build():
        middle = [nn.BatchNorm2d(c)] if norm else []
        return nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), *middle, act(), nn.MaxPool2d(2), nn.Conv2d(c, 2 * c, 3, padding=1), act(),
            nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * c * (side // 2) ** 2, 10),
        )  # fmt: skip

    return build


def drawn(number: int) -> tuple[str, object, object]:
    """A name, a function that builds the network, and the data as a function of a seed."""
    draw = Random(number)
    kind = number % 10
    if kind < 4:
        name = draw.choice(TABLES)
        x, y = uci(name)[0]
        return name, dense(x.shape[1], int(y.max()) + 1, draw), partial(uci, name)
    if kind == 4:
        data, inputs = draw.choice(((wave, 8), (houses, 8), (partial(bundled, "diabetes", numbers=True), 10)))
        return "numbers", dense(inputs, 1, draw), data
    if kind == 5:
        return "digits", images(8, draw), digits
    if kind == 6:
        return "mnist", images(28, draw), partial(mnist, draw.choice((1000, 2000)), 500)
    if kind == 7:
        net = draw.choice((Transformer, Gru, Words))
        return net.__name__, net, partial(tokens, draw.choice((1500, 3000)), 600)
    if kind == 8:
        net, data = draw.choice(((Recurrent, partial(rows, 2000, 500)), (GCN, graphs), (waves, tones)))
        return net.__name__, net, data
    net = draw.choice((ViT, Mixer, DenseNet))
    return net.__name__, net, partial(mnist, 2000, 500)


def family(count: int) -> list[Case]:
    """So many healthy cases; the seed of the examination is the number of the case."""

    def build(number, seed):
        name, net, data = drawn(number)
        train, test = data(seed=seed + number)
        rule = optimizer(Random(f"rule {number}"))
        return net, train, test, {} if rule is None else {"optimizer": rule}

    return [Case(f"{number}: {drawn(number)[0]}", partial(build, number)) for number in range(count)]
