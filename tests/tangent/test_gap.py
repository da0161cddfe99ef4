"""The gap to the linearization, against ridge regression by hand."""

import pytest
import torch
from torch import nn

from gnomon.core.metrics import accuracy, explained_variance
from gnomon.tangent import linearize, ntk, tangent_gap
from gnomon.tangent.gap import TangentGap
from gnomon.training import SGD, train


def data(n, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=generator).double()
    return x, torch.stack([x[:, 0] * x[:, 1], x[:, 2] + 0.3], 1)


@pytest.mark.parametrize("ridge", [0.3, 2.0])
def test_a_large_ridge_is_in_units_of_the_mean_of_the_diagonal(ridge):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2)).double()
    (x, y), (x_test, y_test) = data(7, 0), data(12, 1)
    found = tangent_gap(net, (x, y), (x_test, y_test), steps=3, ridge=ridge, optimizer=SGD(0.1))
    k, f, f_test = ntk(net, x), net(x).detach(), net(x_test).detach()
    inverse = torch.linalg.inv(k + ridge * k.diagonal().sum() / 7 * torch.eye(7).double())
    line = f_test + ntk(net, x_test, x) @ inverse @ (y - f)
    assert found.tangent == pytest.approx(explained_variance(line, y_test), rel=1e-9)
    trained = train(net, (x, y), optimizer=SGD(0.1), steps=3).model(x_test).detach()
    assert found.trained == pytest.approx(explained_variance(trained, y_test), rel=1e-9)
    assert found.gap == pytest.approx(found.trained - found.tangent) and found.examples == 12 and not found.classes
    assert linearize(net)(x).shape == f.shape


def test_classes_are_compared_by_accuracy_with_one_hot_targets():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 3)).double()
    x, x_test = data(15, 0)[0], data(40, 1)[0]
    y, y_test = x.argmax(1), x_test.argmax(1)
    found = tangent_gap(net, (x, y), (x_test, y_test), steps=3, ridge=0.1, optimizer=SGD(0.1))
    k, hot = ntk(net, x), nn.functional.one_hot(y, 3).double()
    inverse = torch.linalg.inv(k + 0.1 * k.diagonal().mean() * torch.eye(15).double())
    line = net(x_test).detach() + ntk(net, x_test, x) @ inverse @ (hot - net(x).detach())
    assert found.tangent == pytest.approx(accuracy(line, y_test)) and found.classes
    assert 0.4 < found.tangent < 1  # the case can tell right from wrong


def test_the_gap_is_the_trained_score_less_the_other():
    assert TangentGap(0.9, 0.7, 100, True).gap == pytest.approx(0.2)
    assert TangentGap(0.5, 0.75, 100, True).gap == -0.25
