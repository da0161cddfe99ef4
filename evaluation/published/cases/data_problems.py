"""Problems of the data themselves: the checks of deepchecks and cleanlab, and reports of leaks.

Kapoor and Narayanan 2023 list the kinds of leaks. The sources name the check or the report.
"""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import digits, flat_digits, split, standardized
from evaluation.published.data.made import (
    blobs,
    generator,
    housing,
    imbalanced,
    regression,
    sine_forecast,
)
from evaluation.published.networks import SmallCNN, mlp

NAMES = ("income", "age", "rooms", "bedrooms", "people", "household", "latitude", "longitude")


@faulty(
    "leak-test-rows-in-train",
    "deepchecks: TrainTestSamplesMix; Kapoor and Narayanan 2023, L1.1",
    fix="Remove the copies of test rows from the training set.",
    harm="inflated",
)
def half_of_test_in_train():
    """Half of the test rows are also training rows, so a memorizing network looks better than it is."""
    g = generator(1)
    x = torch.randn(900, 12, generator=g)
    y = (x[:, 0] + 1.5 * torch.randn(900, generator=g) > 0).long()
    train, test = (x[:450], y[:450]), (x[450:], y[450:])
    mixed = (torch.cat((train[0], test[0][:225])), torch.cat((train[1], test[1][:225])))
    given = Recipe(network=lambda: mlp(12, 256, 2), train=mixed, test=test, epochs=150, optimizer=adam(3e-3))
    return given, replace(given, train=train)


@faulty(
    "leak-target-column",
    "Kaufman et al. 2012; deepchecks: FeatureLabelCorrelation",
    fix="Drop the column 'paid_fee': it is computed from the target.",
    harm="inflated",
)
def column_computed_from_target():
    """One of the columns is computed from the target and will not be known when the network is used."""
    (x, y), (xt, yt) = imbalanced(n=2000, rare=0.4, shift=0.5)
    g = generator(2)
    fee, fee_t = (t.float()[:, None] * 35 + 0.5 * torch.randn(len(t), 1, generator=g) for t in (y, yt))
    clean = standardized((x, y), (xt, yt))
    given = standardized((torch.cat((x, fee), 1), y), (torch.cat((xt, fee_t), 1), yt))
    columns = (*(f"column{i}" for i in range(10)), "paid_fee")
    recipe = Recipe(network=lambda: mlp(11, 32, 2), train=given[0], test=given[1], epochs=15, columns=columns)
    return recipe, replace(recipe, network=lambda: mlp(10, 32, 2), train=clean[0], test=clean[1], columns=columns[:-1])


@faulty(
    "leak-identifier-column",
    "deepchecks: IdentifierLabelCorrelation",
    fix="Drop the row number: the table was sorted by class before it was split.",
    harm="inflated",
)
def row_number_as_column():
    """The row number is a column, and the table was sorted by class, so the number gives the class away."""
    (x, y), (xt, yt) = blobs(n=1200, classes=3, spread=4.0)
    every = (torch.cat((x, xt)), torch.cat((y, yt)))
    order = every[1].argsort(stable=True)
    number = torch.empty(len(order)).scatter_(0, order, torch.arange(len(order)).float())
    rows = torch.cat((every[0], number[:, None]), 1)
    given = standardized(*split(rows, every[1], 800))
    clean = standardized(*split(every[0], every[1], 800))
    columns = (*(f"feature{i}" for i in range(10)), "id")
    recipe = Recipe(
        network=lambda: mlp(11, 64, 3), train=given[0], test=given[1], epochs=40, optimizer=adam(3e-3), columns=columns
    )
    return recipe, replace(recipe, network=lambda: mlp(10, 64, 3), train=clean[0], test=clean[1], columns=columns[:-1])


@faulty(
    "data-sentinel-values",
    "deepchecks: MixedNulls; UCI tables with -999 for missing",
    fix="Replace -999 by the column mean (and add a column that says it was missing).",
)
def sentinel_for_missing():
    """Missing ages and incomes are coded as -999 in 6 % of the rows."""
    (x, y), (xt, yt) = housing()
    g = generator(3)

    def damaged(t, value):
        holes = torch.rand(len(t), 8, generator=g) < 0.06
        return torch.where(holes, value, t)

    bad = (damaged(x, torch.tensor(-999.0)), y), (damaged(xt, torch.tensor(-999.0)), yt)
    mean = x.mean(0)
    g.manual_seed(3)
    good = (damaged(x, mean), y), (damaged(xt, mean), yt)
    bad, good = standardized(*bad), standardized(*good)
    given = Recipe(network=lambda: mlp(8, 64, 1), train=bad[0], test=bad[1], epochs=30, columns=NAMES)
    return given, replace(given, train=good[0], test=good[1])


