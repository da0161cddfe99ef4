"""The same numbers from tensors, a DataLoader and a generator of dict batches; errors name the call that was made."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gnomon.core.errors import InputError
from gnomon.tangent import laziness, laziness_criterion, ntk, ntk_by_layer, tangent_operator

torch.manual_seed(0)
NET = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()
AFTER = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()
X, Y = torch.randn(10, 3).double(), torch.randint(0, 2, (10,))


def dicts():
    for i in range(0, 10, 3):
        yield {"x": X[i : i + 3], "labels": Y[i : i + 3]}


DATA = {
    "pair": lambda: (X, Y),
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True),
    "generator": dicts,
}


@pytest.mark.parametrize("kind", DATA)
def test_kappa_is_the_same_from_every_kind_of_data(kind):
    assert laziness_criterion(NET, DATA[kind](), iterations=5) == laziness_criterion(NET, (X, Y), iterations=5)


@pytest.mark.parametrize("kind", ["loader", "generator"])
def test_instruments_without_targets_take_the_inputs_of_a_source(kind):
    assert torch.equal(ntk(NET, DATA[kind]()), ntk(NET, X))
    assert torch.equal(ntk(NET, X[:4], DATA[kind]()), ntk(NET, X[:4], X))
    assert torch.equal(tangent_operator(NET, DATA[kind]()).dense(), tangent_operator(NET, X).dense())
    assert laziness(NET, AFTER, DATA[kind]()) == laziness(NET, AFTER, X)


CALLS = {
    "ntk(module, data)": lambda x: ntk(NET, x),
    "ntk_by_layer(module, data)": lambda x: ntk_by_layer(NET, x),
    "tangent_operator(module, data)": lambda x: tangent_operator(NET, x),
    "laziness_criterion(module, data)": lambda x: laziness_criterion(NET, (x, Y[: len(x)])),
    "laziness(before, after, data)": lambda x: laziness(NET, AFTER, x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("x", [torch.full((2, 3), torch.nan), torch.zeros(2, 4), torch.zeros(0, 3)])
def test_errors_name_the_call(call, x):
    with pytest.raises((InputError, ArithmeticError)) as error:
        CALLS[call](x)
    assert str(error.value).startswith(f"{call}: ")


def test_kappa_asks_for_targets():
    with pytest.raises(InputError, match=r"laziness_criterion\(module, data\): the data have no targets"):
        laziness_criterion(NET, X)
