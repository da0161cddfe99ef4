"""Changes of a data set: each is a function of (train, test), or returns one. Most of them plant a fault."""

import torch
from torch.nn import functional as F  # noqa: N812

# Inputs and targets in general


def inputs(function):
    """Changes the inputs of both sets."""
    return lambda train, test: ((function(train[0]), train[1]), (function(test[0]), test[1]))


def targets(function):
    """Changes the targets of both sets."""
    return lambda train, test: ((train[0], function(train[1])), (test[0], function(test[1])))


def train_targets(function):
    """Changes the targets of the training set only."""
    return lambda train, test: ((train[0], function(train[1])), test)


def change_test_inputs(function):
    """Changes the inputs of the test set only."""
    return lambda train, test: (train, (function(test[0]), test[1]))


def append_columns(function):
    """Appends columns that are computed from the inputs, in both sets."""
    return inputs(lambda x: torch.cat([x, function(x)], 1))


def change_column(index, function):
    """Changes one column, or one channel, of the inputs of both sets."""

    def change(x):
        x = x.clone()
        x[:, index] = function(x[:, index])
        return x

    return inputs(change)


def number_columns(function, *, train=True):
    """Changes the entry "number" of inputs passed by name; ``train=False`` leaves the training set as it is."""

    def change(*sets):
        return tuple(
            ({**x, "number": function(x["number"])}, y) if train or i == 1 else (x, y) for i, (x, y) in enumerate(sets)
        )

    return change


def flatten_inputs(train, test):
    """Inputs as vectors."""
    return inputs(lambda x: x.flatten(1))(train, test)


def as_float64(train, test):
    """Inputs in double precision."""
    return inputs(lambda x: x.double())(train, test)


def first_rows(n):
    """The first n training examples."""
    return lambda train, test: ((train[0][:n], train[1][:n]), test)


def keep_training_rows(condition):
    """Training examples whose label meets the condition."""

    def change(train, test):
        keep = condition(train[1])
        return (train[0][keep], train[1][keep]), test

    return change


def nan_in_a_column(train, test):
    """Every fiftieth training row has NaN in column 2."""
    x = train[0].clone()
    x[::50, 2] = torch.nan
    return (x, train[1]), test


# Labels


def as_column(y):
    """Labels as floats of shape (n, 1)."""
    return y.float()[:, None]


def one_hot(classes):
    """Labels as one-hot rows."""
    return targets(lambda y: F.one_hot(y, classes).float())


def one_in(k, label):
    """A condition that keeps one in k examples of a class, and all others."""
    return lambda y: (y != label) | (torch.arange(len(y)) % k == 0)


def mostly_class_0(y):
    """A condition that keeps class 0, and one in forty of the others."""
    return (y == 0) | (torch.arange(len(y)) % 40 == 0)


def shuffle(y):
    """Targets in random order."""
    return y[torch.randperm(len(y), generator=torch.Generator().manual_seed(0))]


def wrong_labels(share, seed=0):
    """Replaces a share of the training labels by another class."""

    def change(y):
        g = torch.Generator().manual_seed(seed)
        index = torch.randperm(len(y), generator=g)[: int(share * len(y))]
        k = int(y.max()) + 1
        y = y.clone()
        y[index] = (y[index] + torch.randint(1, k, (len(index),), generator=g)) % k
        return y

    return train_targets(change)


def relabel(share, old, new):
    """Gives a share of one class the label of another one, in the training set."""

    def change(y):
        hit = (y == old) & (torch.rand(len(y), generator=torch.Generator().manual_seed(2)) < share)
        return torch.where(hit, new, y)

    return train_targets(change)


def contradict(share):
    """Repeats a share of the training examples with another label."""

    def change(train, test):
        k = int(share * len(train[1]))
        c = int(train[1].max()) + 1
        return (torch.cat([train[0], train[0][:k]]), torch.cat([train[1], (train[1][:k] + 1) % c])), test

    return change


def half_of_inputs_copied(train, test):
    """The second half of the training inputs is a copy of the first, as by a wrong collate function."""
    x = train[0].clone()
    x[len(x) // 2 : 2 * (len(x) // 2)] = x[: len(x) // 2]
    return (x, train[1]), test


def misaligned(train, test):
    """Training targets are seven rows late."""
    return (train[0], train[1].roll(7, 0)), test


def mixup(train, test):
    """Blends training images and their one-hot labels of six classes."""
    g = torch.Generator().manual_seed(3)
    j, part = torch.randperm(len(train[1]), generator=g), 0.5 * torch.rand(len(train[1]), 1, generator=g)
    labels = F.one_hot(train[1], 6).float()
    weight = part[..., None, None]
    blended = (1 - weight) * train[0] + weight * train[0][j], (1 - part) * labels + part * labels[j]
    return blended, (test[0], F.one_hot(test[1], 6).float())


# Train and test


def leak(share, scale=1.0, noise=0.0, seed=0):
    """Replaces a share of the test examples by training examples, optionally scaled and with noise."""

    def change(train, test):
        k = int(share * len(test[1]))
        g = torch.Generator().manual_seed(seed)
        copies = train[0][:k]
        if scale != 1 or noise:
            copies = scale * copies + noise * torch.randn(copies.shape, generator=g)
        return train, (torch.cat([test[0][k:], copies]), torch.cat([test[1][k:], train[1][:k]]))

    return change


def leak_named_rows(train, test):
    """A tenth of the test rows, passed by name, are training rows, as after a wrong join."""
    k = len(test[1]) // 10
    x = {name: torch.cat([v[k:], train[0][name][:k]]) for name, v in test[0].items()}
    return train, (x, torch.cat([test[1][k:], train[1][:k]]))


def sort_before_split(train, test):
    """Train and test are cut from a file that was sorted by class."""
    x, y = torch.cat([train[0], test[0]]), torch.cat([train[1], test[1]])
    x, y = x[y.argsort(stable=True)], y.sort().values
    return (x[: len(train[1])], y[: len(train[1])]), (x[len(train[1]) :], y[len(train[1]) :])


def permute_test_columns(train, test):
    """The columns of the test set are in another order, as after a join."""
    order = torch.randperm(test[0].shape[1], generator=torch.Generator().manual_seed(1))
    return train, (test[0][:, order], test[1])


def other_words_in_test(train, test):
    """Every second word of the test set is replaced by a word that is absent from the training set."""
    x = test[0]
    return train, (torch.where((torch.arange(x.shape[1]) % 2 == 0) & (x > 0), 1400 + x % 500, x), test[1])