@faulty(
    "leak-same-subjects",
    "Medical imaging: several images of one patient in train and test (Yagis et al. 2021)",
    fix="Split by subject, so that all recordings of a subject are on one side.",
    harm="inflated",
)
def subjects_on_both_sides():
    """Every subject has eight nearly equal recordings, which a random split puts into train and test."""
    g = generator(4)
    subjects, per = 120, 8
    base = torch.randn(subjects, 20, generator=g)
    label = (base[:, 0] + 2.0 * torch.randn(subjects, generator=g) > 0).long()
    x = base.repeat_interleave(per, 0) + 0.1 * torch.randn(subjects * per, 20, generator=g)
    y = label.repeat_interleave(per)
    train, test = split(x, y, 640)
    honest = (x[:640], y[:640]), (x[640:], y[640:])
    given = Recipe(network=lambda: mlp(20, 128, 2), train=train, test=test, epochs=40)
    return given, replace(given, train=honest[0], test=honest[1])


@faulty(
    "leak-near-copies-of-images",
    "CIFAR near-duplicates (Barz and Denzler 2020); deepchecks vision: SimilarImageLeakage",
    fix="Remove test images that are near-copies of training images.",
    harm="inflated",
)
def near_copies_of_images():
    """60 % of the test images are training images with a little noise."""
    (x, y), (xt, yt) = digits(250, 400)
    g = generator(5)
    y = torch.where(torch.rand(len(y), generator=g) < 0.3, torch.randint(10, y.shape, generator=g), y)
    yt = torch.where(torch.rand(len(yt), generator=g) < 0.3, torch.randint(10, yt.shape, generator=g), yt)
    pick = torch.randint(len(x), (240,), generator=g)
    copies = x[pick] + 0.02 * torch.randn(240, 1, 8, 8, generator=g)
    test = (torch.cat((copies, xt[:160])), torch.cat((y[pick], yt[:160])))
    given = Recipe(network=lambda: SmallCNN(width=32), train=(x, y), test=test, epochs=50)
    return given, replace(given, test=(xt, yt))


@faulty(
    "drift-columns",
    "deepchecks: FeatureDrift; evidently",
    fix="Bring the test columns into the unit of training (one is in Fahrenheit instead of Celsius).",
)
def column_in_other_unit():
    """Two columns of the test set are in another unit than in the training set."""
    (x, y), (xt, yt) = regression()
    moved = xt.clone()
    moved[:, 0], moved[:, 3] = 1.8 * xt[:, 0] + 3.2, 2.5 * xt[:, 3] - 2
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y), test=(moved, yt), epochs=25)
    return given, replace(given, test=(xt, yt))


@faulty(
    "drift-labels", "deepchecks: LabelDrift", fix="Split at random (stratified): test classes hardly occur in training."
)
def sorted_before_split():
    """The rows were sorted by class before the split, so two classes of the test set never occur in training."""
    (x, y), (xt, yt) = flat_digits()
    every = torch.cat((x, xt)), torch.cat((y, yt))
    order = every[1].argsort(stable=True)
    a, b = every[0][order], every[1][order]
    given = Recipe(network=lambda: mlp(64, 64, 10), train=(a[:1300], b[:1300]), test=(a[1300:], b[1300:]), epochs=12)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "leak-time-order",
    "Kapoor and Narayanan 2023, L3.1: temporal leak",
    fix="Split by time: train on the past and test on the future.",
    harm="inflated",
)
def random_split_of_a_walk():
    """A slowly drifting series is split at random, so each test time lies between two training times."""
    g = generator(10)
    t = torch.arange(1200.0)
    walk = torch.randn(1200, generator=g).cumsum(0) / 10
    x = torch.stack((t / 1200, torch.sin(t / 3.5), torch.randn(1200, generator=g)), 1)
    y = (walk + 0.3 * torch.sin(t / 3.5))[:, None]
    y = (y - y.mean()) / y.std()
    train, test = split(x, y, 900)
    columns = ("time", "season", "noise")
    given = Recipe(
        network=lambda: mlp(3, 128, 128, 1), train=train, test=test, epochs=60, optimizer=adam(3e-3), columns=columns
    )
    return given, replace(given, train=(x[:900], y[:900]), test=(x[900:], y[900:]))


