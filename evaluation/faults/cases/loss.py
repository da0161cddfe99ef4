"""Faults between the last layer and the loss: a second activation, a broadcast, targets out of reach."""

from functools import partial

import torch
from torch import nn

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import as_column, flatten_inputs, targets
from evaluation.faults.data.drawn_images import (
    overlaid_textures,
    shape_masks,
    small_shapes,
    spot_counts,
    spot_positions,
    textures,
)
from evaluation.faults.data.graphs import molecules, point_clouds, random_graphs
from evaluation.faults.data.mnist import (
    mnist,
    mnist_color,
    mnist_even,
    mnist_flat,
    mnist_rows,
    mnist_two_digits,
    mnist_unit_flat,
    reconstruct,
)
from evaluation.faults.data.tables import diabetes, friedman, rents, smooth_regression
from evaluation.faults.data.text import markov_text, reversed_digits, reviews, topic_tokens
from evaluation.faults.models.dense import TableWithCategories, perceptron
from evaluation.faults.models.encoders import Autoencoder, SegmentationUNet, VariationalAutoencoder, conv_autoencoder
from evaluation.faults.models.graphs import GCN, GIN, PointNet
from evaluation.faults.models.images import DenseNet, ResNet18, cnn, depthwise_cnn, group_norm_cnn, small_cnn, vgg
from evaluation.faults.models.sequences import LastStepLSTM, MeanLSTM
from evaluation.faults.models.transformers import CausalTransformer, PositionLabeler, Transformer
from evaluation.faults.networks import texture_vit
from evaluation.faults.recipes import dice_loss, next_word_loss, vae_pixel_loss, weighted_cross_entropy


def _squared_error(f, y):
    return (f - y).square().mean()


