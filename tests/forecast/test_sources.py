"""The same prediction from tensors, a pair, a DataLoader and a generator of dict batches."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon.core.errors import InputError

torch.manual_seed(0)
NET = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
X, Y = torch.randn(10, 3), torch.randint(0, 2, (10,))
TIMES = [0.0, 1.0]


def dicts():
    for i in range(0, 10, 3):
        yield {"x": X[i : i + 3], "labels": Y[i : i + 3]}


DATA = {"pair": lambda: (X, Y), "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=4), "generator": dicts}


@pytest.mark.parametrize("kind", DATA)
def test_a_prediction_is_the_same_from_every_kind_of_data(kind):
    expected = gnomon.predict(NET, (X, Y), times=TIMES)
    assert torch.equal(gnomon.predict(NET, DATA[kind](), times=TIMES).train, expected.train)


def test_test_data_bring_their_targets():
    expected = gnomon.predict(NET, (X, Y), test=(X[:4], Y[:4]), times=TIMES)
    loader = DataLoader(TensorDataset(X[:4], Y[:4]), batch_size=3)
    result = gnomon.predict(NET, (X, Y), test=loader, times=TIMES)
    assert torch.equal(result.test, expected.test) and torch.equal(result.test_loss, expected.test_loss)


def test_data_without_targets_are_refused():
    with pytest.raises(InputError, match=r"predict\(module, data\): the data have no targets"):
        gnomon.predict(NET, DataLoader(TensorDataset(X), batch_size=4))
