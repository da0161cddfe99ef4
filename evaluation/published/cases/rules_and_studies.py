"""NeuraLint's rules, UMLAUT's checks, and faults of Islam et al. 2019 and Karpathy's recipe."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import (
    digits,
    flat_digits,
    small_mnist,
    standardized,
)
from evaluation.published.data.made import (
    adding,
    generator,
    housing,
    order_task,
    regression,
    sine_forecast,
    waves,
)
from evaluation.published.networks import LastState, SmallCNN, TinyTransformer, mlp


@faulty(
    "attention-without-positions",
    "Vaswani et al. 2017, section 3.5: attention needs positions; PyTorch transformer tutorial without PositionalEncoding",
    fix="Add positional encodings to the embeddings.",
)
def missing_positional_encoding():
    """A transformer without positional encoding must decide which of two tokens comes first."""
    train, test = order_task()
    given = Recipe(
        network=lambda: TinyTransformer(12, 10, 2, positions=False),
        train=train,
        test=test,
        epochs=12,
        optimizer=adam(2e-3),
    )
    return given, replace(given, network=lambda: TinyTransformer(12, 10, 2))


@faulty(
    "neuralint-useless-pooling",
    "NeuraLint rule: too much downsampling (deep_CNN_too_much_pooling)",
    fix="Remove two of the pooling layers: nothing is left of 14 pixels after three.",
)
def pooled_to_one_pixel():
    """Three average poolings reduce the image to one value per channel before any channel mixing is wide."""
    train, test = small_mnist()

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AvgPool2d(7), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
            nn.Flatten(), nn.Linear(4, 10),
        )  # fmt: skip

    def good():
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(392, 10)
        )

    given = Recipe(network=network, train=train, test=test, epochs=8)
    return given, replace(given, network=good)


@faulty(
    "neuralint-double-activation",
    "NeuraLint rule: redundant activations (TF_lenet_double_activation)",
    fix="Remove the second activation: sigmoid after ReLU squeezes all values into 0.5 to 1.",
)
def double_activation():
    """Every hidden layer applies a ReLU and then a sigmoid, in five layers."""
    train, test = flat_digits()

    def network():
        layers = [m for n in (64, 48, 48, 48, 48) for m in (nn.Linear(n, 48), nn.ReLU(), nn.Sigmoid())]
        return nn.Sequential(*layers, nn.Linear(48, 10))

    given = Recipe(network=network, train=train, test=test, epochs=8)
    return given, replace(given, network=lambda: mlp(64, 48, 48, 48, 48, 48, 10))


@faulty(
    "umlaut-input-range",
    "UMLAUT (Schoop et al. 2021): input data exceeds typical limits",
    fix="Divide the images by 255.",
)
def images_as_bytes():
    """Images with values up to 255 go into a convolutional network with SGD and momentum."""
    (x, y), (xt, yt) = digits()
    given = Recipe(
        network=SmallCNN, train=(x * 255, y), test=(xt * 255, yt), optimizer=sgd(0.01, momentum=0.9), epochs=8
    )
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "umlaut-high-dropout",
    "UMLAUT (Schoop et al. 2021): high dropout rate",
    fix="Remove the dropout of 0.9 on the inputs.",
)
def dropout_on_inputs():
    """Dropout of 0.9 is applied to the 8 input columns."""
    train, test = regression(noise=0.05)
    given = Recipe(network=lambda: nn.Sequential(nn.Dropout(0.9), mlp(8, 64, 1)), train=train, test=test, epochs=30)
    return given, replace(given, network=lambda: mlp(8, 64, 1))


@faulty(
    "islam-long-sequences",
    "Islam et al. 2019: wrong model structure (plain RNN on long sequences)",
    fix="Use an LSTM or GRU.",
)
def plain_rnn_forgets():
    """A plain tanh RNN must remember the first value of a sequence of 80 steps."""
    g = generator(7)
    y = torch.randint(2, (900,), generator=g)
    x = 0.3 * torch.randn(900, 80, 1, generator=g)
    x[:, :3, 0] += 2.0 * y[:, None] - 1
    given = Recipe(
        network=lambda: LastState(nn.RNN, 1, 16, 2), train=(x[:600], y[:600]), test=(x[600:], y[600:]), epochs=10
    )

    def mean_states():
        class Mean(LastState):
            """Reads the largest of all states instead of the last one."""

            def forward(self, x):
                return self.head(self.rnn(self.embed(x))[0].amax(1))

        return Mean(nn.GRU, 1, 16, 2)

    return given, replace(given, network=mean_states, optimizer=adam(5e-3))


@faulty(
    "islam-rate-decays-away",
    "Islam et al. 2019: suboptimal hyper-parameter (schedule)",
    fix="Decay by 0.95 per epoch, not by 0.1.",
)
def schedule_stops_training():
    """The learning rate is divided by ten after every epoch, so training stops after two."""
    train, test = adding()
    given = Recipe(
        network=lambda: LastState(nn.GRU, 2, 24, 1), train=train, test=test, optimizer=adam(5e-3), epochs=15,
        schedule=lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.1),
    )  # fmt: skip
    return given, replace(given, schedule=lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.95))


@faulty(
    "islam-wrong-window",
    "Islam et al. 2019: data bug (window too short)",
    fix="Give the network at least one period of the series instead of the last value only.",
)
def forecast_from_one_value():
    """A forecast sees only the last value of the window, from which the direction is unknown."""
    (x, y), (xt, yt) = sine_forecast()
    given = Recipe(network=lambda: mlp(1, 32, 1), train=(x[:, -1], y), test=(xt[:, -1], yt), epochs=30)
    return given, replace(given, network=lambda: mlp(24, 32, 1), train=(x[..., 0], y), test=(xt[..., 0], yt))


@faulty(
    "islam-wrong-target-scale",
    "Islam et al. 2019: data bug (targets unscaled)",
    fix="Standardize the targets (prices in 100,000 instead of units).",
)
def prices_in_units():
    """Prices are given in dollars, so targets are around 250,000 and Adam at 0.001 never reaches them."""
    (x, y), (xt, yt) = standardized(*housing())
    given = Recipe(network=lambda: mlp(8, 64, 64, 1), train=(x, y * 1e5), test=(xt, yt * 1e5), epochs=25)
    return given, replace(given, train=(x, y - y.mean()), test=(xt, yt - y.mean()))


@faulty(
    "karpathy-shuffled-time",
    "Karpathy, A Recipe for Training Neural Networks: sequences shuffled in time",
    fix="Keep the order of time steps: do not shuffle them.",
)
def time_steps_shuffled():
    """The time steps of each training signal are shuffled independently, so nothing but the histogram is left."""
    (x, y), test = waves()
    order = torch.rand(x.shape[:2], generator=generator(8)).argsort(1)
    mixed = x.gather(1, order[..., None])

    def network():
        return nn.Sequential(nn.Flatten(), mlp(30, 64, 3))

    given = Recipe(network=network, train=(mixed, y), test=test, epochs=25)
    return given, replace(given, train=(x, y), network=lambda: LastConv())


class LastConv(nn.Module):
    """A convolution over time with the largest response as feature."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv1d(1, 16, 9), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(F.relu(self.conv(x.transpose(1, 2))).amax(2))
