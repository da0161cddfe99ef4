"""Checks of data and instruments take loaders, data frames and arrays as other functions do, and refuse NaN by name."""

import numpy as np
import pandas
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon import GnomonError, NotFiniteError
from gnomon.attribution import information_plane
from gnomon.attribution.cues import patch_shuffle_accuracy
from gnomon.attribution.fourier import keep_frequencies
from gnomon.bounds.capacity import linear_rademacher
from gnomon.checks import label_conflicts, simple_model_baseline, suspect_labels
from gnomon.symmetry import equivariance, lie_derivative, translations
from gnomon.symmetry.lie import lie_derivatives

G = torch.Generator().manual_seed(0)
X = torch.randn(200, 4, generator=G)
Y = (X[:, 0] > 0).long()
IMAGES, CLASSES = torch.rand(12, 1, 8, 8, generator=G), torch.arange(12) % 2
MLP = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
CNN = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2))


def joined(x, y):
    """A pair, or data that have both."""
    return x if y is None else (x, y)


WITH_TARGETS = {
    "suspect_labels": (lambda x, y=None: suspect_labels(joined(x, y)), X, Y),
    "simple_model_baseline": (lambda x, y=None: simple_model_baseline(joined(x, y)), X, Y),
    "conflicts": (lambda x, y=None: label_conflicts(joined(x, y)), X, Y),
    "information_plane": (lambda x, y=None: information_plane(MLP, joined(x, y)), X, Y),
    "patch_shuffle_accuracy": (lambda x, y=None: patch_shuffle_accuracy(CNN, joined(x, y)), IMAGES, CLASSES),
}
OF_INPUTS = {
    "lie_derivative": (lambda x: lie_derivative(CNN, x, translations()), IMAGES),
    "lie_derivatives": (lambda x: lie_derivatives(CNN, x, translations()), IMAGES),
    "equivariance": (lambda x: equivariance(CNN, x, translations()), IMAGES),
    "linear_rademacher": (lambda x: linear_rademacher(x, draws=20), X),
    "keep_frequencies": (lambda x: keep_frequencies(x, torch.ones(8, 8)), IMAGES),
}


def loader(*parts):
    return DataLoader(TensorDataset(*parts), batch_size=5)


@pytest.mark.parametrize("name", WITH_TARGETS)
def test_data_with_targets_are_read_in_every_form(name):
    function, x, y = WITH_TARGETS[name]
    wanted = str(function(x, y))
    assert str(function(x.numpy(), y.numpy())) == wanted
    assert str(function(loader(x, y))) == wanted
    assert str(function([(a, b) for a, b in loader(x, y)])) == wanted
    if x.dim() == 2:
        assert str(function(pandas.DataFrame(x.numpy(), columns=list("abcd")), pandas.Series(y.numpy()))) == wanted


@pytest.mark.parametrize("name", [*WITH_TARGETS, "lie_derivative", "equivariance", "linear_rademacher"])
def test_inputs_that_are_not_finite_are_refused_in_the_words_of_the_call(name):
    function, x, *y = (WITH_TARGETS | OF_INPUTS)[name]
    broken = x.clone()
    broken.view(-1)[3] = torch.nan
    if name == "conflicts":  # which only asks whether inputs are equal
        assert function(broken, *y).groups == ()
        return
    with pytest.raises(NotFiniteError, match=rf"^{name}\("):
        function(broken, *y)


@pytest.mark.parametrize("name", OF_INPUTS)
def test_inputs_are_read_in_every_form_or_refused_in_a_sentence(name):
    function, x = OF_INPUTS[name]
    assert str(function(x.numpy())) == str(function(x))
    if name in ("linear_rademacher", "keep_frequencies"):
        with pytest.raises(GnomonError, match=rf"^{name}\(.*DataLoader"):
            function(loader(x))
        return
    assert str(function(loader(x, torch.zeros(len(x))))) == str(function(x))


def test_labels_that_are_not_classes_are_refused():
    with pytest.raises(GnomonError, match=r"^suspect_labels\(data\): .*an integer class for each input"):
        suspect_labels((X, np.zeros(200)))
    with pytest.raises(GnomonError, match=r"^suspect_labels\(data\): the data have no targets"):
        suspect_labels(X)
