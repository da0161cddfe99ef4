"""The operator against second differences of the loss, for many modules and losses; modules left as found."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.nn import functional as F

from gnomon.core import InputError, NotFiniteError
from gnomon.landscape import hessian
from gnomon.training import CrossEntropy, Logistic
from tests.oracles.hessian import hessian as differences
from tests.shares import in_full

ERROR = 2e-5  # of central differences with h = 1e-3, for fourth derivatives of about 20


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.read = nn.LSTM(2, 1, batch_first=True), nn.Linear(1, 1)

    def forward(self, x):
        return self.read(self.cell(x)[0][:, -1])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.MultiheadAttention(2, 1, batch_first=True)

    def forward(self, x):
        return (x + self.mix(x, x, x, need_weights=False)[0]).mean(1)


def cases():
    torch.manual_seed(1)
    x, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    images, sequences = torch.randn(4, 1, 4, 4), torch.randn(4, 3, 2)
    norm = nn.BatchNorm2d(2)
    norm(torch.randn(8, 2, 3, 3) * 2 + 1)
    return {
        "squared": (nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1)), x, torch.randn(5), None),
        "cross-entropy": (nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 3)), x, labels, CrossEntropy()),
        "logistic": (nn.Sequential(nn.Linear(3, 3), nn.Softplus(), nn.Linear(3, 1)), x, torch.tensor([1.0, -1, 1, 1, -1]), Logistic()),
        "a loss of torch": (nn.Linear(3, 3), x, labels, nn.CrossEntropyLoss()),
        "convolution, batch norm": (
            nn.Sequential(nn.Conv2d(1, 2, 3), norm, nn.Tanh(), nn.Flatten(), nn.Linear(8, 1)), images, torch.randn(4), None),
        "lstm": (Recurrent(), sequences, torch.randn(4), None),
        "attention": (Attending(), sequences, torch.randn(4, 2), None),
        "layer norm": (nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Linear(3, 1)), 3 * x, torch.randn(5), None),
        "dropout is off": (nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.9), nn.Tanh(), nn.Linear(2, 1)), x, torch.randn(5), None),
    }  # fmt: skip


def objective(name, x, y):
    def loss(module):
        f = module.eval()(x)
        if name in ("cross-entropy", "a loss of torch"):
            return F.cross_entropy(f, y)
        if name == "logistic":
            return torch.log1p(torch.exp(-y * f[:, 0])).mean()
        return ((f.reshape(len(y), -1) - y.reshape(len(y), -1)) ** 2).sum() / (2 * len(y))

    return loss


SLOW = ("convolution, batch norm", "lstm", "attention")
"""Networks whose second differences take seconds."""


@pytest.mark.parametrize("name", in_full(cases(), except_for=[name for name in cases() if name not in SLOW]))
def test_products_are_those_of_second_differences(name):
    module, x, y, loss = cases()[name]
    module, x = module.double(), x.double()
    y = y.double() if y.is_floating_point() else y
    H = hessian(module, (x, y), loss=loss)
    found = H.dense()
    assert_allclose(found, differences(module, objective(name, x, y)), atol=ERROR)
    assert_allclose(found, found.T, atol=1e-12)
    tiled = hessian(module, (x, y), loss=loss, tile=2)
    assert_allclose(tiled.dense(), found, atol=1e-12)
    assert_allclose(tiled.gradient(), H.gradient(), atol=1e-12)
    values = torch.linalg.eigvalsh(found)
    assert_allclose(H.top(3).values, values.flip(0)[:3], rtol=1e-6, atol=1e-8)
    estimate = H.trace(products=3 * len(found), confidence=0.999)
    assert_allclose(estimate.value, found.trace(), rtol=1e-8)  # as many products as parameters: nothing is left over
    assert float(found.trace()) in H.trace(products=30, confidence=0.9999, method="hutchinson").interval


def test_the_module_is_left_as_it_was():
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Dropout(), nn.Linear(2, 1)).train()
    module[0].weight.grad, x, y = torch.ones(2, 3), torch.randn(6, 3), torch.randn(6)
    before, state, modes = (
        copy.deepcopy(module.state_dict()),
        torch.get_rng_state(),
        [m.training for m in module.modules()],
    )
    H = hessian(module, (x, y), tile=2)
    H.top(1)
    H.trace(products=6)
    assert all(torch.equal(a, b) for a, b in zip(before.values(), module.state_dict().values(), strict=True))
    assert torch.equal(state, torch.get_rng_state()) and modes == [m.training for m in module.modules()]
    assert bool((module[0].weight.grad == 1).all()) and module[3].weight.grad is None


def test_some_parameters_and_inputs_by_name():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 2).double(), nn.Linear(2, 1).double()

        def forward(self, first, second):
            return self.b(torch.tanh(self.a(first))) + second

    module, x, y = (
        Named(),
        {"first": torch.randn(5, 3).double(), "second": torch.randn(5, 1).double()},
        torch.randn(5).double(),
    )
    whole, part = hessian(module, (x, y)).dense(), hessian(module, (x, y), parameters="b.*").dense()
    assert part.shape == (3, 3)
    assert_allclose(part, whole[-3:, -3:], atol=1e-14)


def test_a_loss_without_curvature_has_the_hessian_zero():
    H = hessian(nn.Linear(2, 1), (torch.randn(3, 2), torch.zeros(3, 1)), loss=lambda f, y: (f - y).mean())
    assert float(H.dense().abs().max()) == 0


def test_bad_arguments_are_refused():
    net, x, y = nn.Linear(2, 1), torch.randn(3, 2), torch.zeros(3)
    with pytest.raises(InputError, match="tile must be a whole number of at least 1, but it is 0"):
        hessian(net, (x, y), tile=0)
    with pytest.raises(InputError, match="method must be .* but it is 'exact'"):
        hessian(net, (x, y)).trace(method="exact")
    with pytest.raises(InputError, match="no parameter matches"):
        hessian(net, (x, y), parameters="conv*")
    nn.init.constant_(net.weight, float("nan"))
    with pytest.raises(NotFiniteError, match="the loss is not finite"):
        hessian(net, (x, y))
