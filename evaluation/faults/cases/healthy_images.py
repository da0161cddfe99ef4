"""Healthy networks for images."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.case import Case, healthy
from evaluation.faults.data.changes import (
    as_column,
    as_float64,
    flatten_inputs,
    keep_training_rows,
    mixup,
    one_hot,
    one_in,
    targets,
)
from evaluation.faults.data.drawn_images import (
    overlaid_textures,
    shape_masks,
    shapes,
    small_shapes,
    spot_counts,
    spot_positions,
    textures,
)
from evaluation.faults.data.loaders import class_balanced, flipped_and_shifted, in_batches, shifted_and_scaled, streamed
from evaluation.faults.data.mnist import (
    mnist,
    mnist_bytes,
    mnist_color,
    mnist_even,
    mnist_flat,
    mnist_two_digits,
    mnist_unit,
    mnist_unit_flat,
)
from evaluation.faults.data.tables import digits_8x8
from evaluation.faults.models.dense import dense_with_dropout, perceptron
from evaluation.faults.models.edits import initialized, zero_layer
from evaluation.faults.models.encoders import SegmentationUNet
from evaluation.faults.models.images import (
    ConvNext,
    DenseNet,
    MobileNet,
    ResNet18,
    ScalesItsInput,
    cnn,
    depthwise_cnn,
    group_norm_cnn,
    small_cnn,
    spectral_norm_cnn,
    vgg,
)
from evaluation.faults.models.transformers import Mixer, Transformer, VisionTransformer
from evaluation.faults.networks import (
    color_resnet,
    mnist_dense,
    mnist_dense_tanh,
    shape_resnet,
    texture_mixer,
    texture_resnet,
    texture_vit,
)
from evaluation.faults.recipes import (
    adam,
    adamw,
    cosine,
    dice_loss,
    fine_tuned_with_small_rate,
    focal_loss,
    linear_probe_of_autoencoder,
    new_head_on_frozen_backbone,
    restarts,
    sgd,
    steps,
    trained,
    weighted_cross_entropy,
)


def _two_rare_textures(train, test):
    return keep_training_rows(one_in(3, 2))(*keep_training_rows(one_in(2, 5))(train, test))


def _one_rare_texture_balanced(train, test):
    return class_balanced(*keep_training_rows(one_in(6, 4))(train, test))


CASES: tuple[Case, ...] = (
    # MNIST, convolutions
    healthy("cnn-batch-norm", "tuning", cnn, mnist),
    healthy("cnn-batch-norm-other-examples", "tuning", cnn, mnist, draw=1),
    healthy("cnn-without-norm", "tuning", partial(cnn, norm=False), mnist),
    healthy("cnn-gelu", "tuning", partial(cnn, act=nn.GELU), mnist),
    healthy("cnn-dropout", "tuning", partial(cnn, dropout=0.5), mnist),
    healthy("cnn-sgd-with-momentum", "tuning", cnn, mnist, optimizer=sgd(0.05, momentum=0.9)),
    healthy("cnn-adamw", "tuning", cnn, mnist, optimizer=adamw(1e-3, weight_decay=0.01)),
    healthy("cnn-loader", "tuning", cnn, mnist, change=in_batches(64)),
    healthy("cnn-users-loss", "tuning", cnn, mnist, loss=nn.CrossEntropyLoss(label_smoothing=0.1)),
    healthy("cnn-few-examples", "tuning", cnn, partial(mnist, 600, 300)),
    healthy("digits-of-8-x-8", "held-out", small_cnn, digits_8x8),
    healthy("digits-pixels-in-0-to-1", "held-out", partial(small_cnn, 10, 28), mnist_unit),
    healthy("densenet", "held-out", DenseNet, mnist),
    healthy("densenet-nesterov", "held-out", DenseNet, mnist, optimizer=sgd(0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)),
    healthy("one-output-two-classes", "held-out", partial(small_cnn, 1, 28), mnist_even, change=targets(as_column),
            loss=nn.BCEWithLogitsLoss()),
    healthy("sigmoid-with-its-own-loss", "held-out", partial(small_cnn, 1, 28, nn.Sigmoid()), mnist_even, change=targets(as_column),
            loss=nn.BCELoss()),
    healthy("two-outputs", "held-out", partial(small_cnn, 2, 28), mnist_even),
    healthy("cnn-in-float64", "unseen", lambda: cnn().double(), partial(mnist, 2000, 500), change=as_float64),
    healthy("pixels-scaled-inside", "unseen", partial(ScalesItsInput, cnn), mnist_bytes),
    healthy("spectral-norm", "unseen", spectral_norm_cnn, mnist),
    healthy("stream-of-examples", "unseen", cnn, partial(mnist, 2500, 600), change=streamed),
    healthy("log-softmax-before-cross-entropy", "unseen", partial(cnn, end=nn.LogSoftmax(1)), mnist),
    # MNIST, dense layers and patches
    healthy("perceptron", "tuning", mnist_dense, mnist_flat),
    healthy("perceptron-tanh", "tuning", mnist_dense_tanh, mnist_flat),
    healthy("perceptron-batch-norm", "tuning", partial(mnist_dense, norm=True), mnist_flat),
    healthy("perceptron-sgd", "tuning", mnist_dense, mnist_flat, optimizer=sgd(0.1)),
    healthy("perceptron-adam-3e-4", "tuning", mnist_dense, mnist_flat, optimizer=adam(3e-4)),
    healthy("perceptron-rmsprop", "tuning", mnist_dense, mnist_flat, optimizer=adam(1e-3, torch.optim.RMSprop)),
    healthy("perceptron-10-million", "tuning", partial(perceptron, (784, 2600, 2600, 500, 10)), mnist_flat),
    healthy("transformer-patches", "tuning", partial(Transformer, patches=True, classes=10), mnist),
    healthy("vit", "held-out", VisionTransformer, mnist),
    healthy("mixer", "held-out", Mixer, mnist),
    healthy("multilabel", "unseen", partial(perceptron, (1568, 200, 10)), mnist_two_digits, change=flatten_inputs,
            loss=nn.BCEWithLogitsLoss()),
    healthy("dropout-after-every-layer", "outsider", partial(dense_with_dropout, (784, 512, 512, 10)), mnist_unit_flat),
    healthy("sigmoid-units", "outsider", partial(perceptron, (784, 128, 64, 10), nn.Sigmoid), mnist_unit_flat, optimizer=adam(3e-3)),
    # color images
    healthy("resnet-18-width-16", "tuning", color_resnet, mnist_color),
    healthy("resnet-18-11-million", "tuning", ResNet18, mnist_color),
    healthy("vgg-shapes", "unseen", vgg, small_shapes),
    healthy("mobilenet-cosine-schedule", "unseen", MobileNet, small_shapes, optimizer=sgd(0.05, momentum=0.9), schedule=cosine),
    healthy("resnet-18-augmenting-loader", "unseen", shape_resnet, small_shapes, change=flipped_and_shifted),
    healthy("resnet-18-group-norm", "unseen", partial(shape_resnet, norm=partial(nn.GroupNorm, 4)), small_shapes),
    healthy("resnet-18-branches-start-at-zero", "unseen", partial(shape_resnet, zero=True), small_shapes, optimizer=adamw(1e-3)),
    healthy("class-weights-and-smoothing", "unseen", vgg, small_shapes,
            loss=weighted_cross_entropy(1.0, 2.0, 1.0, 1.5, 1.0, smoothing=0.05)),
    healthy("one-hot-labels", "unseen", vgg, small_shapes, change=one_hot(5), loss=nn.CrossEntropyLoss()),
    healthy("rare-class-weighted", "unseen", partial(vgg, 8), shapes, change=keep_training_rows(one_in(8, 2)),
            loss=weighted_cross_entropy(1.0, 1.0, 8.0, 1.0, 1.0)),
    healthy("head-starts-at-zero", "unseen", initialized(vgg, zero_layer("25")), small_shapes),
    healthy("textures-resnet-18-steps", "outsider", texture_resnet, textures,
            optimizer=sgd(0.05, momentum=0.9, weight_decay=5e-4), schedule=steps),
    healthy("textures-vit-adamw", "outsider", texture_vit, textures, optimizer=adamw(1e-3, weight_decay=0.05), schedule=cosine),
    healthy("textures-convnext", "outsider", ConvNext, textures),
    healthy("textures-mixer-warm-restarts", "outsider", texture_mixer, textures, optimizer=sgd(0.05, momentum=0.9), schedule=restarts),
    healthy("textures-depthwise-loader", "outsider", depthwise_cnn, textures, change=shifted_and_scaled),
    healthy("textures-class-weights-and-smoothing", "outsider", partial(depthwise_cnn, dropout=0.2), textures,
            loss=weighted_cross_entropy(1.0, 1.0, 3.0, 1.0, 1.0, 2.0, smoothing=0.1), change=_two_rare_textures),
    healthy("textures-balanced-sampling", "outsider", depthwise_cnn, partial(textures, 2400), change=_one_rare_texture_balanced),
    healthy("textures-mixup", "outsider", depthwise_cnn, textures, change=mixup, loss=nn.CrossEntropyLoss()),
    healthy("textures-focal-loss", "outsider", depthwise_cnn, textures, loss=focal_loss, change=keep_training_rows(one_in(4, 1))),
    healthy("textures-multilabel", "outsider", depthwise_cnn, overlaid_textures, loss=nn.BCEWithLogitsLoss(pos_weight=torch.full((6,), 2.0))),
    # numbers and masks
    healthy("spot-counts-group-norm", "outsider", group_norm_cnn, spot_counts),
    healthy("spot-positions-sigmoid-at-the-end", "outsider", partial(group_norm_cnn, 2, end=nn.Sigmoid()), spot_positions,
            loss=nn.SmoothL1Loss()),
    healthy("segmentation-dice", "unseen", SegmentationUNet, shape_masks, loss=dice_loss),
    healthy("segmentation-classes-of-pixels", "unseen", partial(SegmentationUNet, 3), partial(shape_masks, kinds=True),
            loss=nn.CrossEntropyLoss()),
    healthy("segmentation-own-function", "unseen", partial(SegmentationUNet, 3), partial(shape_masks, kinds=True),
            loss=lambda f, y: F.cross_entropy(f, y)),
    # networks that were trained before
    Case("trained-cnn", "healthy", (), "unseen", partial(trained, cnn, mnist, 200)),
    Case("new-head-on-a-frozen-backbone", "healthy", (), "unseen", new_head_on_frozen_backbone),
    Case("linear-probe-of-an-autoencoder", "healthy", (), "outsider", linear_probe_of_autoencoder),
    Case("fine-tuned-with-a-small-learning-rate", "healthy", (), "outsider", partial(fine_tuned_with_small_rate, texture_vit)),
)  # fmt: skip
