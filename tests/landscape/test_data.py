"""Curvature and noise from data of every kind: the same numbers from a pair, loaders and streams of batches."""

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from gnomon.core import InputError
from gnomon.landscape import gradient_noise, hessian, sharpness
from tests.shares import in_full

X = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)).double()
Y = (X[:, 0] > 0).long() + (X[:, 1] > 0.5).long()


class Flow(IterableDataset):
    def __iter__(self):
        return iter(zip(X, Y, strict=True))


KINDS = {
    "pair": lambda: (X, Y),
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True),
    "stream": lambda: DataLoader(Flow(), batch_size=7),
    "generator of dicts": lambda: ({"x": X[i : i + 5], "labels": Y[i : i + 5]} for i in range(0, 23, 5)),
}


def net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)).double()


@pytest.mark.parametrize("tile", in_full([None, 4], except_for=[4]))
@pytest.mark.parametrize("kind", KINDS)
def test_the_hessian_is_the_same_from_data_of_every_kind(kind, tile):
    wanted, state = hessian(net(), (X, Y)), torch.get_rng_state()
    H = hessian(net(), KINDS[kind](), tile=tile)
    assert_allclose(H.dense(), wanted.dense(), atol=1e-14)
    assert_allclose(H.gradient(), wanted.gradient(), atol=1e-14)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("kind", KINDS)
def test_sharpness_and_noise_are_the_same_from_data_of_every_kind(kind):
    wanted, other = sharpness(net(), (X, Y), k=2), sharpness(net(), KINDS[kind](), k=2, tile=6)
    assert_allclose(other.values, wanted.values, rtol=1e-9)
    wanted, other = gradient_noise(net(), (X, Y)), gradient_noise(net(), KINDS[kind]())
    numbers = [(r.scale, r.interval.low, r.variance, r.signal, r.examples) for r in (wanted, other)]
    assert_allclose(*numbers, rtol=1e-9)


@pytest.mark.parametrize("instrument", [hessian, sharpness, gradient_noise])
def test_data_without_targets_are_refused_in_the_name_of_the_call(instrument):
    with pytest.raises(InputError, match=rf"^{instrument.__name__}\(module, data\): the data have no targets"):
        instrument(net(), X)
