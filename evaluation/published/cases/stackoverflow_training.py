"""StackOverflow posts of the DeepFD and DeepLocalize benchmarks: optimizers, epochs, batches and layers."""

from dataclasses import replace

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import digits, flat_digits, small_mnist
from evaluation.published.data.made import (
    blobs,
    characters,
    generator,
    multi_label,
    regression,
    reviews,
    waves,
)
from evaluation.published.networks import LastState, MeanEmbedding, MiniGPT, SmallCNN, mlp, token_loss
from evaluation.published.scores import token_accuracy


def xor(n=400, seed=0):
    """Points around the four corners of a square; opposite corners share a class."""
    g = generator(seed)
    corners = torch.randint(2, (n, 2), generator=g)
    x = corners.float() + 0.15 * torch.randn(n, 2, generator=g)
    y = corners[:, 0] ^ corners[:, 1]
    return (x[: n // 2], y[: n // 2]), (x[n // 2 :], y[n // 2 :])


@faulty(
    "so-31556268",
    "StackOverflow 31556268; DeepFD no. 3, DeepLocalize",
    fix="Train about ten times longer, or use Adam with a rate of 0.01.",
)
def xor_too_short():
    """XOR is trained with plain SGD at 0.01 for 20 epochs, far too short to leave the plateau."""
    train, test = xor()
    given = Recipe(
        network=lambda: mlp(2, 8, 2, activation=nn.Tanh),
        train=train,
        test=test,
        optimizer=sgd(0.01),
        batch=4,
        epochs=20,
    )
    return given, replace(given, optimizer=adam(0.01), epochs=60)


@faulty(
    "so-34311586",
    "StackOverflow 34311586; DeepFD no. 9, DeepLocalize",
    fix="Use Adam, or raise the learning rate of SGD.",
)
def xor_slow_sgd():
    """SGD with rate 0.001 and momentum is too slow for XOR in the given number of epochs."""
    train, test = xor(seed=1)
    given = Recipe(
        network=lambda: mlp(2, 16, 2), train=train, test=test, optimizer=sgd(0.001, momentum=0.9), batch=32, epochs=30
    )
    return given, replace(given, optimizer=adam(0.02))


@faulty(
    "so-50306988",
    "StackOverflow 50306988; DeepFD no. 4, DeepLocalize",
    fix="Raise the learning rate to about 0.1 or use Adam, and train longer.",
)
def tiny_rate_few_epochs():
    """SGD at 0.0005 for 5 epochs leaves the network near its initialization."""
    train, test = blobs(classes=5, spread=1.2)
    given = Recipe(network=lambda: mlp(10, 32, 32, 5), train=train, test=test, optimizer=sgd(5e-4), epochs=5)
    return given, replace(given, optimizer=sgd(0.1), epochs=20)


@faulty(
    "so-48385830",
    "StackOverflow 48385830; DeepFD no. 1, DeepLocalize",
    fix="Initialize with the default scale and lower the learning rate of 3.",
)
def unit_normal_init_and_rate_three():
    """ReLU layers start from a standard normal with a learning rate of 3 (Nielsen's values for sigmoid units)."""
    train, test = flat_digits()

    def network():
        net = mlp(64, 30, 10)
        for layer in (net[0], net[2]):
            nn.init.normal_(layer.weight)
            nn.init.normal_(layer.bias)
        return net

    given = Recipe(network=network, train=train, test=test, optimizer=sgd(3.0), batch=10, epochs=8)
    return given, replace(given, network=lambda: mlp(64, 30, 10), optimizer=sgd(0.1))


@faulty(
    "so-51181393", "StackOverflow 51181393; DeepFD no. 45", fix="Raise the learning rate of RMSprop from 0.0001 to 0.1."
)
def rmsprop_too_slow():
    """A linear regression with slope 100 needs large weights, and RMSprop at 0.0001 does not get there."""
    g = generator(3)
    x = torch.randn(500, 1, generator=g)
    y = 100 * x + 20 + torch.randn(500, 1, generator=g)
    given = Recipe(
        network=lambda: nn.Linear(1, 1),
        train=(x[:350], y[:350]),
        test=(x[350:], y[350:]),
        optimizer=lambda p: optim.RMSprop(p, lr=1e-4),
        epochs=30,
    )
    return given, replace(given, optimizer=lambda p: optim.RMSprop(p, lr=1.0))


@faulty(
    "so-44998910",
    "StackOverflow 44998910; DeepFD no. 42",
    fix="Raise the learning rate, or train for several hundred epochs.",
)
def line_not_finished():
    """A straight line with offset 50 is fitted with SGD at 0.0005 for 30 epochs; the offset is still far away."""
    g = generator(4)
    x = torch.rand(300, 1, generator=g)
    y = 10 * x + 50 + 0.5 * torch.randn(300, 1, generator=g)
    given = Recipe(
        network=lambda: nn.Linear(1, 1),
        train=(x[:200], y[:200]),
        test=(x[200:], y[200:]),
        optimizer=sgd(5e-4),
        epochs=30,
    )
    return given, replace(given, optimizer=sgd(0.1), epochs=120)


@faulty(
    "so-37624102", "StackOverflow 37624102; DeepFD no. 34", fix="Lower the rate of SGD with momentum from 0.5 to 0.01."
)
def momentum_rate_too_large():
    """SGD with Nesterov momentum 0.9 at a rate of 0.5 kills the convolutional network in the first epoch."""
    train, test = digits()
    given = Recipe(
        network=SmallCNN,
        train=train,
        test=test,
        optimizer=lambda p: optim.SGD(p, lr=0.5, momentum=0.9, nesterov=True),
        epochs=6,
    )
    return given, replace(given, optimizer=lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True))


@faulty("so-56380303", "StackOverflow 56380303; DeepFD no. 31", fix="Use Adam with a rate of 0.001.")
def plain_sgd_on_cnn():
    """A convolutional network is trained with SGD at 0.001 without momentum; the loss stays at ln 10."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, optimizer=sgd(0.001), epochs=8)
    return given, replace(given, optimizer=adam(1e-3))


@faulty(
    "so-41977498",
    "StackOverflow 41977498; DeepFD no. 39",
    fix="Raise the learning rate to 0.01, train for more epochs, and use a GRU, which learns this faster.",
)
def lstm_too_slow():
    """An LSTM classifier runs with RMSprop at 0.00002 for 5 epochs."""
    train, test = waves()
    given = Recipe(
        network=lambda: LastState(nn.LSTM, 1, 32, 3),
        train=train,
        test=test,
        optimizer=lambda p: optim.RMSprop(p, lr=2e-5),
        epochs=5,
    )
    return given, replace(given, network=lambda: LastState(nn.GRU, 1, 32, 3), optimizer=adam(0.01), epochs=15)


@faulty(
    "so-48594888",
    "StackOverflow 48594888; DeepFD no. 27, DeepLocalize",
    fix="Train for more epochs with smaller batches.",
)
def one_epoch_large_batch():
    """One epoch with batches of 500 gives three steps in all."""
    (x, y), (xt, yt) = small_mnist()
    given = Recipe(
        network=lambda: SmallCNN(12), train=(x[..., 1:13, 1:13], y), test=(xt[..., 1:13, 1:13], yt), batch=500, epochs=1
    )
    return given, replace(given, batch=64, epochs=5)


@faulty("so-37213388", "StackOverflow 37213388; DeepFD no. 47", fix="Train for 10 epochs or more instead of 2.")
def autoencoder_two_epochs():
    """A convolutional autoencoder is stopped after 2 epochs, when it still outputs a blurred mean."""
    (x, _), (xt, _) = digits()

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2), nn.Conv2d(4, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1),
        )  # fmt: skip

    given = Recipe(network=network, train=(x, x), test=(xt, xt), epochs=2, batch=64)
    return given, replace(given, epochs=25)


@faulty(
    "gh-facial-keypoints", "DeepFD no. 49 (GitHub FacialKeypointsDetection): Adam(lr=0.1)", fix="Use Adam at 0.001."
)
def adam_rate_hundred_times_too_large():
    """Adam runs at 0.3 in a network that predicts coordinates, so weights explode and ReLU units die."""
    train, test = regression()
    given = Recipe(network=lambda: mlp(8, 100, 100, 100, 1), train=train, test=test, optimizer=adam(0.3), epochs=20)
    return given, replace(given, optimizer=adam(1e-3))


@faulty(
    "gh-keras-catsdogs", "DeepFD no. 54 (GitHub ronnyworm/keras_catsdogs): batch size", fix="Use batches of 16 to 64."
)
def full_batch_of_everything():
    """The batch is the whole training set, so 15 epochs are only 15 steps."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, batch=1000, epochs=15)
    return given, replace(given, batch=32)


@faulty("gh-movie-reviews", "DeepFD no. 50 (GitHub MovieReviews_Keras): epochs", fix="Train for 20 epochs or more.")
def reviews_too_short():
    """A review classifier stops after one epoch of 16 steps."""
    train, test = reviews()
    given = Recipe(network=lambda: MeanEmbedding(60, 16, 2), train=train, test=test, batch=64, epochs=1)
    return given, replace(given, epochs=20, optimizer=adam(3e-3))


@faulty(
    "gh-averaging-networks",
    "DeepFD no. 58 (GitHub vincenty2022/Averaging_Neural_Networks): missing layers",
    fix="Add a hidden layer: the task is not linear.",
)
def linear_model_for_xor():
    """A single linear layer is used for a task that no line separates."""
    train, test = xor(seed=2)
    given = Recipe(network=lambda: nn.Linear(2, 2), train=train, test=test, optimizer=adam(0.02), epochs=40)
    return given, replace(given, network=lambda: mlp(2, 16, 2))


@faulty(
    "gh-kerasma",
    "DeepFD no. 57 (GitHub eangelou/kerasma): wrong layers",
    fix="Give the network more than two hidden units.",
)
def two_hidden_units():
    """Twenty columns pass through two hidden units before six independent labels are predicted."""
    train, test = multi_label()
    given = Recipe(
        network=lambda: mlp(20, 2, 6),
        train=train,
        test=test,
        loss=F.binary_cross_entropy_with_logits,
        epochs=30,
        score=lambda o, t: float(((o > 0) == (t > 0.5)).double().mean()),
    )
    return given, replace(given, network=lambda: mlp(20, 64, 6))


@faulty(
    "gh-super-resolution",
    "DeepFD no. 55 (GitHub kcct-fujimotolab/keras-super-resolution): more training data",
    fix="Use more than 12 training sequences.",
    margin=0.04,
)
def language_model_with_twelve_examples():
    """A language model has only 12 training sequences and memorizes them."""
    (x, y), test = characters()
    given = Recipe(
        network=MiniGPT,
        train=(x[:12], y[:12]),
        test=test,
        loss=token_loss,
        score=token_accuracy,
        batch=12,
        epochs=150,
        task="language model",
    )
    return given, replace(given, train=(x, y), epochs=6, batch=32)
