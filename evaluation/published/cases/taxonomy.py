"""Leaves of the taxonomy of real faults (Humbatova et al., ICSE 2020)."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import (
    breast_cancer,
    digits,
    flat_digits,
    iris,
    mnist,
    standardized,
    wine,
)
from evaluation.published.data.made import (
    blobs,
    generator,
    regression,
    rings,
)
from evaluation.published.networks import SmallCNN, mlp

HUMBATOVA = "Humbatova et al. 2020, leaf: "


@faulty(
    "taxonomy-wrong-weights-init",
    HUMBATOVA + "wrong weights initialisation",
    fix="Scale the initial weights by 1 / sqrt(fan_in).",
)
def weights_from_unit_uniform():
    """Weights are drawn uniformly from 0 to 1, so all units compute almost the same large sum."""
    train, test = flat_digits()

    def network():
        net = mlp(64, 100, 100, 10)
        for p in net.parameters():
            nn.init.uniform_(p)
        return net

    given = Recipe(network=network, train=train, test=test, epochs=8)
    return given, replace(given, network=lambda: mlp(64, 100, 100, 10))


@faulty(
    "taxonomy-suboptimal-structure",
    HUMBATOVA + "suboptimal network structure",
    fix="Use a few layers: 40 plain layers do not train. Or add residual connections.",
)
def forty_plain_layers():
    """Forty narrow ReLU layers follow each other without residual connections or normalization."""
    train, test = blobs(classes=4, spread=1.0)
    given = Recipe(network=lambda: mlp(10, *[16] * 40, 4), train=train, test=test, epochs=10)
    return given, replace(given, network=lambda: mlp(10, 16, 16, 4))


@faulty(
    "taxonomy-too-few-neurons", HUMBATOVA + "wrong number of neurons (bottleneck)", fix="Widen the layer with one unit."
)
def one_unit_bottleneck():
    """All information passes through a layer with a single unit before ten classes are predicted."""
    train, test = flat_digits()
    given = Recipe(network=lambda: mlp(64, 64, 1, 64, 10), train=train, test=test, epochs=25)
    return given, replace(given, network=lambda: mlp(64, 64, 32, 64, 10))


@faulty(
    "taxonomy-missing-activation",
    HUMBATOVA + "missing activation function",
    fix="Put an activation between the convolutions and before the head.",
)
def convolutions_without_activation():
    """Two convolutions and two dense layers follow each other without any activation or maximum."""
    g = generator(0)
    y = torch.randint(2, (900,), generator=g)
    sign = torch.randint(2, (900, 1, 1, 1), generator=g) * 2.0 - 1
    stripes = torch.where(torch.arange(8) % 2 == 0, 1.0, -1.0)
    pattern = torch.where(y[:, None, None, None] == 1, stripes.view(1, 1, 1, 8), stripes.view(1, 1, 8, 1))
    x = sign * pattern + 0.8 * torch.randn(900, 1, 8, 8, generator=g)

    def network(activation):
        layers = [
            nn.Conv2d(1, 8, 3, padding=1),
            activation(),
            nn.Conv2d(8, 8, 3, padding=1),
            activation(),
            nn.AvgPool2d(2),
        ]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 32), activation(), nn.Linear(32, 2))

    given = Recipe(network=lambda: network(nn.Identity), train=(x[:600], y[:600]), test=(x[600:], y[600:]), epochs=12)
    return given, replace(given, network=lambda: network(nn.ReLU))


@faulty(
    "taxonomy-wrong-pooling",
    HUMBATOVA + "wrong amount and type of pooling in a convolutional layer; NeuraLint rule 15",
    fix="Pool later: the first layer throws away all positions.",
)
def global_pooling_too_early():
    """A global average over all positions follows the first convolution, so the network sees only mean features."""
    train, test = digits()

    def network():
        pooled = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return nn.Sequential(pooled, nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))

    given = Recipe(network=network, train=train, test=test, epochs=12)
    return given, replace(given, network=SmallCNN)


@faulty(
    "taxonomy-wrong-filter-size",
    HUMBATOVA + "wrong filter size",
    fix="Use kernels of 3 with stride 1: stride 7 skips most of the image.",
)
def stride_skips_the_image():
    """A 1 x 1 convolution with stride 7 looks at 16 of 784 pixels."""
    train, test = mnist(1000, 700)

    def bad():
        return nn.Sequential(
            nn.Conv2d(1, 16, 1, stride=7), nn.ReLU(), nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    def good():
        return nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    given = Recipe(network=bad, train=train, test=test, epochs=10)
    return given, replace(given, network=good)


@faulty(
    "taxonomy-missing-preprocessing",
    HUMBATOVA + "missing preprocessing (scaling)",
    fix="Divide the columns by their standard deviations.",
)
def wine_raw():
    """Raw columns from 0.1 to 1700 go into the network; the largest dominates."""
    train, test = wine()
    given = Recipe(network=lambda: mlp(13, 64, 3), train=train, test=test, batch=16, epochs=20, optimizer=sgd(0.01))
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test)


@faulty(
    "taxonomy-missing-zero-mean",
    HUMBATOVA + "missing normalization (zero mean)",
    fix="Subtract the mean of each column.",
)
def inputs_far_from_zero():
    """All columns have a mean of 100 and a standard deviation of 1."""
    (x, y), (xt, yt) = rings(d=4)
    given = Recipe(network=lambda: mlp(4, 32, 32, 2), train=(x + 100, y), test=(xt + 100, yt), epochs=25)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "taxonomy-wrong-loss",
    HUMBATOVA + "wrong loss function calculation (sign)",
    fix="Minimize the cross-entropy instead of its negative.",
)
def loss_with_wrong_sign():
    """The loss is the mean log-likelihood without its minus sign, so training makes the right classes unlikely."""
    train, test = standardized(*wine())

    def loss(outputs, targets):
        return F.log_softmax(outputs, 1).gather(1, targets[:, None]).mean()

    given = Recipe(network=lambda: mlp(13, 32, 3), train=train, test=test, loss=loss, batch=16, epochs=10)
    return given, replace(given, loss=None)


@faulty(
    "taxonomy-missing-masking",
    HUMBATOVA + "missing masking of invalid values to zero",
    fix="Replace the missing values (NaN) by the column mean.",
)
def missing_values_as_nan():
    """3 % of the entries of the table are NaN, so the loss is NaN from the first step."""
    (x, y), (xt, yt) = standardized(*breast_cancer())
    holes = torch.rand(x.shape, generator=generator(1)) < 0.03
    broken = torch.where(holes, torch.nan, x)
    given = Recipe(network=lambda: mlp(30, 32, 2), train=(broken, y), test=(xt, yt), epochs=10)
    return given, replace(given, train=(torch.where(holes, 0.0, x), y))


@faulty(
    "taxonomy-adam-epsilon",
    HUMBATOVA + "wrong optimisation settings (epsilon of Adam)",
    fix="Use Adam's default epsilon of 1e-8.",
)
def adam_epsilon_too_large():
    """Adam's epsilon is 10, so its steps are a hundred times smaller than the rate says."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: mlp(64, 64, 10),
        train=train,
        test=test,
        optimizer=lambda p: torch.optim.Adam(p, lr=1e-3, eps=10.0),
        epochs=10,
    )
    return given, replace(given, optimizer=adam())


