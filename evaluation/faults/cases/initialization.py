"""Faults of the initialization: signals that vanish, explode or saturate, dead units, layers of zeros."""

from functools import partial

from torch import nn

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import flatten_inputs
from evaluation.faults.data.drawn_images import small_shapes, textures
from evaluation.faults.data.mnist import mnist, mnist_flat
from evaluation.faults.data.series import phone_sensors
from evaluation.faults.data.tables import rent_numbers, uci
from evaluation.faults.models.dense import perceptron
from evaluation.faults.models.edits import (
    each_layer,
    initialized,
    large_mixer_without_norm,
    scale_weights,
    set_bias,
    tiny_weights,
    zero_layer,
)
from evaluation.faults.models.images import cnn, vgg
from evaluation.faults.models.sequences import SensorNetwork, TanhRNN
from evaluation.faults.models.transformers import Mixer
from evaluation.faults.networks import mnist_dense_tanh, texture_mixer

VANISHING = ("vanishing-activations", "vanishing-gradients")
EXPLODING = ("exploding-activations", "exploding-gradients")
SATURATED = ("saturated-units", *EXPLODING, "vanishing-gradients")

six_layers = partial(perceptron, (784, *[128] * 6, 10))
unit_normal = each_layer(lambda layer: nn.init.normal_(layer.weight, std=1.0))
vgg_without_norm = partial(vgg, norm=False)

CASES: tuple[Case, ...] = (
    # too small
    faulty("tiny-weights", "tuning", initialized(six_layers, each_layer(tiny_weights)), mnist_flat, VANISHING),
    faulty("weights-of-zero", "tuning", initialized(cnn, zero_layer("9")), mnist, ("zero-weights", "vanishing-activations")),
    faulty("30-layers-of-tanh", "tuning", initialized(partial(perceptron, (784, *[100] * 30, 10), nn.Tanh),
           each_layer(lambda layer: nn.init.normal_(layer.weight, std=0.5 / layer.weight.shape[1] ** 0.5))), mnist_flat, VANISHING),
    faulty("small-weights-mixer", "held-out", initialized(Mixer, scale_weights(0.05)), mnist, VANISHING),
    faulty("eight-layers-of-sigmoid", "held-out", partial(perceptron, (784, *[64] * 8, 10), nn.Sigmoid), mnist_flat,
           (*VANISHING, "merged-inputs", "not-learning")),
    faulty("vgg-of-tiny-weights", "unseen", initialized(vgg_without_norm, scale_weights(0.05)), small_shapes, VANISHING),
    faulty("twelve-layers-of-sigmoid", "outsider", partial(perceptron, (384, *[96] * 12, 6), nn.Sigmoid), phone_sensors,
           (*VANISHING, "merged-inputs", "not-learning"), change=flatten_inputs),
    faulty("rents-weights-of-a-fiftieth", "outsider", initialized(partial(perceptron, (7, 64, 64, 64, 64, 1)), scale_weights(0.02)),
           rent_numbers, (*VANISHING, "merged-inputs")),
    # too large
    faulty("huge-weights-relu", "tuning", initialized(six_layers, unit_normal), mnist_flat, EXPLODING),
    faulty("ten-layers-of-large-weights", "unseen", initialized(partial(perceptron, (60, *[200] * 10, 6)), scale_weights(6.0)),
           uci("synthetic-control"), EXPLODING),
    faulty("mixer-of-large-weights-no-norm", "outsider", initialized(texture_mixer, large_mixer_without_norm), textures, EXPLODING),
    faulty("saturated-tanh", "tuning", initialized(mnist_dense_tanh, unit_normal), mnist_flat, SATURATED),
    faulty("saturated-sigmoid", "unseen", initialized(partial(perceptron, (40, 128, 128, 3), nn.Sigmoid), scale_weights(60.0)),
           uci("waveform-noise"), SATURATED),
    faulty("recurrence-that-saturates", "outsider", initialized(TanhRNN, lambda net: net.rnn.weight_ih_l0.mul_(80.0)), phone_sensors,
           (*SATURATED, "learning-rate-too-small")),
    # dead units
    faulty("dead-relu", "tuning", initialized(cnn, set_bias("9", -100.0)), mnist, ("dead-units", "inputs-ignored")),
    faulty("dead-convolution", "unseen", initialized(vgg_without_norm, set_bias("7", -30.0)), small_shapes, ("dead-units", "inputs-ignored")),
    faulty("dead-convolution-over-time", "outsider", initialized(partial(SensorNetwork, norm=False), set_bias("body.2", -50.0)),
           phone_sensors, ("dead-units", "inputs-ignored")),
)  # fmt: skip
