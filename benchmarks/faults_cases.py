"""The cases of `bench_faults.py`: healthy networks, and the same with one fault of practice each.

A case is a name, a function of a seed that builds (network or factory, train, test, options of `gnomon.examine`), and the
kinds of finding that name its fault; none for a healthy one. The seed draws the examples. A case whose data cannot be used at all is refused with an
error: then ``words`` must be in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from faults_models import (
    GCN,
    Autoencoder,
    Recurrent,
    ResNet18,
    Transformer,
    cnn,
    color,
    diabetes,
    flat,
    graphs,
    mnist,
    perceptron,
    pictures,
    rows,
    tokens,
    uci,
    wave,
)
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable[[int], tuple[Any, Any, Any, dict[str, Any]]]
    kinds: tuple[str, ...] = ()
    words: str = ""


def case(name, net, data, kinds=(), words="", change=None, draw=0, **options):
    """``change`` makes other data of (train, test); ``draw`` tells cases apart that differ in their examples alone."""

    def build(seed):
        train, test = data(seed=seed + 1000 * draw)
        if change is not None:
            train, test = change(train, test)
        return net, train, test, dict(options)

    return Case(name, build, (kinds,) if isinstance(kinds, str) else tuple(kinds), words)


def made(kind, *args, **kwargs):
    return partial(kind, *args, **kwargs)


MLP = made(perceptron, (784, 256, 128, 10))
WIDE = made(perceptron, (784, 2600, 2600, 500, 10))  # ten million parameters
SMALL = made(perceptron, (8, 64, 64, 1))
UCI = ("statlog-image", "waveform", "semeion", "spambase", "cardiotocography-3clases", "yeast")


def table(name):
    def make():
        x, y = uci(name)[0]
        return perceptron((x.shape[1], 128, 64, int(y.max()) + 1))

    return make


def frozen(build, part):
    def make():
        net = build()
        net.get_submodule(part).requires_grad_(False)
        return net

    return make


def initialized(build, function):
    def make():
        net = build()
        with torch.no_grad():
            function(net)
        return net

    return make


def each(function, kinds=(nn.Linear, nn.Conv2d)):
    def apply(net):
        for part in net.modules():
            if isinstance(part, kinds):
                function(part)

    return apply


def sgd(lr, **options):
    return lambda p: torch.optim.SGD(p, lr=lr, **options)


def adam(lr, kind=torch.optim.Adam, **options):
    return lambda p: kind(p, lr=lr, **options)


# Data made wrong


def labels(function):
    return lambda train, test: ((train[0], function(train[1])), test)


def inputs(function):
    return lambda train, test: ((function(train[0]), train[1]), (function(test[0]), test[1]))


def noisy(share, seed=0):
    def change(y):
        g = torch.Generator().manual_seed(seed)
        index = torch.randperm(len(y), generator=g)[: int(share * len(y))]
        k = int(y.max()) + 1
        y = y.clone()
        y[index] = (y[index] + torch.randint(1, k, (len(index),), generator=g)) % k
        return y

    return labels(change)


def shuffle(y):
    return y[torch.randperm(len(y), generator=torch.Generator().manual_seed(0))]


def leak(share, scale=1.0, noise=0.0):
    def change(train, test):
        k = int(share * len(test[1]))
        g = torch.Generator().manual_seed(0)
        copies = train[0][:k]
        if scale != 1 or noise:
            copies = scale * copies + noise * torch.randn(copies.shape, generator=g)
        return train, (torch.cat([test[0][k:], copies]), torch.cat([test[1][k:], train[1][:k]]))

    return change


def contradict(share):
    def change(train, test):
        k = int(share * len(train[1]))
        c = int(train[1].max()) + 1
        return (torch.cat([train[0], train[0][:k]]), torch.cat([train[1], (train[1][:k] + 1) % c])), test

    return change


def only(condition):
    def change(train, test):
        keep = condition(train[1])
        x = train[0]
        return (x[keep], train[1][keep]), test

    return change


def rare(y):
    """All of class 0, and one in forty of the others."""
    return (y == 0) | (torch.arange(len(y)) % 40 == 0)


def shifted(function):
    return lambda train, test: (train, (function(test[0]), test[1]))


def loader(size):
    return lambda train, test: (DataLoader(TensorDataset(*train), batch_size=size, shuffle=True), test)


def columns(function):
    def change(train, test):
        return (function(train[0]), train[1]), (function(test[0]), test[1])

    return change


def widened(x):
    return torch.cat([x, torch.full((len(x), 2), 3.0)], 1)


def repeated(x):
    return torch.cat([x, x[:, :2]], 1)


def scaled_column(x):
    x = x.clone()
    x[:, 0] *= 1000
    return x


def only_head(build):
    """An optimizer of the last layer alone, as after copying a recipe for fine-tuning."""
    net = build()
    return net, torch.optim.Adam(list(net.parameters())[-2:], lr=1e-3)


def _head_case(seed):
    train, test = mnist(seed=seed)
    net, rule = only_head(cnn)
    return net, train, test, {"optimizer": rule, "fit": True}


def _trained_norm(seed, momentum=0.1, scale=1.0):
    """A network trained for an epoch on images of another scale than it is now given, as by a lost preprocessing."""
    train, test = mnist(2000, 500, seed)
    torch.manual_seed(seed)
    net = cnn()
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.momentum = momentum
    rule = torch.optim.Adam(net.parameters(), 2e-3)
    for step in range(120):
        i = torch.randint(0, 2000, (64,), generator=torch.Generator().manual_seed(step))
        rule.zero_grad()
        nn.functional.cross_entropy(net(scale * train[0][i] + (0 if scale == 1 else 5)), train[1][i]).backward()
        rule.step()
    return net, train, test, {"fit": False}


def _fresh_init(part):
    nn.init.normal_(part.weight, std=0.01 / part.weight[0].numel() ** 0.5)


HEALTHY = [
    case("cnn, batch norm", cnn, mnist),
    case("cnn, batch norm, other examples", cnn, mnist, draw=1),
    case("cnn without norm", made(cnn, norm=False), mnist),
    case("cnn, gelu", made(cnn, act=nn.GELU), mnist),
    case("cnn, dropout", made(cnn, dropout=0.5), mnist),
    case("cnn, sgd with momentum", cnn, mnist, optimizer=sgd(0.05, momentum=0.9)),
    case("cnn, adamw", cnn, mnist, optimizer=adam(1e-3, torch.optim.AdamW, weight_decay=0.01)),
    case("cnn, loader", cnn, mnist, change=loader(64)),
    case("cnn, user's loss", cnn, mnist, loss=nn.CrossEntropyLoss(label_smoothing=0.1)),
    case("cnn, few examples", cnn, partial(mnist, 600, 300)),
    case("perceptron", MLP, flat),
    case("perceptron, tanh", made(perceptron, (784, 256, 128, 10), nn.Tanh), flat),
    case("perceptron, batch norm", made(perceptron, (784, 256, 128, 10), norm=True), flat),
    case("perceptron, sgd", MLP, flat, optimizer=sgd(0.1)),
    case("perceptron, adam 3e-4", MLP, flat, optimizer=adam(3e-4)),
    case("perceptron, rmsprop", MLP, flat, optimizer=adam(1e-3, torch.optim.RMSprop)),
    case("perceptron, 10 million", WIDE, flat),
    case("resnet-18, width 16", made(ResNet18, 16), color),
    case("resnet-18, 11 million", ResNet18, color),
    case("lstm", Recurrent, rows),
    case("lstm, other examples", Recurrent, rows, draw=1),
    case("transformer, tokens", Transformer, tokens),
    case("transformer, patches", made(Transformer, patches=True, classes=10), mnist),
    case("gcn", GCN, graphs),
    case("autoencoder", Autoencoder, pictures),
    case("regression, standardized diabetes", made(perceptron, (10, 64, 1)), diabetes),
    case("regression, wave", SMALL, wave),
    case("regression, user's loss", made(perceptron, (8, 64, 64, 1), end=nn.Flatten(0)), wave, loss=nn.MSELoss()),
    *(case(f"uci {name}", table(name), partial(uci, name)) for name in UCI),
]

FAULTY = [
    # the last operation and the loss
    case("cnn ends in softmax", made(cnn, end=nn.Softmax(1)), mnist, "softmax-before-loss"),
    case("resnet ends in softmax", made(ResNet18, 16, wrong="softmax"), color, "softmax-before-loss"),
    case("lstm ends in softmax", made(Recurrent, wrong="softmax"), rows, "softmax-before-loss"),
    case("transformer ends in softmax", made(Transformer, wrong="softmax"), tokens, "softmax-before-loss"),
    case("cnn ends in sigmoid", made(cnn, end=nn.Sigmoid()), mnist, "sigmoid-before-loss"),
    case("cnn ends in relu", made(cnn, end=nn.ReLU()), mnist, ("relu-before-loss", "dead-units")),
    case("gcn ends in relu", made(GCN, wrong="relu"), graphs, ("relu-before-loss", "dead-units")),
    case("autoencoder ends in sigmoid", made(Autoencoder, nn.Sigmoid()), pictures, "targets-out-of-reach"),
    case("regression ends in relu", made(perceptron, (8, 64, 1), end=nn.ReLU()), wave, "targets-out-of-reach"),
    case("broadcast (n, 1)", SMALL, wave, "broadcast-loss", loss=nn.MSELoss()),
    case("broadcast, diabetes", made(perceptron, (10, 64, 1)), diabetes, "broadcast-loss", loss=nn.L1Loss()),
    # labels
    case("labels shuffled, cnn", cnn, mnist, "labels-unrelated", change=labels(shuffle)),
    case("labels shuffled, perceptron", MLP, flat, "labels-unrelated", change=labels(shuffle)),
    case("10 % wrong labels, cnn", cnn, mnist, "noisy-labels", change=noisy(0.1)),
    case("20 % wrong labels, perceptron", MLP, flat, "noisy-labels", change=noisy(0.2)),
    case("15 % wrong labels, resnet", made(ResNet18, 16), color, "noisy-labels", change=noisy(0.15)),
    case("15 % wrong labels, semeion", table("semeion"), partial(uci, "semeion"), "noisy-labels", change=noisy(0.15)),
    case("labels from 1", cnn, mnist, words="number classes from 0", change=labels(lambda y: y + 1)),
    case("labels -1", cnn, mnist, words="classes 0, 1, 2", change=labels(lambda y: y - 1)),
    case("labels from 1, one output more", made(perceptron, (784, 128, 11)), flat, "labels-off-by-one",
         change=lambda a, b: ((a[0], a[1] + 1), (b[0], b[1] + 1))),
    case("a class missing", cnn, mnist, "class-missing", change=only(lambda y: y != 7)),
    case("a class missing, perceptron", MLP, flat, "class-missing", change=only(lambda y: y > 1)),
    case("imbalance", cnn, partial(mnist, 20000, 1000), ("imbalance", "class-shift"), change=only(rare)),
    case("contradictions, cnn", cnn, mnist, "conflicting-labels", change=contradict(0.1)),
    case("contradictions, tokens", Transformer, tokens, "conflicting-labels", change=contradict(0.1)),
    # train and test
    case("5 % leaked, cnn", cnn, mnist, "leaked-test", change=leak(0.05)),
    case("5 % leaked and changed, cnn", cnn, mnist, "leaked-test", change=leak(0.05, 0.97, 0.05)),
    case("10 % leaked, perceptron", MLP, flat, "leaked-test", change=leak(0.1)),
    case("10 % leaked and changed, resnet", made(ResNet18, 16), color, "leaked-test", change=leak(0.1, 1.0, 0.05)),
    case("10 % leaked, tokens", Transformer, tokens, "leaked-test", change=leak(0.1)),
    case("20 % leaked, waveform", table("waveform"), partial(uci, "waveform"), "leaked-test", change=leak(0.2)),
    case("test is brighter", cnn, mnist, "train-test-shift", change=shifted(lambda x: 1.5 * x + 0.5)),
    case("test not normalized", MLP, flat, "train-test-shift", change=shifted(lambda x: x * 0.3081 + 0.1307)),
    case("test is flipped", cnn, mnist, "train-test-shift", change=shifted(lambda x: x.flip(-1))),
    case("test has other classes", cnn, mnist, ("class-shift", "train-test-shift"),
         change=lambda a, b: (a, (b[0][b[1] < 4], b[1][b[1] < 4]))),
    # inputs and targets
    case("pixels of 255", cnn, mnist, "input-scale", change=inputs(lambda x: 255 * (x * 0.3081 + 0.1307))),
    case("diabetes as it comes", made(perceptron, (10, 64, 1)), partial(diabetes, False),
         ("target-scale", "feature-scale", "input-scale")),
    case("targets of thousands", SMALL, wave, "target-scale",
         change=lambda a, b: ((a[0], 3000 + 800 * a[1]), (b[0], 3000 + 800 * b[1]))),
    case("one column of thousands", SMALL, wave, ("feature-scale", "input-scale"), change=columns(scaled_column)),
    case("constant columns", made(perceptron, (10, 64, 1)), wave, "constant-features", change=columns(widened)),
    case("repeated columns", made(perceptron, (10, 64, 1)), wave, "repeated-features", change=columns(repeated)),
    # the network
    case("detached, transformer", made(Transformer, wrong="detach"), tokens, "detached"),
    case("detached, resnet", made(ResNet18, 16, wrong="detach"), color, "detached"),
    case("detached, autoencoder", made(Autoencoder, wrong="detach"), pictures, "detached"),
    case("a layer forgotten", made(Transformer, wrong="unused"), tokens, "unused-parameters"),
    case("frozen at random, cnn", frozen(cnn, "4"), mnist, "frozen-at-random"),
    case("frozen at random, lstm head", frozen(Recurrent, "head"), rows, "frozen-at-random"),
    Case("optimizer of the head alone", _head_case, ("not-in-optimizer",)),
    case("lstm reads the first step", made(Recurrent, wrong="first"), rows, "inputs-ignored"),
    case("gcn without its edges", made(GCN, wrong="edges"), graphs, "inputs-ignored"),
    case("lstm without batch_first", made(Recurrent, batch_first=False), rows, "examples-mixed"),
    case("transformer without batch_first", made(Transformer, wrong="axes"), tokens, "examples-mixed"),
    case("softmax over the batch", made(Recurrent, wrong="softmax-batch"), rows,
         ("examples-mixed", "softmax-before-loss")),
    case("dropout in eval", made(Transformer, wrong="dropout"), tokens, "random-in-eval"),
    case("dropout of 97 %", made(cnn, dropout=0.97), mnist, "modes-disagree"),
    Case("batch norm, lost preprocessing", partial(_trained_norm, scale=3.0), ("batch-norm-statistics",)),
    Case("batch norm, momentum 1e-4", partial(_trained_norm, momentum=1e-4), ("batch-norm-statistics",)),
    case("batches of two", cnn, partial(mnist, 1500, 500), "batch-too-small", change=loader(2)),
    case("tiny weights", initialized(made(perceptron, (784, *[128] * 6, 10)), each(_fresh_init)), flat,
         ("vanishing-activations", "vanishing-gradients")),
    case("weights of zero", initialized(cnn, lambda net: nn.init.zeros_(net[9].weight)), mnist,
         ("zero-weights", "vanishing-activations")),
    case("30 layers of tanh", initialized(made(perceptron, (784, *[100] * 30, 10), nn.Tanh),
         each(lambda p: nn.init.normal_(p.weight, std=0.5 / p.weight.shape[1] ** 0.5))), flat,
         ("vanishing-activations", "vanishing-gradients")),
    case("huge weights, relu", initialized(made(perceptron, (784, *[128] * 6, 10)),
         each(lambda p: nn.init.normal_(p.weight, std=1.0))), flat,
         ("exploding-activations", "exploding-gradients")),
    case("saturated tanh", initialized(made(perceptron, (784, 256, 128, 10), nn.Tanh),
         each(lambda p: nn.init.normal_(p.weight, std=1.0))), flat,
         ("saturated-units", "exploding-activations", "vanishing-gradients", "exploding-gradients")),
    case("dead relu", initialized(cnn, lambda net: net[9].bias.fill_(-100.0)), mnist, ("dead-units", "inputs-ignored")),
    # the optimizer
    case("adam 10", cnn, mnist, ("learning-rate-too-large", "exploding-loss", "training-diverged"),
         optimizer=adam(10.0)),
    case("sgd 10, perceptron", MLP, flat, ("learning-rate-too-large", "exploding-loss", "training-diverged"),
         optimizer=sgd(10.0)),
    case("adam 1e-7", MLP, flat, "learning-rate-too-small", optimizer=adam(1e-7)),
    case("sgd 1e-6", MLP, flat, ("learning-rate-too-small", "learning-rate-small"), optimizer=sgd(1e-6)),
    case("adam 1e-7, lstm", Recurrent, rows, "learning-rate-too-small", optimizer=adam(1e-7)),
    case("decay 1, sgd", MLP, flat, "weight-decay-wins", optimizer=sgd(0.1, weight_decay=1.0)),
    case("decay 30, adamw", cnn, mnist, "weight-decay-wins",
         optimizer=adam(1e-3, torch.optim.AdamW, weight_decay=30.0)),
    case("overfits", MLP, partial(flat, 150, 1000), "overfit", epochs=200),
    case("underfits", made(perceptron, (784, 2, 10)), flat, ("underfit", "undertrained", "below-limit"), epochs=10),
]  # fmt: skip
