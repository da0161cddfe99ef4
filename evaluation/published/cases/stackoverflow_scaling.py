"""StackOverflow posts of the DeepFD and DeepLocalize benchmarks: scaling and preprocessing."""

from dataclasses import replace

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import breast_cancer, diabetes, digits, small_mnist, standardized, wine
from evaluation.published.data.made import (
    generator,
    housing,
    imbalanced,
    regression,
    sine_forecast,
    waves,
)
from evaluation.published.networks import LastState, SmallCNN, mlp


@faulty("so-55328966", "StackOverflow 55328966; DeepFD no. 8", fix="Divide the pixels by 255.")
def pixels_to_255():
    """Pixels from 0 to 255 go into the network without scaling; SGD with the usual rate diverges or stalls."""
    (x, y), (xt, yt) = small_mnist()
    train, test = (255 * x.flatten(1), y), (255 * xt.flatten(1), yt)
    given = Recipe(
        network=lambda: mlp(196, 64, 10, activation=nn.Sigmoid), train=train, test=test, optimizer=sgd(0.1), epochs=12
    )
    return given, replace(given, train=(train[0] / 255, y), test=(test[0] / 255, yt), network=lambda: mlp(196, 64, 10))


@faulty(
    "so-39525358",
    "StackOverflow 39525358; DeepFD no. 11",
    fix="Standardize the columns with the mean and deviation of the training set.",
)
def raw_table_binary():
    """A binary table with columns from 0.001 to 2500 is trained without scaling."""
    train, test = breast_cancer()
    given = Recipe(network=lambda: mlp(30, 12, 8, 2), train=train, test=test, optimizer=sgd(0.01), batch=10, epochs=10)
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test)


@faulty(
    "so-48934338",
    "StackOverflow 48934338; DeepFD no. 13",
    fix="Lower the learning rate from 0.1 to 0.0001, or scale inputs and targets.",
)
def rate_too_large_for_raw_numbers():
    """SGD at 0.1 on inputs up to 50 and targets up to 100 diverges to NaN in the first steps."""
    g = generator(0)
    x = 50 * torch.rand(600, 1, generator=g)
    y = 2 * x + torch.randn(600, 1, generator=g)
    given = Recipe(
        network=lambda: nn.Linear(1, 1),
        train=(x[:400], y[:400]),
        test=(x[400:], y[400:]),
        optimizer=sgd(0.1),
        epochs=20,
    )
    return given, replace(given, optimizer=sgd(1e-4))


@faulty(
    "so-47724077",
    "StackOverflow 47724077; DeepFD no. 14",
    fix="Standardize the columns: one of them is a thousand times larger than the others.",
)
def census_without_scaling():
    """A census-like table has one column with a standard deviation of 100,000 that hides the nine others."""
    (x, y), (xt, yt) = imbalanced(rare=0.3, shift=1.5)
    weight = generator(5)
    wide, wide_t = (190_000 + 1e5 * torch.randn(len(t), 1, generator=weight) for t in (y, yt))
    train, test = (torch.cat((x, wide), 1), y), (torch.cat((xt, wide_t), 1), yt)
    given = Recipe(network=lambda: mlp(11, 16, 2), train=train, test=test, epochs=10)
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test)


@faulty(
    "so-59325381",
    "StackOverflow 59325381; DeepFD no. 15",
    fix="Scale the test images in the same way as the training images.",
)
def test_images_not_scaled():
    """Training pixels are normalized but test pixels are left from 0 to 255."""
    (x, y), (xt, yt) = digits()
    mean, std = x.mean(), x.std()
    given = Recipe(network=SmallCNN, train=((x - mean) / std, y), test=(xt * 255, yt), epochs=6)
    return given, replace(given, test=((xt - mean) / std, yt))


@faulty("so-52800582", "StackOverflow 52800582; DeepFD no. 17", fix="Standardize inputs and targets.")
def huge_targets():
    """The targets are in the hundred thousands, so the loss starts at 1e11 and the outputs hardly reach them."""
    g = generator(2)
    x = 1000 * torch.rand(900, 1, generator=g)
    y = 0.5 * x.square() + 1000 * torch.randn(900, 1, generator=g)
    given = Recipe(network=lambda: mlp(1, 32, 32, 1), train=(x[:600], y[:600]), test=(x[600:], y[600:]), epochs=25)
    center, scale = y[:600].mean(), y[:600].std()
    (a, b), (c, d) = standardized((x[:600], (y[:600] - center) / scale), (x[600:], (y[600:] - center) / scale))
    return given, replace(given, train=(a, b), test=(c, d))


@faulty("so-46642627", "StackOverflow 46642627; DeepFD no. 43", fix="Scale inputs and targets and use Adam.")
def raw_regression_sgd():
    """SGD at 0.01 on raw columns such as 3000 residents diverges."""
    train, test = housing()
    given = Recipe(network=lambda: mlp(8, 32, 1), train=train, test=test, optimizer=sgd(0.01), epochs=20)
    train, test = standardized(train, test)
    return given, replace(given, train=train, test=test)


