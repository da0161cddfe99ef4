"""Faults of inputs and targets: wrong scale, constant or repeated columns, NaN."""

from functools import partial

import torch

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import append_columns, change_column, inputs, nan_in_a_column, targets
from evaluation.faults.data.drawn_images import small_shapes
from evaluation.faults.data.mnist import byte_range, mnist
from evaluation.faults.data.series import phone_sensors
from evaluation.faults.data.tables import (
    diabetes,
    friedman,
    house_prices,
    rent_numbers,
    rents,
    robot_arm,
    sklearn_table,
    smooth_regression,
    uci,
)
from evaluation.faults.models.dense import TableWithCategories, perceptron
from evaluation.faults.models.images import cnn, vgg
from evaluation.faults.models.sequences import SensorNetwork
from evaluation.faults.models.transformers import VisionTransformer
from evaluation.faults.networks import (
    cancer_dense,
    eight_columns,
    rent_dense,
    robot_arm_dense,
    silu_table,
    ten_columns,
    ten_columns_shallow,
    wine_dense,
)

COLUMN_SCALE = ("feature-scale", "input-scale")
ANY_SCALE = ("target-scale", *COLUMN_SCALE)

CASES: tuple[Case, ...] = (
    # scale of inputs
    faulty("pixels-of-255", "tuning", cnn, mnist, "input-scale", change=inputs(byte_range)),
    faulty("pixels-of-255-vit", "held-out", VisionTransformer, mnist, "input-scale", change=inputs(byte_range)),
    faulty("vgg-without-norm-pixels-of-255", "unseen", partial(vgg, norm=False), small_shapes,
           ("input-scale", "exploding-activations"), change=inputs(lambda x: 255 * (0.3 * x + 0.5))),
    faulty("one-column-of-thousands", "tuning", eight_columns, smooth_regression, COLUMN_SCALE,
           change=change_column(0, lambda v: 1000 * v)),
    faulty("wine-in-original-units", "held-out", wine_dense, partial(sklearn_table, "wine", standardized=False), COLUMN_SCALE),
    faulty("breast-cancer-in-original-units", "held-out", cancer_dense, partial(sklearn_table, "breast_cancer", standardized=False),
           COLUMN_SCALE),
    faulty("a-column-of-dates", "unseen", silu_table("waveform", norm=False), uci("waveform"), COLUMN_SCALE,
           change=inputs(lambda x: torch.cat([x[:, :-1], 1.6e9 + 1e6 * x[:, -1:]], 1))),
    faulty("one-channel-in-raw-counts", "outsider", partial(SensorNetwork, norm=False), phone_sensors, COLUMN_SCALE,
           change=change_column(4, lambda v: 2048 + 700 * v)),
    faulty("row-numbers-as-a-column", "outsider", partial(perceptron, (22, 96, 10)), uci("cardiotocography-10clases"), COLUMN_SCALE,
           change=append_columns(lambda x: 1e5 + torch.arange(len(x)).float()[:, None])),
    # scale of targets
    faulty("diabetes-in-original-units", "tuning", ten_columns_shallow, partial(diabetes, False), ANY_SCALE),
    faulty("targets-of-thousands", "tuning", eight_columns, smooth_regression, "target-scale", change=targets(lambda y: 3000 + 800 * y)),
    faulty("house-prices-in-dollars", "held-out", eight_columns, house_prices, "target-scale", change=targets(lambda y: 2e5 + 1e5 * y)),
    faulty("friedman-2-in-original-units", "unseen", partial(perceptron, (4, 64, 1)), partial(friedman, kind=2), ANY_SCALE),
    faulty("one-of-three-targets-in-millimeters", "unseen", robot_arm_dense, partial(robot_arm, scale=(1000.0, 1.0, 1.0)), "target-scale"),
    faulty("targets-of-a-millionth", "unseen", ten_columns, friedman, "target-scale", change=targets(lambda y: 1e-6 * y)),
    faulty("rents-in-original-units", "outsider", partial(TableWithCategories, norm=False), partial(rents, raw=True), ANY_SCALE),
    faulty("temperatures-in-kelvin", "outsider", rent_dense, rent_numbers, "target-scale", change=targets(lambda y: 293 + 5 * y)),
    # constant and repeated columns
    faulty("constant-columns", "tuning", ten_columns_shallow, smooth_regression, "constant-features",
           change=append_columns(lambda x: torch.full((len(x), 2), 3.0))),
    faulty("constant-columns-seeds", "unseen", partial(perceptron, (12, 64, 3)), uci("seeds"), "constant-features",
           change=append_columns(lambda x: 0 * x[:, :5] + 7)),
    faulty("a-broken-sensor", "outsider", SensorNetwork, phone_sensors, "constant-features", change=change_column(3, lambda v: 0 * v)),
    faulty("repeated-columns", "tuning", ten_columns_shallow, smooth_regression, "repeated-features",
           change=append_columns(lambda x: x[:, :2])),
    faulty("columns-twice-steel", "unseen", partial(perceptron, (31, 64, 7)), uci("steel-plates"), "repeated-features",
           change=append_columns(lambda x: x[:, :4])),
    faulty("celsius-and-fahrenheit", "outsider", partial(perceptron, (9, 64, 64, 1)), rent_numbers, "repeated-features",
           change=append_columns(lambda x: 1.8 * x[:, :2] + 0.3)),
    # values that are not finite
    faulty("nan-in-a-column", "unseen", ten_columns, friedman, "not-finite", error_text="nan", change=nan_in_a_column),
)  # fmt: skip
