"""Wrong labels and targets: the checks of cleanlab and reports of label errors."""

from dataclasses import replace

import torch
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import breast_cancer, digits, flat_digits, standardized
from evaluation.published.data.made import (
    generator,
    housing,
    multi_label,
    regression,
    shapes,
)
from evaluation.published.networks import SmallCNN, UNet, mlp
from evaluation.published.scores import mean_iou


@faulty(
    "labels-one-class-as-another",
    "cleanlab: class-conditional label noise (Northcutt et al. 2021)",
    fix="Relabel the 4s that are labeled 9.",
)
def fours_labeled_nine():
    """Seven tenths of the 4s in the training set are labeled 9."""
    (x, y), test = flat_digits()
    flip = (y == 4) & (torch.rand(len(y), generator=generator(6)) < 0.7)
    given = Recipe(network=lambda: mlp(64, 64, 10), train=(x, torch.where(flip, 9, y)), test=test, epochs=20)
    return given, replace(given, train=(x, y))


@faulty(
    "labels-random-twenty-percent",
    "cleanlab: label noise; TrainCheck and DeepCrime TCL",
    fix="Find and correct the wrong labels (20 % of the rows).",
)
def random_labels_in_tables():
    """30 % of the training labels are wrong at random, and the network memorizes them."""
    (x, y), test = standardized(*breast_cancer())
    flip = torch.rand(len(y), generator=generator(7)) < 0.3
    given = Recipe(network=lambda: mlp(30, 256, 256, 2), train=(x, torch.where(flip, 1 - y, y)), test=test, epochs=40)
    return given, replace(given, train=(x, y))


@faulty(
    "labels-shuffled",
    "Zhang et al. 2017; Humbatova et al. 2020, leaf: wrong labels",
    fix="Shuffle inputs and labels together, with one permutation.",
)
def labels_shuffled():
    """The inputs were shuffled but the labels were not, so labels and inputs have nothing to do with each other."""
    (x, y), test = digits()
    given = Recipe(network=SmallCNN, train=(x[torch.randperm(len(x), generator=generator(8))], y), test=test, epochs=10)
    return given, replace(given, train=(x, y))


@faulty(
    "labels-off-by-one-row",
    "Karpathy, A Recipe for Training Neural Networks: data and labels misaligned",
    fix="Align the rows: labels belong to the row above.",
)
def labels_off_by_one_row():
    """The labels are shifted by one row in training and test data, for example by a header line."""
    (x, y), (xt, yt) = regression()
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y.roll(1, 0)), test=(xt, yt.roll(1, 0)), epochs=15)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "targets-noisy-regression",
    "cleanlab: noisy targets in regression",
    fix="Find and remove the rows whose targets are wrong by a factor of 10.",
)
def wrong_targets_in_regression():
    """One training target in eight was entered in the wrong unit, ten times too large."""
    (x, y), test = standardized(*housing())
    wrong = torch.rand(len(y), 1, generator=generator(9)) < 0.12
    given = Recipe(network=lambda: mlp(8, 64, 64, 1), train=(x, torch.where(wrong, 10 * y, y)), test=test, epochs=30)
    return given, replace(given, train=(x, y))


@faulty(
    "labels-missing-multi-label",
    "cleanlab: multi-label errors",
    fix="Complete the labels: two thirds of the positive labels are missing.",
)
def labels_left_out():
    """Annotators left out 65 % of the positive labels in the training set."""
    (x, y), test = multi_label()
    kept = y * (torch.rand(y.shape, generator=generator(13)) > 0.65)

    def score(o, t):
        return float(((o > 0) == (t > 0.5)).double().mean())

    given = Recipe(
        network=lambda: mlp(20, 64, 6),
        train=(x, kept),
        test=test,
        loss=F.binary_cross_entropy_with_logits,
        score=score,
        epochs=20,
    )
    return given, replace(given, train=(x, y))


@faulty(
    "labels-shifted-masks",
    "cleanlab: segmentation label errors",
    fix="Align the masks with the images: they are shifted by four pixels.",
)
def masks_shifted():
    """The masks of the training images are shifted by four pixels."""
    (x, y), test = shapes()
    given = Recipe(
        network=UNet, train=(x, y.roll((4, 4), (1, 2))), test=test, score=mean_iou, epochs=12, optimizer=adam(3e-3)
    )
    return given, replace(given, train=(x, y))
