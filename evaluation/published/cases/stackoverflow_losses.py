"""StackOverflow posts of the DeepFD and DeepLocalize benchmarks: wrong losses."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.cases.stackoverflow_outputs import column, one_hot
from evaluation.published.data.load import breast_cancer, flat_digits, standardized, wine
from evaluation.published.data.made import blobs, moons, multi_label
from evaluation.published.networks import bce, mlp
from evaluation.published.scores import (
    accuracy,
    label_jaccard,
    logit_accuracy,
    one_hot_accuracy,
    probability_accuracy,
)


@faulty(
    "so-58609115", "StackOverflow 58609115; DeepFD no. 29", fix="Use binary_cross_entropy_with_logits for one output."
)
def cross_entropy_on_one_output():
    """Cross-entropy is applied to a single output column, so the loss is 0 whatever the network says."""
    train, test = column(moons())
    given = Recipe(
        network=lambda: mlp(2, 32, 32, 1),
        train=train,
        test=test,
        loss=F.cross_entropy,
        score=logit_accuracy,
        optimizer=adam(3e-3),
    )
    return given, replace(given, loss=bce)


@faulty(
    "so-44164749",
    "StackOverflow 44164749; DeepFD no. 2, DeepLocalize",
    fix="Use binary_cross_entropy_with_logits: the labels are independent.",
)
def softmax_for_labels():
    """Softmax cross-entropy is used for a task in which an example has several labels."""
    train, test = multi_label()
    given = Recipe(network=lambda: mlp(20, 64, 6), train=train, test=test, loss=F.cross_entropy, score=label_jaccard)
    return given, replace(given, loss=F.binary_cross_entropy_with_logits)


@faulty(
    "so-38648195",
    "StackOverflow 38648195; DeepFD no. 6, DeepLocalize",
    fix="Use cross-entropy on the logits instead of squared error of a softmax.",
)
def squared_error_of_softmax():
    """A softmax output is trained with squared error and plain SGD at 0.01, which hardly moves it."""
    train, test = one_hot(flat_digits(), 10)
    given = Recipe(
        network=lambda: nn.Sequential(mlp(64, 64, 64, 10), nn.Softmax(dim=1)), train=train, test=test,
        loss=F.mse_loss, optimizer=sgd(0.01), score=one_hot_accuracy, epochs=25,
    )  # fmt: skip
    return given, replace(given, network=lambda: mlp(64, 64, 64, 10), loss=F.cross_entropy, optimizer=sgd(0.1))


@faulty(
    "so-50079585", "StackOverflow 50079585; DeepFD no. 21, DeepLocalize", fix="Use three outputs with cross-entropy."
)
def one_sigmoid_for_three_classes():
    """Three classes 0, 1 and 2 are predicted by a single sigmoid with binary cross-entropy."""
    train, test = standardized(*wine())

    def score(outputs, targets):
        if outputs.shape[1] == 3:
            return accuracy(outputs, targets[:, 0].long())
        return float((outputs.round() == targets).double().mean())

    def clipped(outputs, targets):
        p = outputs.clamp(1e-7, 1 - 1e-7)
        return -(targets * p.log() + (1 - targets) * (1 - p).log()).mean()

    given = Recipe(
        network=lambda: nn.Sequential(mlp(13, 32, 1), nn.Sigmoid()), train=(train[0], train[1].float()[:, None]),
        test=(test[0], test[1].float()[:, None]), score=score, batch=16, epochs=40,
        loss=clipped,
    )  # fmt: skip
    fixed = replace(
        given, network=lambda: mlp(13, 32, 3), loss=lambda outputs, y: F.cross_entropy(outputs, y[:, 0].long())
    )
    return given, fixed


@faulty(
    "so-41600519",
    "StackOverflow 41600519; DeepFD no. 37",
    fix="Use one output per class with cross-entropy instead of binary cross-entropy on a rounded class index.",
)
def binary_loss_on_class_index():
    """Ten classes are written as numbers from 0 to 0.9 and fitted by one sigmoid with binary cross-entropy."""
    (x, y), (xt, yt) = flat_digits()

    def score(outputs, targets):
        if outputs.shape[1] == 10:
            return accuracy(outputs, (targets[:, 0] * 10).round().long())
        return float(((outputs * 10).round() == (targets * 10).round()).double().mean())

    given = Recipe(
        network=lambda: nn.Sequential(mlp(64, 64, 1), nn.Sigmoid()), train=(x, y.float()[:, None] / 10),
        test=(xt, yt.float()[:, None] / 10), loss=F.binary_cross_entropy, score=score, epochs=10,
    )  # fmt: skip
    fixed = replace(
        given, network=lambda: mlp(64, 64, 10), loss=lambda o, t: F.cross_entropy(o, (t[:, 0] * 10).round().long())
    )
    return given, fixed


@faulty(
    "so-31627380",
    "StackOverflow 31627380; DeepFD no. 28, DeepLocalize",
    fix="Standardize the columns and use Adam with a sigmoid output.",
)
def unscaled_softmax_table():
    """A table with columns of different scales is fitted by a softmax network with SGD and squared error."""
    train, test = one_hot(breast_cancer(), 2)
    given = Recipe(
        network=lambda: nn.Sequential(mlp(30, 20, 2), nn.Softmax(dim=1)), train=train, test=test,
        loss=F.mse_loss, optimizer=sgd(0.01), score=one_hot_accuracy, epochs=15,
    )  # fmt: skip
    train, test = standardized(train, test)
    return given, replace(
        given, train=train, test=test, network=lambda: mlp(30, 20, 2), loss=F.cross_entropy, optimizer=adam()
    )


@faulty(
    "so-39810655",
    "StackOverflow 39810655; DeepFD no. 35",
    fix="Use cross-entropy with class indices instead of squared error on the class number.",
)
def class_number_as_target():
    """The class number is fitted as a number with squared error, as if class 2 were twice class 1."""
    (x, y), (xt, yt) = blobs(classes=6, d=6, spread=0.9)

    def score(outputs, targets):
        if outputs.shape[1] == 6:
            return accuracy(outputs, targets[:, 0].long())
        return float((outputs.round() == targets).double().mean())

    given = Recipe(
        network=lambda: mlp(6, 32, 1),
        train=(x, y.float()[:, None]),
        test=(xt, yt.float()[:, None]),
        score=score,
        epochs=40,
    )
    fixed = replace(given, network=lambda: mlp(6, 32, 6), loss=lambda o, t: F.cross_entropy(o, t[:, 0].long()))
    return given, fixed


@faulty(
    "gh-gol-nn",
    "DeepFD no. 48 (GitHub gol_nn): predicts the next step of the game of life",
    fix="Use binary cross-entropy with logits on the sigmoid-free outputs and train longer.",
)
def game_of_life():
    """The output passes a sigmoid and then a loss that applies a sigmoid again, for only 5 epochs."""
    g = torch.Generator().manual_seed(0)
    boards = (torch.rand(700, 1, 12, 12, generator=g) < 0.4).float()
    neighbors = F.conv2d(
        F.pad(boards, (1, 1, 1, 1), mode="circular"), torch.tensor([[[[1.0, 1, 1], [1, 0, 1], [1, 1, 1]]]])
    )
    alive = ((neighbors == 3) | ((neighbors == 2) & (boards == 1))).float()

    def network(last):
        return nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1, padding_mode="circular"), nn.ReLU(), nn.Conv2d(24, 16, 1), nn.ReLU(), nn.Conv2d(16, 1, 1), last
        )  # fmt: skip

    given = Recipe(
        network=lambda: network(nn.Sigmoid()), train=(boards[:500], alive[:500]), test=(boards[500:], alive[500:]),
        loss=F.binary_cross_entropy_with_logits, score=probability_accuracy, epochs=5, optimizer=adam(3e-3),
    )  # fmt: skip
    return given, replace(given, network=lambda: network(nn.Identity()), score=logit_accuracy, epochs=25)