@faulty(
    "data-shortcut-background",
    "Geirhos et al. 2020, shortcut learning; deepchecks vision: ImagePropertyDrift",
    fix="Remove the mark from the training images: it gives the class away and is absent in use.",
)
def mark_gives_class_away():
    """Each training image carries a bright pixel whose place is its class; test images do not."""
    (x, y), test = digits()
    marked = x.clone()
    marked[torch.arange(len(y)), 0, y // 8, y % 8] = 4.0
    given = Recipe(
        network=lambda: nn.Sequential(nn.Flatten(), mlp(64, 64, 10)), train=(marked, y), test=test, epochs=15
    )
    return given, replace(given, train=(x, y))


@faulty(
    "data-brightness-correlated",
    "deepchecks vision: PropertyLabelCorrelation",
    fix="Normalize the brightness of each image: it depends on the class in training only.",
)
def brightness_tells_class():
    """Training images of odd digits were taken with a brighter camera; in the test set brightness is random."""
    (x, y), (xt, yt) = digits()
    y, yt = y % 2, yt % 2
    g = generator(11)
    bright = torch.randint(2, (len(yt), 1, 1, 1), generator=g)
    given = Recipe(
        network=SmallCNN, train=(x + 0.7 * y[:, None, None, None], y), test=(xt + 0.7 * bright, yt), epochs=8
    )
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "data-category-as-number",
    "Google Rules of ML; scikit-learn user guide 7.3.4: category codes used as numbers",
    fix="One-hot encode the column 'city': its 40 codes have no order.",
)
def category_code_as_number():
    """A category with 40 codes without order is one numeric column, which a small network cannot unfold."""
    g = generator(12)
    code = torch.randint(40, (1600,), generator=g)
    effect = torch.randn(40, generator=g)
    other = torch.randn(1600, 3, generator=g)
    y = (effect[code] + 0.3 * other[:, 0])[:, None] + 0.1 * torch.randn(1600, 1, generator=g)
    number = torch.cat((code[:, None].float(), other), 1)
    hot = torch.cat((F.one_hot(code, 40).float(), other), 1)
    given_data = standardized(*split(number, y, 1200))
    fixed_data = split(hot, y, 1200)
    given = Recipe(
        network=lambda: mlp(4, 32, 1),
        train=given_data[0],
        test=given_data[1],
        epochs=25,
        columns=("city", "a", "b", "c"),
    )
    return given, replace(given, network=lambda: mlp(43, 32, 1), train=fixed_data[0], test=fixed_data[1], columns=())


@faulty("data-duplicates-in-train", "deepchecks: DataDuplicates", fix="Remove the 30 rows that occur 60 times each.")
def few_rows_many_times():
    """The training set has 1800 rows, but only 30 different ones; each occurs 60 times."""
    (x, y), test = blobs(classes=3, d=10, spread=2.0)
    given = Recipe(
        network=lambda: mlp(10, 64, 3), train=(x[:30].repeat(60, 1), y[:30].repeat(60)), test=test, epochs=15
    )
    return given, replace(given, train=(x, y))


@faulty(
    "data-constant-columns",
    "deepchecks: IsSingleValue; Humbatova et al. 2020, leaf: small range of values",
    fix="Multiply the informative columns (1e-4) to unit scale.",
)
def tiny_columns():
    """The informative columns vary by 0.0001 around 1, while noise columns have deviation 1."""
    (x, y), (xt, yt) = regression()
    scale = torch.tensor([1e-4] * 4 + [1.0] * 4)
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(1 + x * scale, y), test=(1 + xt * scale, yt), epochs=20)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty("data-outlier-row", "deepchecks: OutlierSampleDetection", fix="Remove or clip the outliers of size 1e4.")
def outliers_in_inputs():
    """Ten training rows contain entries of 10,000, which dominate every gradient."""
    (x, y), test = regression()
    bad = x.clone()
    bad[:10, torch.arange(10) % 8] = 1e4
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(bad, y), test=test, epochs=20)
    return given, replace(given, train=(x, y))


@faulty(
    "leak-future-in-window",
    "Kapoor and Narayanan 2023, L2: feature from the future",
    fix="End the window before the value that is predicted.",
    harm="inflated",
    margin=0.03,
)
def window_contains_target():
    """The window of the forecast includes the value to be predicted."""
    (x, y), (xt, yt) = sine_forecast(noise=0.4)
    bad = (torch.cat((x[:, 1:, 0], y), 1), y), (torch.cat((xt[:, 1:, 0], yt), 1), yt)
    given = Recipe(network=lambda: mlp(24, 64, 1), train=bad[0], test=bad[1], epochs=30)
    return given, replace(given, train=(x[..., 0], y), test=(xt[..., 0], yt))
