"""Faults of labels and targets: wrong, shuffled, misaligned, contradicting, misnumbered, missing or rare classes."""

from functools import partial

import torch
from torch import nn

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import (
    as_column,
    contradict,
    half_of_inputs_copied,
    keep_training_rows,
    misaligned,
    mostly_class_0,
    one_in,
    relabel,
    shuffle,
    sort_before_split,
    targets,
    train_targets,
    wrong_labels,
)
from evaluation.faults.data.drawn_images import shapes, textures
from evaluation.faults.data.graphs import point_clouds
from evaluation.faults.data.mnist import mnist, mnist_color, mnist_flat
from evaluation.faults.data.series import heartbeats, phone_sensors, seasonal_windows
from evaluation.faults.data.tables import digits_8x8, friedman, rent_numbers, uci
from evaluation.faults.data.text import shop_requests, topic_tokens
from evaluation.faults.models.dense import dense_for_table, perceptron
from evaluation.faults.models.graphs import PointNet
from evaluation.faults.models.images import cnn, small_cnn, vgg
from evaluation.faults.models.sequences import (
    AttentionRNN,
    BagOfWords,
    DilatedConvolutions,
    Forecaster,
    SensorNetwork,
    TokenGRU,
)
from evaluation.faults.models.transformers import Transformer
from evaluation.faults.networks import color_resnet, gelu_table, mnist_dense, silu_table, ten_columns, texture_resnet


def _plus_one(y):
    return y + 1


def _rare_class(k, label):
    """Two classes: one label against the others; one in k of its training examples is kept."""
    two_classes, rare = targets(lambda y: (y == label).long()), keep_training_rows(one_in(k, 1))
    return lambda train, test: rare(*two_classes(train, test))


def _one_label_outside(train, test):
    return (train[0], train[1].clone().index_fill_(0, torch.tensor([3]), 99)), test


