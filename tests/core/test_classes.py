"""Integer labels are classes wherever targets are taken; floating-point ones are numbers."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import dynamics, landscape, tangent
from gnomon.core.inputs.classes import are_classes, targets_as_numbers
from gnomon.linalg.solve import DirectSolver
from gnomon.training import CrossEntropy, Logistic, Squared

LABELS = torch.tensor([2, 0, 1, 2, 0, 1, 1, 0])
HOT = nn.functional.one_hot(LABELS).double()
X = torch.randn(8, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
K = X @ X.T + torch.eye(8).double()
NET = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).double()
FORMS = {"int64": LABELS, "int32": LABELS.int(), "uint8": LABELS.byte(), "numpy": LABELS.numpy()}
MEASURED = {
    "alignment": lambda y: tangent.alignment(K, y),
    "spectrum": lambda y: tangent.kernel_spectrum(K, y).energy,
    "kappa": lambda y: tangent.laziness_criterion(NET, (X, y), iterations=5).squared,
    "predict_from_kernel": lambda y: dynamics.predict_from_kernel(K, y, times=[1.0]).train,
    "gnomon.predict of a module": lambda y: gnomon.predict(NET, (X, y), loss=Squared(), times=[1.0]).train,
    "modes": lambda y: dynamics.training_modes(K, y).power,
    "ensemble": lambda y: dynamics.kernel_ensemble(K, K, y).mean,
    "posterior": lambda y: dynamics.gp_posterior(K, y).mean,
    "stopping": lambda y: dynamics.equivalent_stopping_time(K, y, ridge=0.1).train_gap,
    "sharpness": lambda y: landscape.sharpness(NET, (X, y), loss=Squared()).value,
    "gradient_noise": lambda y: landscape.gradient_noise(NET, (X, y), loss=Squared()).scale,
    "train": lambda y: gnomon.train(NET, (X, y), loss=Squared(), steps=3).loss,
    "solve": lambda y: DirectSolver().solve(K, y, ridge=0.1).coefficients,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MEASURED)
def test_class_indices_are_their_one_hot_rows(name, form):
    """The same numbers, bit for bit: labels are converted before anything is computed."""
    labels, rows = (torch.as_tensor(MEASURED[name](y)) for y in (FORMS[form], HOT))
    assert labels.shape == rows.shape and torch.equal(labels, rows)


@pytest.mark.parametrize("name", ["alignment", "spectrum", "predict_from_kernel", "modes", "posterior", "solve"])
def test_floating_point_labels_are_numbers(name):
    numbers_, classes = (torch.as_tensor(MEASURED[name](y)) for y in (LABELS.double(), LABELS))
    assert numbers_.shape != classes.shape or not torch.allclose(numbers_, classes)


def test_booleans_are_two_classes():
    y = torch.tensor([True, False, True])
    assert are_classes(y) and targets_as_numbers(y).tolist() == [[0, 1], [1, 0], [0, 1]]
    assert gnomon.training.evaluate.loss_for_targets(y).name == "cross-entropy"


def test_a_table_of_integers_has_its_columns_already():
    y = nn.functional.one_hot(LABELS)
    assert not are_classes(y) and torch.equal(targets_as_numbers(y), y)


def test_the_default_loss_of_classes_is_cross_entropy():
    assert gnomon.predict(NET, (X, LABELS), times=[0.0]).loss_name == CrossEntropy().name
    assert gnomon.train(NET, (X, LABELS), steps=0).loss_name == CrossEntropy().name


@pytest.mark.parametrize(
    "y", [torch.tensor([0, 1, 1, 0]), torch.tensor([-1, 1, 1, -1]), torch.tensor([-1.0, 1, 1, -1])]
)
def test_two_classes_of_one_output_are_signs_for_a_loss_of_margins(y):
    assert Logistic().targets(y, outputs=1).tolist() == [-1, 1, 1, -1]


def test_classes_of_several_outputs_are_one_against_the_rest_for_a_loss_of_margins():
    assert torch.equal(Logistic().targets(LABELS, outputs=3), 2 * HOT - 1)


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: tangent.alignment(K, torch.tensor([1, -1] * 4)), "labels from -1 to 1 .*y.float()"),
        (lambda: tangent.alignment(K, LABELS[:5]), "8 inputs and 5 targets"),
        (lambda: gnomon.train(nn.Linear(4, 1), (X, LABELS), loss=Squared()), "one output .*y.float()"),
        (lambda: tangent.laziness_criterion(nn.Linear(4, 1), (X, LABELS)), "one output .*y.float()"),
        (lambda: gnomon.train(nn.Linear(4, 2), (X, LABELS)), "labels from 0 to 2"),
        (lambda: dynamics.predict_from_kernel(K, np.array([], dtype=int)), "y is empty"),
    ],
)
def test_labels_that_fit_no_class_are_lessons(call, told):
    with pytest.raises(gnomon.InputError, match=told):
        call()
