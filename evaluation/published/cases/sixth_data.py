"""A sixth set of published faults: preparation of the data, labels and splits."""

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import breast_cancer, split
from evaluation.published.data.made import generator, housing, shapes
from evaluation.published.networks import LastState, UNet, mlp
from evaluation.published.scores import mean_iou


@faulty(
    "sixth-time-in-float32",
    "blog.ce9e.org, 2026-01-16, float-time: Unix time in float32 has steps of 128 seconds; NumPy documentation of float32",
    fix="Subtract the start before the conversion to float32.",
)
def time_in_float32():
    """Unix times were converted to float32 before the start was subtracted, so they are rounded to 128 seconds."""
    g = generator(71)
    seconds = 1200 * torch.rand(2000, generator=g, dtype=torch.float64)
    load, fan = torch.rand(2000, generator=g), torch.rand(2000, generator=g)
    temperature = torch.sin(2 * torch.pi * seconds.float() / 400) + load - 0.5 * fan
    y = (temperature + 0.1 * torch.randn(2000, generator=g))[:, None]

    def table(stamps):
        stamps = (stamps - stamps.mean()) / stamps.std()
        return split(torch.stack((stamps, 2 * load - 1, 2 * fan - 1), 1), y, 1400)

    given = {"network": lambda: mlp(3, 64, 64, 1), "optimizer": adam(5e-3), "epochs": 40}
    given |= {"columns": ("time", "load", "fan")}
    rounded, exact = table((1.7e9 + seconds).float()), table(seconds.float())
    return Recipe(train=rounded[0], test=rounded[1], **given), Recipe(train=exact[0], test=exact[1], **given)


@faulty(
    "sixth-tiny-vocabulary",
    "Keras documentation, TextVectorization(max_tokens); torchtext build_vocab_from_iterator(min_freq): rare words become unknown",
    fix="Keep all 400 words.",
)
def tiny_vocabulary():
    """The vocabulary keeps only the 30 most frequent words, which are stop words; all words of mood become unknown."""
    g = generator(72)
    mood = torch.rand(2000, 1, generator=g)
    stop = torch.randint(2, 32, (2000, 30), generator=g)
    good, bad = (torch.randint(a, a + 180, (2000, 30), generator=g) for a in (32, 212))
    kind = torch.rand(2000, 30, generator=g)
    is_good = torch.rand(2000, 30, generator=g) < mood
    x = torch.where(kind < 0.6, stop, torch.where(is_good, good, bad))
    y = ((x >= 32) & (x < 212)).sum(1) > (x >= 212).sum(1)
    y = y.long()
    known = torch.where(x < 32, x, 1)
    (few, few_test), (all_words, all_test) = split(known, y, 1500), split(x, y, 1500)

    class Net(nn.Module):
        """The mean of word vectors and two layers."""

        def __init__(self, words):
            super().__init__()
            self.embed, self.head = nn.Embedding(words, 24), mlp(24, 32, 2)

        def forward(self, x):
            return self.head(self.embed(x).mean(1))

    given = {"optimizer": adam(5e-3), "epochs": 12}
    return (
        Recipe(network=lambda: Net(32), train=few, test=few_test, **given),
        Recipe(network=lambda: Net(400), train=all_words, test=all_test, **given),
    )


@faulty(
    "sixth-scaled-by-itself",
    "sebastianraschka.com, faq, scale-training-test; Mueller and Guido, Introduction to ML with Python, figure 3-2",
    fix="Scale the test table with the minimum and maximum of the training table.",
)
def scaled_by_itself():
    """The test table is scaled with its own minimum and maximum, which two rows with wrong entries stretch."""
    (x, y), (xt, yt) = breast_cancer()
    xt = xt.clone()
    xt[[5, 60]] *= 8

    def scaled(x, by):
        low, high = by.min(0).values, by.max(0).values
        return (x - low) / (high - low)

    given = {"network": lambda: mlp(30, 32, 2), "train": (scaled(x, x), y), "epochs": 40}
    return Recipe(test=(scaled(xt, xt), yt), **given), Recipe(test=(scaled(xt, x), yt), **given)