CASES: tuple[Case, ...] = (
    # no relation between inputs and labels
    faulty("labels-shuffled-cnn", "tuning", cnn, mnist, "labels-unrelated", change=train_targets(shuffle)),
    faulty("labels-shuffled-perceptron", "tuning", mnist_dense, mnist_flat, "labels-unrelated", change=train_targets(shuffle)),
    faulty("steel-plates-shuffled", "held-out", gelu_table("steel-plates"), uci("steel-plates"), "labels-unrelated",
           change=train_targets(shuffle)),
    faulty("tokens-shuffled", "held-out", BagOfWords, topic_tokens, "labels-unrelated", change=train_targets(shuffle)),
    faulty("heartbeats-rows-misaligned", "unseen", DilatedConvolutions, heartbeats, "labels-unrelated", change=misaligned),
    faulty("forecast-targets-misaligned", "unseen", Forecaster, seasonal_windows, ("labels-unrelated", "not-learning"),
           change=misaligned),
    faulty("friedman-targets-shuffled", "unseen", ten_columns, friedman, "labels-unrelated", change=train_targets(shuffle)),
    faulty("shop-requests-labels-shuffled", "outsider", partial(AttentionRNN, cell=nn.GRU), shop_requests,
           ("labels-unrelated", "not-learning"), change=train_targets(shuffle)),
    faulty("rents-targets-shuffled", "outsider", partial(perceptron, (7, 64, 64, 1), nn.SiLU), rent_numbers,
           ("labels-unrelated", "not-learning"), change=train_targets(shuffle)),
    # a share of wrong labels
    faulty("10-percent-wrong-labels-cnn", "tuning", cnn, mnist, "noisy-labels", change=wrong_labels(0.1)),
    faulty("20-percent-wrong-labels-perceptron", "tuning", mnist_dense, mnist_flat, "noisy-labels", change=wrong_labels(0.2)),
    faulty("15-percent-wrong-labels-resnet", "tuning", color_resnet, mnist_color, "noisy-labels", change=wrong_labels(0.15)),
    faulty("15-percent-wrong-labels-semeion", "tuning", dense_for_table("semeion"), uci("semeion"), "noisy-labels",
           change=wrong_labels(0.15)),
    faulty("digits-20-percent-wrong-labels", "held-out", small_cnn, digits_8x8, "noisy-labels", change=wrong_labels(0.2, 5)),
    faulty("splice-15-percent-wrong-labels", "held-out", gelu_table("molec-biol-splice"), uci("molec-biol-splice"),
           "noisy-labels", change=wrong_labels(0.15, 5)),
    faulty("tokens-20-percent-wrong-labels", "held-out", TokenGRU, topic_tokens, "noisy-labels", change=wrong_labels(0.2, 5)),
    faulty("shapes-12-percent-wrong-labels", "unseen", vgg, shapes, "noisy-labels", change=wrong_labels(0.12, 3)),
    faulty("vehicles-30-percent-wrong-labels", "unseen", silu_table("statlog-vehicle"), uci("statlog-vehicle"), "noisy-labels",
           change=wrong_labels(0.3, 3)),
    faulty("sevens-labeled-as-ones", "unseen", cnn, mnist, "noisy-labels", change=relabel(0.35, 7, 1)),
    faulty("textures-20-percent-wrong-labels", "outsider", texture_resnet, textures, "noisy-labels", change=wrong_labels(0.2, 7)),
    faulty("sensors-15-percent-wrong-labels", "outsider", SensorNetwork, phone_sensors, "noisy-labels", change=wrong_labels(0.15, 7)),
    # the same input with different labels
    faulty("contradictions-cnn", "tuning", cnn, mnist, "conflicting-labels", change=contradict(0.1)),
    faulty("contradictions-tokens", "tuning", Transformer, topic_tokens, "conflicting-labels", change=contradict(0.1)),
    faulty("digits-contradictions", "held-out", small_cnn, digits_8x8, "conflicting-labels", change=contradict(0.1)),
    faulty("half-of-inputs-copied", "held-out", small_cnn, digits_8x8, "conflicting-labels", change=half_of_inputs_copied),
    faulty("rows-twice-with-other-labels", "unseen", silu_table("chess-krvkp"), uci("chess-krvkp"), "conflicting-labels",
           change=contradict(0.15)),
    faulty("point-clouds-twice-with-other-labels", "outsider", PointNet, point_clouds, "conflicting-labels", change=contradict(0.1)),
    # numbers of classes
    faulty("labels-from-1", "tuning", cnn, mnist, error_text="number classes from 0", change=train_targets(_plus_one)),
    faulty("labels-minus-1", "tuning", cnn, mnist, error_text="classes 0, 1, 2", change=train_targets(lambda y: y - 1)),
    faulty("labels-from-1-one-output-more", "tuning", partial(perceptron, (784, 128, 11)), mnist_flat, "labels-off-by-one",
           change=targets(_plus_one)),
    faulty("plants-numbered-from-1", "unseen", silu_table("plant-texture", 128), uci("plant-texture"),
           error_text="number classes from 0", change=targets(_plus_one)),
    faulty("one-label-outside", "unseen", silu_table("libras"), uci("libras"), error_text="outputs", change=_one_label_outside),
    faulty("labels-of-minus-1-and-1", "unseen", partial(perceptron, (36, 64, 1)), uci("chess-krvkp"), error_text="-1",
           change=targets(lambda y: 2 * as_column(y) - 1), loss=nn.BCEWithLogitsLoss()),
    faulty("activities-from-1", "outsider", SensorNetwork, phone_sensors, error_text="number classes from 0", change=targets(_plus_one)),
    faulty("activities-from-1-seven-outputs", "outsider", partial(SensorNetwork, 7), phone_sensors, "labels-off-by-one",
           change=targets(_plus_one)),
    # missing and rare classes
    faulty("a-class-missing", "tuning", cnn, mnist, "class-missing", change=keep_training_rows(lambda y: y != 7)),
    faulty("a-class-missing-perceptron", "tuning", mnist_dense, mnist_flat, "class-missing", change=keep_training_rows(lambda y: y > 1)),
    faulty("imbalance", "tuning", cnn, partial(mnist, 20000, 1000), ("imbalance", "class-shift"),
           change=keep_training_rows(mostly_class_0)),
    faulty("digits-a-class-missing", "held-out", small_cnn, digits_8x8, "class-missing", change=keep_training_rows(lambda y: y != 3)),
    faulty("two-classes-missing", "unseen", silu_table("libras"), uci("libras"), "class-missing",
           change=keep_training_rows(lambda y: y < 13)),
    faulty("one-in-fifty", "unseen", partial(vgg, 8, 2), partial(shapes, 3000, 600), "imbalance", change=_rare_class(50, 1)),
    faulty("sorted-before-the-split", "outsider", partial(perceptron, (64, 128, 100)), uci("plant-margin"),
           ("class-missing", "class-shift"), change=sort_before_split),
    faulty("one-activity-in-sixty", "outsider", SensorNetwork, partial(phone_sensors, 6000, 600), ("imbalance", "class-shift"),
           change=_rare_class(60, 5)),
)  # fmt: skip