@faulty(
    "taxonomy-wrong-features",
    HUMBATOVA + "wrong selection of features",
    fix="Include the columns that carry the signal: those given are unrelated to the target.",
)
def unrelated_features():
    """The columns that decide the target were dropped; only unrelated columns are left."""
    (x, y), (xt, yt) = regression()
    given = Recipe(network=lambda: mlp(4, 32, 1), train=(x[:, 4:], y), test=(xt[:, 4:], yt), epochs=15)
    return given, replace(given, network=lambda: mlp(8, 32, 1), train=(x, y), test=(xt, yt))


@faulty(
    "taxonomy-too-many-classes",
    HUMBATOVA + "too many output categories; NeuraLint",
    fix="Use 3 outputs instead of 1000 and a usual learning rate.",
    margin=0.04,
)
def thousand_outputs_for_three_classes():
    """The head of an ImageNet network with 1000 outputs is kept for 3 classes and trained for 2 epochs."""
    train, test = iris()
    train, test = standardized(train, test)
    given = Recipe(network=lambda: mlp(4, 32, 1000), train=train, test=test, batch=16, epochs=2)
    return given, replace(given, network=lambda: mlp(4, 32, 3), epochs=30, optimizer=adam(3e-3))


@faulty(
    "taxonomy-wrong-input-shape",
    HUMBATOVA + "wrong tensor shape (view mixes examples)",
    fix="Use x.transpose(1, 2) instead of x.view, which mixes time and channels.",
)
def reshape_instead_of_transpose():
    """Time and channels are swapped with view instead of transpose, which scrambles the signals."""
    g = generator(2)
    y = torch.randint(2, (900,), generator=g)
    t = torch.arange(40.0)
    phase = 6.28 * torch.rand(900, 1, generator=g)
    lag = torch.where(y == 1, 1.57, -1.57)[:, None]
    first, second = torch.sin(0.5 * t + phase), torch.sin(0.5 * t + phase + lag)
    x = torch.stack((first, second, torch.randn(900, 40, generator=g)), 2) + 0.5 * torch.randn(900, 40, 3, generator=g)

    class Net(nn.Module):
        """A convolution over time for inputs (n, time, channels)."""

        def __init__(self, swap):
            super().__init__()
            self.swap = swap
            self.conv, self.head = nn.Conv1d(3, 8, 5), nn.Linear(8, 2)

        def forward(self, x):
            x = x.transpose(1, 2) if self.swap else x.reshape(len(x), 3, 40)
            return self.head(F.relu(self.conv(x)).mean(2))

    given = Recipe(
        network=lambda: Net(False), train=(x[:600], y[:600]), test=(x[600:], y[600:]), epochs=12, optimizer=adam(3e-3)
    )
    return given, replace(given, network=lambda: Net(True))