@faulty(
    "sixth-overlapping-windows",
    "Dehghani et al. 2019, Sensors 19(22) 5026: overlapping windows in activity recognition inflate the score",
    fix="Split by recording before the windows are cut.",
    harm="inflated",
)
def overlapping_windows():
    """Windows of 40 steps with a stride of 4 are cut from 24 recordings and then divided at random."""
    g = generator(73)
    activity = torch.arange(24) % 4
    t = torch.arange(240.0)
    rate = 0.10 + 0.035 * activity + 0.03 * torch.randn(24, generator=g)
    phase = 6 * torch.rand(24, 3, 1, generator=g)
    size = 0.5 + torch.rand(24, 3, 1, generator=g)
    signals = size * torch.sin(rate[:, None, None] * t * torch.tensor([1.0, 2.0, 3.0])[:, None] + phase)
    signals = signals + 0.3 * torch.randn(24, 3, 240, generator=g)
    windows = signals.unfold(2, 40, 4).permute(0, 2, 1, 3)  # recordings, windows, channels, steps
    y = activity[:, None].expand(windows.shape[:2])
    test_recordings = torch.arange(24) >= 16
    mixed, mixed_test = split(windows.reshape(-1, 3, 40), y.reshape(-1), windows.shape[1] * 16)
    honest = windows[~test_recordings].reshape(-1, 3, 40), y[~test_recordings].reshape(-1)
    honest_test = windows[test_recordings].reshape(-1, 3, 40), y[test_recordings].reshape(-1)

    def network():
        first = [nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, 5, padding=2), nn.ReLU()]
        return nn.Sequential(*first, nn.MaxPool1d(2), nn.Flatten(), nn.Linear(320, 64), nn.ReLU(), nn.Linear(64, 4))

    given = {"network": network, "epochs": 20}
    return Recipe(train=mixed, test=mixed_test, **given), Recipe(train=honest, test=honest_test, **given)


@faulty(
    "sixth-masks-interpolated",
    "PyTorch forum 34689 and 143246: masks resized with bilinear instead of nearest interpolation",
    fix="Resize masks with mode='nearest'.",
)
def masks_interpolated():
    """Training masks were resized with bilinear interpolation, so borders carry numbers of other classes."""
    (x, masks), (xt, test_masks) = shapes(n=320, size=16, seed=3)
    order = torch.tensor([0, 4, 2])  # squares are class 4 of five, disks class 2
    masks, test_masks = order[masks], order[test_masks]
    small = F.interpolate(masks[:, None].float(), size=(7, 7), mode="bilinear", align_corners=False)
    blurred = F.interpolate(small, size=(16, 16), mode="bilinear", align_corners=False).long()[:, 0]
    given = {"network": lambda: UNet(classes=5, width=12), "test": (xt, test_masks), "optimizer": adam(3e-3)}
    given |= {"epochs": 20, "score": mean_iou}
    return Recipe(train=(x, blurred), **given), Recipe(train=(x, masks), **given)


@faulty(
    "sixth-two-units",
    "Kaggle Learn, data cleaning: inconsistent data entry; Kim et al. 2003, taxonomy of dirty data: different units",
    fix="Convert all targets to one unit.",
)
def two_units():
    """Three tenths of the training targets came from a second source and are in another unit, 2.2 times larger."""
    (x, y), test = housing()
    mean, std = x.mean(0), x.std(0)
    x, test = (x - mean) / std, ((test[0] - mean) / std, test[1])
    second = torch.rand(len(y), 1, generator=generator(74)) < 0.3
    given = {"network": lambda: mlp(8, 64, 64, 1), "test": test, "optimizer": adam(2e-3), "epochs": 30}
    return Recipe(train=(x, torch.where(second, 2.2 * y, y)), **given), Recipe(train=(x, y), **given)


