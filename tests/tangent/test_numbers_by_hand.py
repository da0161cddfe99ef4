"""Frequencies, linearity, kappa and other numbers around tangent kernels, by hand or by numpy."""

import inspect
from math import pi

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.tangent import laziness_criterion, ntk
from gnomon.tangent.complexity import effective_parameters, kernel_norm
from gnomon.tangent.frequencies import frequency_curve, kernel_frequencies
from gnomon.tangent.gap import tangent_gap
from gnomon.tangent.linearity import linearization_error, step_linearity
from gnomon.tangent.sweeps.build import checked_widths
from gnomon.training import SGD

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 2, generator=G).double(), torch.randn(6, generator=G).double()


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 1)).double()


def curve(t):
    """A path that does not close."""
    return torch.stack([t, 1 - t**2], 1).double()


def test_rates_of_frequencies_are_mean_quotients_of_a_cosine_and_a_sine():
    net = network()
    found = kernel_frequencies(net, curve, frequencies=(1, 3), points=8)
    t = np.arange(8) / 8
    k = ntk(net, curve(torch.tensor(t).float())).numpy()
    for f, rate in zip((1, 3), found.rates, strict=True):
        waves = [np.cos(2 * pi * f * t), np.sin(2 * pi * f * t)]
        assert rate == pytest.approx(np.mean([w @ k @ w / (w @ w) for w in waves]) / 8, rel=1e-5)
    for function in (kernel_frequencies, frequency_curve):
        options = inspect.signature(function).parameters
        assert options["frequencies"].default == (1, 2, 4, 8) and options["points"].default == 64
    for frequencies in ((1, 4), (4,), ()):
        with pytest.raises(InputError):
            kernel_frequencies(net, curve, frequencies=frequencies, points=8)
    with pytest.raises(InputError):
        kernel_frequencies(net, curve, frequencies=(1,), points=3)


def test_waves_are_learned_to_amplitude_one():
    """A cosine and a sine of each frequency as inputs: the squared loss has curvature 1 / 2, and a step of 2 ends it."""

    def path(t):
        waves = [wave(2 * pi * f * t.double()) for f in (1, 3) for wave in (torch.cos, torch.sin)]
        return torch.stack(waves, 1)

    net = nn.Linear(4, 1, bias=False).double()
    net.weight.data = torch.tensor([[0.3, 0.4, 0.0, -2.0]]).double()
    found = frequency_curve(net, path, frequencies=(1, 3), points=16, steps=1, optimizer=SGD(2.0), seed=1)
    assert found.steps == (0, 1)
    assert found.amplitudes[0] == pytest.approx((0.5, 2.0), rel=1e-6)
    assert found.amplitudes[1] == pytest.approx((1.0, 1.0), rel=1e-6)
    half = frequency_curve(net, path, frequencies=(1, 3), points=16, steps=1, optimizer=SGD(1.0), seed=1).amplitudes[1]
    phases = torch.rand(2, generator=torch.Generator().manual_seed(1)).tolist()
    ends = [np.exp(-2j * pi * p) for p in phases]  # cos(2 pi (f t + p)) has the weights cos 2 pi p and -sin 2 pi p
    assert half == pytest.approx([abs(0.3 + 0.4j + ends[0]) / 2, abs(-2.0j + ends[1]) / 2], rel=1e-6)
    assert inspect.signature(frequency_curve).parameters["steps"].default == 1000


def test_a_linearization_is_compared_with_the_change_of_the_outputs():
    net, later = network(), network()
    with torch.no_grad():
        for p in later.parameters():
            p.add_(0.3)
    found = linearization_error(net, [later, net], X)
    h = 1e-6
    middle = network()
    with torch.no_grad():
        for p in middle.parameters():
            p.add_(0.3 * h)
        line = net(X) + (middle(X) - net(X)) / h
        change = later(X) - net(X)
        assert found.errors[0] == pytest.approx(float((line - later(X)).norm() / change.norm()), rel=1e-4)
        assert found.moved[0] == pytest.approx(float(change.norm() / net(X).norm()))
    assert (found.errors[1], found.moved[1]) == (0.0, 0.0)


def test_outputs_that_start_at_zero_or_stay_are_no_division_by_zero():
    zero, one = (nn.Linear(2, 1, bias=False).double() for _ in range(2))
    zero.weight.data.zero_(), one.weight.data.fill_(1.0)
    assert linearization_error(zero, [one], X).moved[0] > 1e200
    assert step_linearity(zero, (X, 0 * Y), lr=0.1).error == 0.0


