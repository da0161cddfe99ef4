"""StackOverflow posts of the DeepFD and DeepLocalize benchmarks: wrong activations."""

from dataclasses import replace

from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import breast_cancer, flat_digits, iris, standardized, wine
from evaluation.published.data.made import housing, regression
from evaluation.published.networks import SmallCNN, mlp
from evaluation.published.scores import (
    one_hot_accuracy,
    probability_accuracy,
)


def column(data):
    """Both sets with float targets of shape (n, 1)."""
    (x, y), (xt, yt) = data
    return (x, y.float()[:, None]), (xt, yt.float()[:, None])


def one_hot(data, classes):
    """Both sets with one-hot float targets."""
    (x, y), (xt, yt) = data
    return (x, F.one_hot(y, classes).float()), (xt, F.one_hot(yt, classes).float())


@faulty(
    "so-33969059",
    "StackOverflow 33969059; DeepFD no. 7, DeepLocalize",
    fix="Remove the softmax: a regression needs a linear output.",
)
def softmax_on_regression():
    """The only output goes through a softmax, so it is 1 for every example."""
    train, test = regression()
    given = Recipe(
        network=lambda: nn.Sequential(mlp(8, 64, 64, 1), nn.Softmax(dim=1)), train=train, test=test, epochs=15
    )
    return given, replace(given, network=lambda: mlp(8, 64, 64, 1))


@faulty(
    "so-31880720",
    "StackOverflow 31880720; DeepFD no. 10, DeepLocalize",
    fix="Use a sigmoid, or two outputs with cross-entropy.",
)
def softmax_on_one_unit():
    """A binary classifier has one output with a softmax over it, which is always 1."""
    train, test = column(standardized(*breast_cancer()))
    given = Recipe(
        network=lambda: nn.Sequential(mlp(30, 32, 16, 1), nn.Softmax(dim=1)), train=train, test=test,
        loss=F.binary_cross_entropy, score=probability_accuracy, epochs=15,
    )  # fmt: skip
    return given, replace(given, network=lambda: nn.Sequential(mlp(30, 32, 16, 1), nn.Sigmoid()))


@faulty(
    "so-42800203",
    "StackOverflow 42800203; DeepFD no. 41",
    fix="Use nn.Sigmoid for the one output of a binary classifier.",
)
def softmax_on_one_unit_cnn():
    """A convolutional binary classifier ends in a softmax over its only output."""
    (x, y), (xt, yt) = flat_digits()
    train, test = ((a.reshape(-1, 1, 8, 8), (b >= 5).float()[:, None]) for a, b in ((x, y), (xt, yt)))
    given = Recipe(
        network=lambda: nn.Sequential(SmallCNN(classes=1), nn.Softmax(dim=1)), train=train, test=test,
        loss=F.binary_cross_entropy, score=probability_accuracy, epochs=6,
    )  # fmt: skip
    return given, replace(given, network=lambda: nn.Sequential(SmallCNN(classes=1), nn.Sigmoid()))


@faulty(
    "so-48251943",
    "StackOverflow 48251943; DeepFD no. 5",
    fix="Use a linear output (or tanh): targets are negative as well.",
)
def relu_output_for_signed_targets():
    """The last layer ends in a ReLU although half of the targets are negative."""
    train, test = regression()
    given = Recipe(network=lambda: nn.Sequential(mlp(8, 64, 1), nn.ReLU()), train=train, test=test, epochs=30)
    return given, replace(given, network=lambda: mlp(8, 64, 1))


@faulty("so-48221692", "StackOverflow 48221692; DeepFD no. 20", fix="Use a linear output: a sigmoid never exceeds 1.")
def sigmoid_output_for_prices():
    """A regression ends in a sigmoid although the targets go up to 6."""
    train, test = standardized(*housing())
    given = Recipe(network=lambda: nn.Sequential(mlp(8, 32, 1), nn.Sigmoid()), train=train, test=test, epochs=40)
    return given, replace(given, network=lambda: mlp(8, 32, 1))