@faulty(
    "sixth-unknown-users",
    "keras.io collaborative_filtering_movielens; Schein et al. 2002: cold start, users of the test set have untrained vectors",
    fix="Split the ratings of each user.",
)
def unknown_users():
    """Ratings were split by user, so the vectors of all test users were never trained."""
    g = generator(75)
    n_users, n_items = 120, 60
    taste, topic = torch.randn(n_users, 3, generator=g), torch.randn(n_items, 3, generator=g)
    users, items = torch.randint(n_users, (5000,), generator=g), torch.randint(n_items, (5000,), generator=g)
    rating = (taste[users] * topic[items]).sum(1) + 0.8 * taste[users, 0] + 0.3 * torch.randn(5000, generator=g)
    train, test = split((users, items), rating, 4000)
    old = users < 96
    by_user, by_user_test = (((users[part], items[part]), rating[part]) for part in (old, ~old))

    class Net(nn.Module):
        """Product of user and item vectors, with biases."""

        def __init__(self):
            super().__init__()
            self.users, self.items = nn.Embedding(n_users, 8), nn.Embedding(n_items, 8)
            self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)
            for table in (self.users, self.items, self.user_bias, self.item_bias):
                nn.init.normal_(table.weight, std=0.1)

        def forward(self, users, items):
            product = (self.users(users) * self.items(items)).sum(1)
            return product + self.user_bias(users)[:, 0] + self.item_bias(items)[:, 0]

    given = {"network": Net, "optimizer": adam(1e-2, weight_decay=1e-5), "epochs": 15}
    return Recipe(train=by_user, test=by_user_test, **given), Recipe(train=train, test=test, **given)


@faulty(
    "sixth-levels-of-a-trend",
    "StackExchange and keras.io weather forecasting: a network does not extrapolate a trend; Hyndman, fpp3, section 9.1 (differencing)",
    fix="Forecast the change, relative to the last value of the window.",
)
def levels_of_a_trend():
    """Sales grow all the time, and the network forecasts their level, which lies above all training levels in the test."""
    g = generator(76)
    t = torch.arange(900.0)
    sales = 0.01 * t + torch.sin(2 * torch.pi * t / 12) + 0.15 * torch.randn(900, generator=g)
    windows = sales.unfold(0, 25, 1)
    x, y = windows[:, :24, None], windows[:, 24:]
    last = x[:, -1]
    mean, std = sales[:600].mean(), sales[:600].std()
    x_level, y_level = (x - mean) / std, (y - mean) / std
    x_change, y_change = x - last[:, None], y - last

    def parts(x, y):
        return {"train": (x[:580], y[:580]), "test": (x[620:], y[620:])}

    given = {"network": lambda: LastState(nn.LSTM, 1, 32, 1), "optimizer": adam(5e-3), "epochs": 30}
    return Recipe(**parts(x_level, y_level), **given), Recipe(**parts(x_change, y_change), **given)


@faulty(
    "sixth-power-without-logarithm",
    "librosa.power_to_db and torchaudio AmplitudeToDB; scikit-learn example: compare the effect of different scalers",
    fix="The logarithm of the power.",
)
def power_without_logarithm():
    """Power spectra of sounds span many powers of ten and are given to the network without the logarithm."""
    g = generator(77)
    y = torch.randint(4, (1400,), generator=g)
    t = torch.arange(64.0)
    pitch = torch.tensor([0.5, 0.8, 1.1, 1.4])[y] + 0.1 * torch.randn(1400, generator=g)
    tone = torch.sin(pitch[:, None] * t + 6 * torch.rand(1400, 1, generator=g))
    sound = torch.exp(2.0 * torch.randn(1400, 1, generator=g)) * (tone + 0.5 * torch.randn(1400, 64, generator=g))
    power = torch.fft.rfft(sound).abs() ** 2
    (train, test), (dB, dB_test) = split(power, y, 1000), split(torch.log10(power + 1e-6), y, 1000)
    given = {"network": lambda: mlp(33, 64, 4), "epochs": 15}
    return Recipe(train=train, test=test, **given), Recipe(train=dB, test=dB_test, **given)


@faulty(
    "sixth-noisy-targets",
    "keras.io vision/autoencoder and StackOverflow: a denoising autoencoder must be compared with the clean images",
    fix="Clean images as targets.",
)
def noisy_targets():
    """A denoising autoencoder is trained with the noisy images as inputs and as targets."""
    square = torch.arange(16.0)
    g = generator(78)

    def pictures(n):
        at = 3 + 10 * torch.rand(n, 2, 1, 1, generator=g)
        return ((square[:, None] - at[:, 0]).abs() <= 3).float()[:, None] * ((square - at[:, 1]).abs() <= 3)[:, None]

    clean, clean_test = pictures(600), pictures(200)
    noisy, noisy_test = (a + 0.5 * torch.randn(a.shape, generator=g) for a in (clean, clean_test))

    given = {
        "network": lambda: UNet(classes=1),
        "test": (noisy_test, clean_test),
        "optimizer": adam(3e-3),
        "epochs": 12,
    }
    return Recipe(train=(noisy, noisy), **given), Recipe(train=(noisy, clean), **given)