@faulty(
    "so-44066044",
    "StackOverflow 44066044; DeepFD no. 23, DeepLocalize",
    fix="Scale the columns and remove the ReLU after the output.",
)
def packets_without_scaling():
    """Raw counters of very different sizes feed a regression that ends in a ReLU."""
    (x, y), (xt, yt) = regression()
    scales = torch.tensor([1e4, 1.0, 10.0, 1e-3, 5e3, 1.0, 100.0, 1e5])
    given = Recipe(
        network=lambda: nn.Sequential(mlp(8, 32, 1), nn.ReLU()),
        train=(x * scales, y),
        test=(xt * scales, yt),
        epochs=20,
    )
    return given, replace(given, network=lambda: mlp(8, 32, 1), train=(x, y), test=(xt, yt))


@faulty(
    "so-47932589",
    "StackOverflow 47932589; DeepFD no. 46",
    fix="Scale the series: subtract the mean and divide by the deviation.",
)
def series_in_thousands():
    """A forecast of a series with values around 1300 is trained without scaling inputs or targets."""
    (x, y), (xt, yt) = sine_forecast()
    given = Recipe(
        network=lambda: LastState(nn.LSTM, 1, 24, 1),
        train=(1300 + 80 * x, 1300 + 80 * y),
        test=(1300 + 80 * xt, 1300 + 80 * yt),
        epochs=10,
        optimizer=adam(3e-3),
    )
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "so-45442843",
    "StackOverflow 45442843; DeepFD no. 26, DeepLocalize",
    fix="Scale the targets or train much longer; Adam at 0.001 moves outputs by 0.001 per step.",
)
def absolute_error_far_targets():
    """RMSprop at 0.0001 with absolute error must move outputs to targets around 150 in 20 epochs."""
    train, test = standardized(*diabetes())
    given = Recipe(
        network=lambda: mlp(10, 32, 1),
        train=train,
        test=test,
        loss=F.l1_loss,
        optimizer=lambda p: optim.RMSprop(p, lr=1e-4),
        epochs=20,
    )
    center, scale = train[1].mean(), train[1].std()
    fixed = replace(
        given,
        train=(train[0], (train[1] - center) / scale),
        test=(test[0], (test[1] - center) / scale),
        loss=None,
        optimizer=adam(),
    )
    return given, fixed


@faulty(
    "so-59282996",
    "StackOverflow 59282996; DeepFD no. 32",
    fix="Number the classes from 0 and train longer than 2 epochs.",
)
def labels_start_at_one():
    """The classes are numbered 1 and 2, the network has three outputs, and training stops after 2 epochs."""
    (x, y), (xt, yt) = waves()
    keep, keep_t = y > 0, yt > 0
    train, test = (x[keep], y[keep]), (xt[keep_t], yt[keep_t])
    given = Recipe(network=lambda: LastState(nn.GRU, 1, 16, 3), train=train, test=test, epochs=2)
    fixed = replace(
        given,
        train=(train[0], train[1] - 1),
        test=(test[0], test[1] - 1),
        network=lambda: LastState(nn.GRU, 1, 16, 2),
        epochs=15,
        optimizer=adam(0.01),
    )
    return given, fixed


@faulty(
    "so-58237726",
    "StackOverflow 58237726; DeepFD no. 33",
    fix="Normalize the volumes per pixel and lower the learning rate of 0.1.",
)
def volumes_rate_too_large():
    """A 3D convolutional network on volumes with values up to 255 uses Adam at 0.1."""
    g = generator(6)
    y = torch.randint(2, (360,), generator=g)
    x = torch.randint(0, 200, (360, 1, 8, 8, 8), generator=g).float()
    x[y == 1, :, 2:6, 2:6, 2:6] += 40

    def network():
        return nn.Sequential(
            nn.Conv3d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(216, 32), nn.ReLU(), nn.Linear(32, 2)
        )

    given = Recipe(
        network=network, train=(x[:240], y[:240]), test=(x[240:], y[240:]), optimizer=adam(0.1), batch=12, epochs=8
    )
    return given, replace(
        given, train=((x[:240] - 105) / 60, y[:240]), test=((x[240:] - 105) / 60, y[240:]), optimizer=adam(1e-3)
    )


@faulty(
    "so-41947039",
    "StackOverflow 41947039; DeepFD no. 38: wrong preprocessing",
    fix="Standardize test columns with the statistics of the training set.",
)
def test_standardized_by_itself():
    """Training and test rows are each standardized by their own statistics, and the test rows come from one group."""
    (x, y), (xt, yt) = wine()
    low = xt[:, 12] < xt[:, 12].median()
    xt, yt = xt[low], yt[low]
    own = ((xt - xt.mean(0)) / xt.std(0), yt)
    train, test = standardized((x, y), (xt, yt))
    given = Recipe(network=lambda: mlp(13, 32, 3), train=train, test=own, batch=16, epochs=30)
    return given, replace(given, test=test)