def test_the_first_order_of_a_step_is_the_kernel_times_the_error():
    net = network()
    found = step_linearity(net, (X, Y), lr=0.2)
    with torch.no_grad():
        error = net(X)[:, 0] - Y
    assert torch.allclose(found.predicted[:, 0], -0.2 * ntk(net, X) @ error / 6)
    assert found.error == pytest.approx(float((found.predicted - found.observed).norm() / found.observed.norm()))


class Product(nn.Module):
    """f = (a b, a^2) x: D f = [[b, a], [2 a, 0]], and D^2 f has the blocks [[0, 1], [1, 0]] and [[2, 0], [0, 0]]."""

    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor(a).double()), nn.Parameter(torch.tensor(b).double())

    def forward(self, x):
        return torch.cat([self.a * self.b * x, self.a**2 * x], 1)


def test_kappa_of_a_product_and_a_square():
    """Targets (0, 0), alpha 3: outputs are 3 (a b, a^2)."""
    a, b = 1.5, 0.5
    found = laziness_criterion(Product(a, b), (torch.ones(1, 1).double(), torch.zeros(1, 2).double()), alpha=3.0)
    jacobian = np.array([[b, a], [2 * a, 0.0]])
    first = np.linalg.svd(jacobian)[1][0]
    angles = np.linspace(0, pi, 20001)
    u = np.stack([np.cos(angles), np.sin(angles)])
    second = np.sqrt((2 * u[0] * u[1]) ** 2 + (2 * u[0] ** 2) ** 2).max()
    f = 3 * np.array([a * b, a**2])
    assert (found.first, found.second, found.distance) == pytest.approx((first, second, np.linalg.norm(f)), rel=1e-5)
    assert found.squared == pytest.approx(np.linalg.norm(f) / 3 * second / first**2, rel=1e-5)
    gradient = 3 * np.linalg.norm(jacobian.T @ f)
    assert found.value == pytest.approx(f @ f / 2 / gradient * second / first, rel=1e-5)
    options = inspect.signature(laziness_criterion).parameters
    assert [options[name].default for name in ("alpha", "starts", "iterations")] == [1.0, 3, 100]


class Drifting(nn.Module):
    """A linear layer whose outputs grow by a part at every call."""

    def __init__(self, part):
        super().__init__()
        self.layer, self.part = nn.Linear(2, 1), part
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return self.layer(x) * (1 + self.part * self.calls)


@pytest.mark.parametrize(("part", "refused"), [(1e-5, False), (2e-3, True)])
def test_modules_that_a_call_changes_by_more_than_half_the_digits_are_refused(part, refused):
    x, y = X.float(), Y.float()[:, None]
    if refused:
        with pytest.raises(InputError):
            laziness_criterion(Drifting(part), (x, y))
    else:
        assert laziness_criterion(Drifting(part), (x, y)).first > 0


@pytest.mark.parametrize("widths", [(8, 16), (8, 8, 16), (16, 8, 32)])
def test_widths_must_be_three_and_rise(widths):
    with pytest.raises(InputError):
        checked_widths(widths)
    assert checked_widths((8, 16, 32)) == (8, 16, 32)


def test_norms_and_degrees_of_freedom_are_sums_over_eigenvalues():
    net = network()
    k = ntk(net, X)
    values, vectors = np.linalg.eigh(k.numpy())
    y = Y.numpy()
    assert kernel_norm(k, Y).square == pytest.approx(((vectors.T @ y) ** 2 / values).sum())
    assert kernel_norm(torch.diag(torch.tensor([4.0, 0.0])).double(), torch.tensor([1.0, 3.0])).outside == 0.9
    assert effective_parameters(net, X, ridge=0.3).value == pytest.approx((values / (values + 0.3)).sum())
    with pytest.raises(InputError):
        kernel_norm(torch.ones(2, 3), torch.ones(2))


def test_the_linearization_is_ridge_regression_around_the_first_outputs():
    """Scores are the explained shares of the variance of the targets at the test points."""
    net = network()
    found = tangent_gap(net, (X[:4], Y[:4]), (X[4:], Y[4:]), steps=1, ridge=0.1)
    k, across = ntk(net, X[:4]).numpy(), ntk(net, X[4:], X[:4]).numpy()
    with torch.no_grad():
        f = net(X)[:, 0].numpy()
    y = Y.numpy()
    line = f[4:] + across @ np.linalg.solve(k + 0.1 * k.diagonal().mean() * np.eye(4), y[:4] - f[:4])
    share = 1 - ((line - y[4:]) ** 2).sum() / ((y[4:] - y[4:].mean()) ** 2).sum()
    assert found.tangent == pytest.approx(share)
    assert inspect.signature(tangent_gap).parameters["steps"].default == 500