@faulty(
    "so-47352366", "StackOverflow 47352366; DeepFD no. 25, DeepLocalize", fix="Remove the ReLU after the last layer."
)
def relu_after_logits():
    """A ReLU follows the last layer before cross-entropy, so logits cannot be negative and many outputs stay dead."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: nn.Sequential(mlp(64, 64, 10), nn.ReLU()),
        train=train,
        test=test,
        epochs=3,
        optimizer=adam(3e-3),
    )
    return given, replace(given, network=lambda: mlp(64, 64, 10))


@faulty(
    "so-45337371",
    "StackOverflow 45337371; DeepFD no. 22",
    fix="Pass logits to cross-entropy, without softmax before it.",
)
def softmax_before_cross_entropy():
    """The network ends in a softmax and cross-entropy applies a second one."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: nn.Sequential(mlp(64, 64, 10), nn.Softmax(dim=1)),
        train=train,
        test=test,
        epochs=6,
        optimizer=sgd(0.1),
    )
    return given, replace(given, network=lambda: mlp(64, 64, 10))


@faulty(
    "so-34673164",
    "StackOverflow 34673164; DeepFD no. 19, DeepLocalize",
    fix="Use cross-entropy and batch normalization between the layers.",
)
def deep_sigmoid_squared_error():
    """Six sigmoid layers end in a softmax with squared error; no gradient reaches the first layers."""
    train, test = one_hot(standardized(*breast_cancer()), 2)
    given = Recipe(
        network=lambda: nn.Sequential(mlp(30, 32, 32, 32, 32, 32, 2, activation=nn.Sigmoid), nn.Softmax(dim=1)),
        train=train, test=test, loss=F.mse_loss, optimizer=sgd(0.05), score=one_hot_accuracy, epochs=20,
    )  # fmt: skip

    def fixed():
        return mlp(30, 32, 32, 32, 32, 32, 2, norm=nn.BatchNorm1d)

    return given, replace(given, network=fixed, loss=F.cross_entropy)


@faulty(
    "so-42514960",
    "StackOverflow 42514960; DeepFD no. 40",
    fix="Use a linear (or tanh) output: the data have negative values.",
)
def relu_autoencoder_of_signed_data():
    """An autoencoder ends in a ReLU although its standardized inputs are negative half of the time."""
    (x, _), (xt, _) = standardized(*flat_digits())
    keep = x.std(0) > 0.5
    x, xt = x[:, keep].clamp(-3, 3), xt[:, keep].clamp(-3, 3)
    d = x.shape[1]
    given = Recipe(
        network=lambda: nn.Sequential(mlp(d, 64, 24, 64, d), nn.ReLU()), train=(x, x), test=(xt, xt), epochs=25
    )
    return given, replace(given, network=lambda: mlp(d, 64, 24, 64, d))


@faulty(
    "so-39217567",
    "StackOverflow 39217567; DeepFD no. 12",
    fix="Use ReLU and a linear output; a sigmoid output cannot reach the targets.",
)
def sigmoid_hidden_and_output():
    """Hidden layer and output of a regression with targets from -3 to 3 are sigmoids, with weights of size 0.05."""
    train, test = regression()

    def network():
        net = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 1), nn.Sigmoid())
        for layer in (net[0], net[2]):
            nn.init.normal_(layer.weight, std=0.05)
        return net

    given = Recipe(network=network, train=train, test=test, batch=128, epochs=50)
    return given, replace(given, network=lambda: mlp(8, 32, 1), batch=32)


@faulty(
    "so-46995209",
    "StackOverflow 46995209; DeepFD no. 44",
    fix="Standardize the columns: tanh units saturate on values in the hundreds.",
)
def tanh_on_raw_columns():
    """Ten tanh units receive raw columns with values up to 1700, so they are saturated from the start."""
    train, test = wine()
    given = Recipe(network=lambda: mlp(13, 10, 3, activation=nn.Tanh), train=train, test=test, batch=16, epochs=30)
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test)


@faulty(
    "so-59278771",
    "StackOverflow 59278771; DeepFD no. 16",
    fix="Use more hidden units, default initialization and standardized columns.",
)
def four_units_small_weights():
    """Four hidden ReLU units start with weights of size 0.05 on raw columns, and some never become active."""
    train, test = iris()

    def network():
        net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
        for layer in net[::2]:
            nn.init.normal_(layer.weight, std=0.05)
            nn.init.zeros_(layer.bias)
        return net

    given = Recipe(network=network, train=train, test=test, batch=10, epochs=25)
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test, network=lambda: mlp(4, 32, 3), optimizer=adam(3e-3))
