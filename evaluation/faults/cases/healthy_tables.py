"""Healthy networks for tables: classification and regression."""

from functools import partial

import torch
from torch import nn

from evaluation.faults.case import Case, healthy
from evaluation.faults.data.changes import as_column, first_rows, targets
from evaluation.faults.data.tables import (
    call_counts,
    categorical_rows,
    diabetes,
    friedman,
    house_prices,
    ratings,
    rent_numbers,
    rents,
    robot_arm,
    sklearn_table,
    smooth_regression,
    uci,
)
from evaluation.faults.data.text import tfidf
from evaluation.faults.models.dense import (
    Recommender,
    ReZero,
    TableWithCategories,
    dense_for_table,
    dense_with_weight_norm,
    perceptron,
    selu_network,
)
from evaluation.faults.networks import (
    cancer_dense,
    eight_columns,
    gelu_table,
    robot_arm_dense,
    silu_table,
    ten_columns_shallow,
    wine_dense,
)
from evaluation.faults.recipes import gaussian_loss, quantile_loss, sgd


def wine_batch_norm_first():
    """A dense network whose first layer is batch norm."""
    return nn.Sequential(nn.BatchNorm1d(13), nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))


TUNING_TABLES = ("statlog-image", "waveform", "semeion", "spambase", "cardiotocography-3clases", "yeast")
HELD_OUT_TABLES = (
    "steel-plates", "wine-quality-white", "contrac", "molec-biol-splice", "titanic", "abalone", "led-display", "bank",
)  # fmt: skip
UNSEEN_TABLES = ("plant-texture", "tic-tac-toe", "mammographic", "chess-krvkp", "libras", "ozone", "balance-scale")
OUTSIDER_TABLES = ("car", "pima", "cardiotocography-10clases", "wine-quality-red", "oocytes_merluccius_states_2f")

CASES: tuple[Case, ...] = (
    # classification
    *(healthy(f"uci-{name}", "tuning", dense_for_table(name), uci(name)) for name in TUNING_TABLES),
    *(healthy(f"uci-{name}", "held-out", gelu_table(name), uci(name)) for name in HELD_OUT_TABLES),
    *(healthy(f"uci-{name}", "unseen", silu_table(name), uci(name)) for name in UNSEEN_TABLES),
    *(healthy(f"uci-{name}", "outsider", silu_table(name), uci(name)) for name in OUTSIDER_TABLES),
    healthy("wine", "held-out", wine_dense, partial(sklearn_table, "wine")),
    healthy("breast-cancer", "held-out", cancer_dense, partial(sklearn_table, "breast_cancer")),
    healthy("one-logit-two-classes", "unseen", partial(perceptron, (166, 64, 1)), uci("musk-1")),
    healthy("one-logit-weight-of-positives", "unseen", partial(perceptron, (36, 64, 1)), uci("chess-krvkp"), change=targets(as_column),
            loss=nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.5]))),
    healthy("ten-million-waveform-noise", "unseen", partial(perceptron, (40, 2200, 2200, 2200, 3)), uci("waveform-noise")),
    healthy("selu-alpha-dropout", "unseen", partial(selu_network, 60, 6), uci("synthetic-control")),
    healthy("rezero", "unseen", partial(ReZero, 34, 6), uci("dermatology")),
    healthy("fifty-rows", "unseen", partial(perceptron, (4, 16, 3)), uci("iris"), change=first_rows(50)),
    healthy("wine-in-original-units-batch-norm-first", "unseen", wine_batch_norm_first, partial(sklearn_table, "wine", standardized=False)),
    healthy("one-hot-rows-with-copies", "unseen", partial(perceptron, (12, 48, 3)), categorical_rows),
    healthy("tfidf-weights-of-words", "unseen", partial(perceptron, (800, 64, 4)), tfidf),
    healthy("logistic-regression", "outsider", partial(perceptron, (64, 100)), uci("plant-margin")),
    # regression
    healthy("regression-standardized-diabetes", "tuning", ten_columns_shallow, diabetes),
    healthy("smooth-regression", "tuning", eight_columns, smooth_regression),
    healthy("regression-users-loss", "tuning", partial(eight_columns, end=nn.Flatten(0)), smooth_regression, loss=nn.MSELoss()),
    healthy("house-prices", "held-out", eight_columns, house_prices),
    healthy("house-prices-sgd", "held-out", eight_columns, house_prices, optimizer=sgd(0.02, momentum=0.9)),
    healthy("diabetes-small-net", "held-out", partial(perceptron, (10, 16, 1), nn.Tanh),
            partial(sklearn_table, "diabetes", regression=True)),
    healthy("robot-arm-three-outputs", "unseen", robot_arm_dense, robot_arm),
    healthy("quantiles", "unseen", partial(perceptron, (10, 64, 3)), friedman, loss=quantile_loss),
    healthy("counts-poisson-loss", "unseen", partial(perceptron, (6, 48, 1), end=nn.Flatten(0)), call_counts, loss=nn.PoissonNLLLoss()),
    healthy("counts-relu-at-the-end", "unseen", partial(perceptron, (6, 48, 1), end=nn.ReLU()), call_counts),
    healthy("ratings", "unseen", Recommender, ratings),
    healthy("weight-norm", "unseen", partial(dense_with_weight_norm, 4, 3), robot_arm),
    healthy("rents-10-million", "outsider", partial(perceptron, (7, 2600, 2600, 1200, 1)), rent_numbers),
    healthy("rents-embeddings", "outsider", TableWithCategories, rents),
    healthy("rents-embeddings-one-number-huber", "outsider", partial(TableWithCategories, squeeze=True), rents, loss=nn.HuberLoss()),
    healthy("rents-mean-and-variance", "outsider", partial(perceptron, (7, 64, 64, 2), nn.Tanh), rent_numbers, loss=gaussian_loss),
)  # fmt: skip
