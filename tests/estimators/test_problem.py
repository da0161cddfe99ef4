"""The Gram matrix of a fit is computed once: every evaluation of a kernel is counted."""

import numpy as np
import pytest
import torch

from gnomon.estimators import NNGPClassifier, NNGPRegressor, NTKClassifier, NTKRegressor
from gnomon.estimators import problem as module
from gnomon.estimators.network import NetworkKernel
from gnomon.estimators.table import TableRows
from gnomon.linalg.solve import ConjugateGradient, NystromSolver


@pytest.fixture
def entries(monkeypatch):
    """The number of kernel entries of each evaluation, in a list that grows."""
    counted = []
    call, diagonal = NetworkKernel.__call__, NetworkKernel.diagonal

    def counting_call(self, x, z=None):
        counted.append(len(x) * len(x if z is None else z))
        return call(self, x, z)

    def counting_diagonal(self, x, kind=None):
        counted.append(len(x))
        return diagonal(self, x, kind)

    monkeypatch.setattr(NetworkKernel, "__call__", counting_call)
    monkeypatch.setattr(NetworkKernel, "diagonal", counting_diagonal)
    return counted


def table(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("model", [
    NTKClassifier(depth=2), NTKClassifier(depth=2, ridge=0.1), NTKClassifier(depth=2, t=3.0), NTKClassifier(depth=2, select=3),
    NTKClassifier(depth=2, solver=ConjugateGradient()), NTKClassifier(depth=2, solver=NystromSolver(10)), NNGPClassifier(depth=2),
    NTKRegressor(depth=2, ridge=0.1), NTKRegressor(depth=2, t=3.0), NNGPRegressor(depth=2), NNGPRegressor(depth=2, ridge=0.1),
])  # fmt: skip
def test_one_network_is_evaluated_once(model, entries):
    model.fit(*table(40))
    assert entries == [40 * 40]


def test_every_candidate_is_evaluated_once(entries):
    NTKClassifier().fit(*table(40))
    assert entries == [40 * 40] * 5  # depths 1 to 5


def test_many_rows_are_evaluated_once_for_the_choice_and_once_for_the_fit(entries, monkeypatch):
    monkeypatch.setattr(module, "MAX_SELECTION_ROWS", 25)
    NTKClassifier(depth=2).fit(*table(40))
    assert entries == [25 * 25, 40, 40 * 40]  # the choice and the calibration; the mean diagonal; the fit


def test_folds_of_many_rows_share_the_matrix_with_the_fit_and_the_calibration(entries, monkeypatch):
    monkeypatch.setattr(module, "MAX_SELECTION_ROWS", 25)
    NTKClassifier(depth=2, select=3).fit(*table(40))
    assert entries == [40 * 40]


def test_the_examined_part_is_the_same_whether_its_entries_are_computed_or_taken(monkeypatch):
    monkeypatch.setattr(module, "MAX_SELECTION_ROWS", 25)
    X, y = table(40)
    kernel = NTKClassifier(depth=2, ridge=0.1).fit(X, y).kernel_
    rows = TableRows(torch.from_numpy(X), torch.zeros(40, 1).double(), torch.ones(40).double())
    computed, taken = (module.KernelRegression(kernel, rows, float("inf")) for _ in range(2))
    assert taken.gram.shape == (40, 40)
    torch.testing.assert_close(taken.examined().gram, computed.examined().gram)
    assert taken.examined() is taken.examined()