CASES: tuple[Case, ...] = (
    # softmax before a loss that applies it again
    faulty("cnn-ends-in-softmax", "tuning", partial(cnn, end=nn.Softmax(1)), mnist, "softmax-before-loss"),
    faulty("resnet-ends-in-softmax", "tuning", partial(ResNet18, 16, wrong="softmax"), mnist_color, "softmax-before-loss"),
    faulty("lstm-ends-in-softmax", "tuning", partial(LastStepLSTM, wrong="softmax"), mnist_rows, "softmax-before-loss"),
    faulty("transformer-ends-in-softmax", "tuning", partial(Transformer, wrong="softmax"), topic_tokens, "softmax-before-loss"),
    faulty("densenet-ends-in-softmax", "held-out", partial(DenseNet, end=nn.Softmax(1)), mnist, "softmax-before-loss"),
    faulty("vgg-ends-in-softmax-own-loss", "unseen", partial(vgg, end=nn.Softmax(1)), small_shapes, "softmax-before-loss",
           loss=weighted_cross_entropy(1.0, 2.0, 1.0, 1.5, 1.0, smoothing=0.05)),
    faulty("softmax-by-hand", "unseen", partial(MeanLSTM, wrong="softmax by hand"), reviews, "softmax-before-loss"),
    faulty("language-model-ends-in-softmax", "unseen", partial(CausalTransformer, wrong="softmax"), markov_text,
           "softmax-before-loss", loss=next_word_loss),
    faulty("probabilities-for-nll-loss", "unseen", partial(cnn, end=nn.Softmax(1)), mnist, "softmax-before-loss", loss=nn.NLLLoss()),
    faulty("vit-ends-in-softmax", "outsider", partial(texture_vit, end=nn.Softmax(-1)), textures, "softmax-before-loss"),
    faulty("pointnet-ends-in-softmax", "outsider", partial(PointNet, end=nn.Softmax(1)), point_clouds, "softmax-before-loss"),
    faulty("position-labels-end-in-softmax", "outsider", partial(PositionLabeler, wrong="softmax"), reversed_digits,
           "softmax-before-loss", loss=nn.CrossEntropyLoss()),
    # sigmoid before a loss that applies it again
    faulty("cnn-ends-in-sigmoid", "tuning", partial(cnn, end=nn.Sigmoid()), mnist, "sigmoid-before-loss"),
    faulty("sigmoid-before-the-logistic-loss", "held-out", partial(small_cnn, 1, 28, nn.Sigmoid()), mnist_even,
           "sigmoid-before-loss", change=targets(as_column), loss=nn.BCEWithLogitsLoss()),
    faulty("multilabel-sigmoid", "unseen", partial(perceptron, (1568, 200, 10), end=nn.Sigmoid()), mnist_two_digits,
           "sigmoid-before-loss", change=flatten_inputs, loss=nn.BCEWithLogitsLoss()),
    faulty("segmentation-ends-in-sigmoid", "unseen", partial(SegmentationUNet, wrong="sigmoid"), shape_masks,
           "sigmoid-before-loss", loss=dice_loss),
    faulty("multilabel-textures-end-in-sigmoid", "outsider", lambda: nn.Sequential(depthwise_cnn(), nn.Sigmoid()),
           overlaid_textures, "sigmoid-before-loss", loss=nn.BCEWithLogitsLoss()),
    faulty("vae-sigmoid-applied-twice", "outsider", partial(VariationalAutoencoder, 16, 256, nn.ReLU, wrong="sigmoid"),
           partial(reconstruct, mnist_unit_flat), "sigmoid-before-loss", loss=vae_pixel_loss),
    # ReLU before the loss, and outputs that cannot reach the targets
    faulty("cnn-ends-in-relu", "tuning", partial(cnn, end=nn.ReLU()), mnist, ("relu-before-loss", "dead-units")),
    faulty("gcn-ends-in-relu", "tuning", partial(GCN, wrong="relu"), random_graphs, ("relu-before-loss", "dead-units")),
    faulty("autoencoder-ends-in-sigmoid", "tuning", partial(Autoencoder, nn.Sigmoid()),
           partial(reconstruct, partial(mnist_flat, 3000, 800)), "targets-out-of-reach"),
    faulty("regression-ends-in-relu", "tuning", partial(perceptron, (8, 64, 1), end=nn.ReLU()), smooth_regression,
           "targets-out-of-reach"),
    faulty("autoencoder-ends-in-tanh", "unseen", partial(conv_autoencoder, end=nn.Tanh()),
           partial(reconstruct, partial(mnist, 2500, 600)), "targets-out-of-reach"),
    faulty("spot-positions-in-pixels-sigmoid-at-the-end", "outsider", partial(group_norm_cnn, 2, end=nn.Sigmoid()),
           partial(spot_positions, scale=32.0), ("targets-out-of-reach", "target-scale"), loss=nn.SmoothL1Loss()),
    # outputs (n, 1) and targets (n,), which broadcast to (n, n)
    faulty("broadcast-n-1", "tuning", partial(perceptron, (8, 64, 64, 1)), smooth_regression, "broadcast-loss", loss=nn.MSELoss()),
    faulty("broadcast-diabetes", "tuning", partial(perceptron, (10, 64, 1)), diabetes, "broadcast-loss", loss=nn.L1Loss()),
    faulty("two-classes-in-one-column-broadcast", "held-out", partial(small_cnn, 1, 28), mnist_even, "broadcast-loss",
           change=targets(torch.Tensor.float), loss=_squared_error),
    faulty("broadcast-huber", "unseen", partial(perceptron, (10, 64, 64, 1)), friedman, "broadcast-loss", loss=nn.HuberLoss()),
    faulty("broadcast-column-of-targets", "unseen", GIN, molecules, "broadcast-loss", change=targets(lambda y: y[:, None]),
           loss=lambda f, y: (f - y).abs().mean()),
    faulty("spot-counts-broadcast", "outsider", group_norm_cnn, spot_counts, "broadcast-loss", loss=nn.MSELoss()),
    faulty("rents-broadcast-own-loss", "outsider", TableWithCategories, rents, "broadcast-loss", loss=_squared_error),
)  # fmt: skip
