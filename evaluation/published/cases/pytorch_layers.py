"""Faults in PyTorch modules: normalization, constant gates and repeated layers, from forum threads."""

from dataclasses import replace

import torch
from torch import nn

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import digits, flat_digits, standardized, wine
from evaluation.published.data.made import blobs, regression, rings
from evaluation.published.networks import SmallCNN, mlp


@faulty(
    "forum-batchnorm-momentum",
    "PyTorch forum: momentum of batch norm mistaken for Keras' decay of 0.99",
    fix="Use momentum 0.1: running statistics must follow the data.",
)
def statistics_that_lag():
    """Batch normalization has momentum 0.0005, so its running statistics stay near 0 and 1 while the data are elsewhere."""
    (x, y), (xt, yt) = wine()

    def network(momentum):
        return nn.Sequential(nn.BatchNorm1d(13, momentum=momentum), mlp(13, 32, 3))

    given = Recipe(network=lambda: network(5e-4), train=(x, y), test=(xt, yt), batch=16, epochs=30)
    return given, replace(given, network=lambda: network(0.1))


@faulty(
    "forum-batchnorm-batch-two",
    "Wu and He 2018; PyTorch forum: batch norm with tiny batches",
    fix="Use larger batches, or GroupNorm instead of BatchNorm.",
    margin=0.03,
)
def batch_norm_with_two_examples():
    """Batch normalization is trained with batches of two examples, whose statistics are mostly noise."""
    train, test = blobs(n=600, classes=6, spread=2.0)
    given = Recipe(
        network=lambda: mlp(10, 32, 32, 32, 6, norm=nn.BatchNorm1d), train=train, test=test, batch=2, epochs=5
    )
    return given, replace(given, batch=32, epochs=30)


@faulty(
    "forum-batchnorm-last",
    "PyTorch forum: batch norm with frozen affine after the output of a regression",
    fix="Remove the normalization after the output.",
)
def normalized_output():
    """Batch normalization without scale and shift follows the output, so predictions have mean 0 and variance 1."""
    (x, y), (xt, yt) = regression()
    given = Recipe(
        network=lambda: nn.Sequential(mlp(8, 64, 1), nn.BatchNorm1d(1, affine=False)),
        train=(x, 5 + 3 * y),
        test=(xt, 5 + 3 * yt),
        epochs=40,
        optimizer=adam(3e-3),
    )
    return given, replace(given, network=lambda: mlp(8, 64, 1))


@faulty(
    "forum-data-normalized-twice",
    "PyTorch forum: normalization applied twice",
    fix="Normalize once: the second division by 255 leaves values near zero.",
)
def normalized_twice():
    """Images are divided by 255 twice, so all values are below 0.004 and the default rate learns slowly."""
    (x, y), (xt, yt) = flat_digits()
    given = Recipe(network=lambda: mlp(64, 64, 10), train=(x / 255, y), test=(xt / 255, yt), epochs=8)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "forum-inplace-relu-residual",
    "PyTorch forum: residual branch multiplied by zero",
    fix="Start the gate at 1, or make it trainable.",
)
def gate_fixed_at_zero():
    """A gate that multiplies the learned branch is a constant zero buffer, so only a linear shortcut is left."""
    train, test = rings(d=3)

    class Gated(nn.Module):
        """A linear shortcut plus a gated branch."""

        def __init__(self, gate):
            super().__init__()
            self.shortcut, self.branch = nn.Linear(3, 2), mlp(3, 32, 2)
            self.register_buffer("gate", torch.tensor(gate))

        def forward(self, x):
            return self.shortcut(x) + self.gate * self.branch(x)

    given = Recipe(network=lambda: Gated(0.0), train=train, test=test, epochs=20, optimizer=adam(3e-3))
    return given, replace(given, network=lambda: Gated(1.0))


@faulty(
    "forum-argmax-in-forward",
    "PyTorch forum: rounding in forward has no gradient",
    fix="Do not round inside the network; round predictions afterwards.",
)
def rounding_in_the_middle():
    """The hidden activations are rounded to whole numbers, so no gradient reaches the first layers."""
    train, test = rings(d=3)

    class Rounded(nn.Module):
        """Hidden units that may be rounded."""

        def __init__(self, rounded):
            super().__init__()
            self.rounded, self.first, self.head = rounded, mlp(3, 16, 8), nn.Linear(8, 2)

        def forward(self, x):
            h = self.first(x)
            return self.head(torch.round(h) if self.rounded else torch.relu(h))

    given = Recipe(network=lambda: Rounded(True), train=train, test=test, epochs=25, optimizer=adam(3e-3))
    return given, replace(given, network=lambda: Rounded(False))


@faulty(
    "forum-shared-instance",
    "PyTorch forum: [layer] * n repeats one layer",
    fix="Create a new layer for each position.",
    margin=0.03,
)
def one_layer_repeated():
    """A list multiplication repeats the same layer twelve times with saturating activations."""
    train, test = flat_digits()

    def network(shared):
        hidden = (
            [nn.Sequential(nn.Linear(64, 64), nn.Sigmoid())] * 12
            if shared
            else [nn.Sequential(nn.Linear(64, 64), nn.ReLU())]
        )
        return nn.Sequential(*hidden, nn.Linear(64, 10))

    given = Recipe(network=lambda: network(True), train=train, test=test, epochs=10)
    return given, replace(given, network=lambda: network(False))


@faulty(
    "karpathy-bad-output-bias",
    "Karpathy, A Recipe for Training Neural Networks: initialize the final bias well",
    fix="Initialize the output bias with the mean of the targets, or standardize the targets.",
)
def output_bias_far_away():
    """The targets have mean 500 and deviation 1, and the output starts at 0."""
    (x, y), (xt, yt) = standardized(*regression())
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y + 500), test=(xt, yt + 500), epochs=20)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "forum-cnn-on-shuffled-pixels",
    "PyTorch forum: transforms applied to images but pixels permuted in the test set",
    fix="Use the same channel and pixel order in train and test.",
)
def other_pixel_order_in_test():
    """Test images are transposed (height and width swapped) compared with training images."""
    (x, y), (xt, yt) = digits()
    given = Recipe(network=SmallCNN, train=(x, y), test=(xt.transpose(2, 3).contiguous(), yt), epochs=8)
    return given, replace(given, test=(xt, yt))
