"""Instruments of the tangent kernel against closed forms and plain loops."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.tangent import (
    convergence_rate,
    effective_parameters,
    frequency_curve,
    gradient_exponents,
    kernel_drift,
    kernel_frequencies,
    linearization_error,
    linearize,
    ntk,
    output_gaussianity,
    output_spread,
    regime_map,
    residual_modes,
    scale_sweep,
    step_linearity,
    tangent_gap,
    unit_changes,
)
from gnomon.tangent.complexity import kernel_norm
from gnomon.tangent.frequencies import circular_path
from gnomon.tangent.sweeps.spread import kernel_spread
from gnomon.training import SGD, train


def net(width=8, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1)).double()


X = torch.randn(6, 2, generator=torch.Generator().manual_seed(0)).double()
Y = X[:, 0] * X[:, 1]


def test_the_error_of_the_linearization_is_second_order():
    """linearised-model: |f_lin - f| / |f - f0| is of first order in the distance moved."""
    start, direction = net(), [torch.randn_like(p) for p in net().parameters()]
    ends = []
    for s in (0.02, 0.01):
        end = copy.deepcopy(start)
        with torch.no_grad():
            for p, d in zip(end.parameters(), direction, strict=True):
                p.add_(s * d)
        ends.append(end)
    found = linearization_error(start, ends, X)
    assert 1.8 < found.errors[0] / found.errors[1] < 2.2 and "describes" in found.verdict
    tangent = linearize(start)
    with torch.no_grad():
        for p, q in zip(tangent.module.parameters(), ends[0].parameters(), strict=True):
            p.copy_(q)
        by_hand = (tangent(X) - ends[0](X)).norm() / (ends[0](X) - start(X)).norm()
    assert_allclose(found.errors[0], float(by_hand), rtol=1e-9)


def test_one_step_moves_outputs_by_the_kernel():
    """ntk-gradient-flow-dynamics: f(w') - f(w) = -lr Theta (f - y) / n to first order."""
    model = net()
    f = model(X).detach()
    found = step_linearity(model, (X, Y), lr=1e-4)
    by_kernel = -1e-4 * ntk(model, X) @ (f[:, 0] - Y) / len(X)
    assert_allclose(found.predicted[:, 0], by_kernel, rtol=1e-8)
    assert found.error < 1e-3 and step_linearity(model, (X, Y), lr=2.0).error > found.error


def test_drift_of_the_kernel_and_signs_of_units():
    """ntk-constancy, relu-activation-stability, preactivation-velocity: |K_t - K_0| / |K_0|; signs that changed."""
    a, b = net(), net(seed=1)
    found = kernel_drift([a, b, a], X)
    k0, k1 = ntk(a, X), ntk(b, X)
    assert_allclose(found.drift, [0, float((k1 - k0).norm() / k0.norm()), 0], atol=1e-12)
    assert_allclose(found.velocity[2], float((k0 - k1).norm() / k1.norm()), rtol=1e-9)
    changes = unit_changes(a, b, X)
    h0, h1 = a[0](X).detach(), b[0](X).detach()
    assert_allclose(changes.flips["0"], float(((h0 > 0) != (h1 > 0)).double().mean()))
    assert_allclose(changes.shifts["0"], float((h1 - h0).norm() / h0.norm()))
    with pytest.raises(InputError, match="at least two"):
        kernel_drift([a], X)


def test_linear_modes_lose_their_error_at_their_own_rates():
    """ntk-eigenmode-decay: energy along u_i falls by (1 - lr lambda_i / n)^2 a step; ntk-positive-definite-relu: rates."""
    model = nn.Linear(2, 1, bias=False).double()
    x, y = torch.diag(torch.tensor([2.0, 1.0])).double(), torch.tensor([1.0, 3.0]).double()
    run = train(model, (x, y), optimizer=SGD(0.1), steps=5, record=[5])
    found = residual_modes(model, [run.model], (x, y))
    assert_allclose(found.values, [4.0, 1.0], rtol=1e-9)
    assert_allclose(found.left, [(1 - 0.1 * v / 2) ** 10 for v in (4.0, 1.0)], rtol=1e-6)
    told = convergence_rate(model, x, lr=0.1)
    assert_allclose([told.fastest, told.slowest, told.steps], [2.0, 0.5, 20.0], rtol=1e-6)


def test_norms_and_degrees_of_freedom_of_a_kernel():
    """rkhs-one-hidden-layer: y^T K^-1 y; effective-complexity-not-param-count: tr K (K + r)^-1 is at most n."""
    k = torch.tensor([[2.0, 1.0], [1.0, 2.0]]).double()
    y = torch.tensor([1.0, -1.0]).double()
    assert_allclose(kernel_norm(k, y).square, float(y @ torch.linalg.inv(k) @ y), rtol=1e-12)
    for width in (8, 256):
        model = net(width)
        gram = ntk(model, X)
        hat = gram @ torch.linalg.inv(gram + 0.1 * torch.eye(6).double())
        found = effective_parameters(model, X, ridge=0.1)
        assert_allclose(found.value, float(hat.trace()), rtol=1e-8)
        assert found.value < 6 < found.parameters


def test_the_gap_to_the_tangent_model():
    """linearised-not-competitive, linearised-closed-form: f_0 + k K^-1 (y - f_0), with f_0 kept on the left."""
    model = net(width=16)
    x_test = torch.randn(20, 2, generator=torch.Generator().manual_seed(3)).double()
    told = tangent_gap(model, (X, Y), (x_test, x_test[:, 0] * x_test[:, 1]), steps=5, ridge=1e-9)
    f = model(x_test).detach()[:, 0]
    line = f + ntk(model, x_test, X) @ torch.linalg.solve(ntk(model, X), Y - model(X).detach()[:, 0])
    target = x_test[:, 0] * x_test[:, 1]
    by_hand = 1 - float((line - target).square().mean() / target.var(correction=0))
    assert_allclose(told.tangent, by_hand, rtol=1e-4)
    classes = tangent_gap(nn.Linear(2, 2), (X.float(), (Y > 0).long()), (X.float(), (Y > 0).long()), steps=3)
    assert classes.classes and "accuracy" in classes.verdict and classes.plots()


def build(width, seed):
    class Net(nn.Module):
        """f = v tanh(W x) / sqrt(m), all weights standard normal."""

        def __init__(self):
            super().__init__()
            self.w, self.v = nn.Parameter(torch.randn(width, 2)), nn.Parameter(torch.randn(width))

        def forward(self, x):
            return (torch.tanh(x @ self.w.T) @ self.v)[:, None] / width**0.5

    return Net()


def test_spreads_and_exponents_along_the_width():
    """ntk-infinite-width-determinism, output-fluctuations-width, gradient-scaling-exponents, nngp-recursion."""
    x = X.float()
    found = kernel_spread(build, x, widths=(16, 64, 256), seeds=10)
    assert -0.75 < found.exponent < -0.3 and "theory" in found.verdict
    exponents = gradient_exponents(build, (x, Y.float()), widths=(16, 64, 256), draws=12).exponents
    assert_allclose([exponents["w"], exponents["v"]], [-0.5, -0.5], atol=0.15)  # each entry feels 1 / sqrt(m)
    told = output_spread(build, (x, Y.float()), widths=(8, 16, 32), draws=3, steps=3, optimizer=SGD(0.1))
    assert len(told.spread) == 3 and min(told.spread) > 0
    with pytest.raises(InputError, match="at least 3 rising"):
        kernel_spread(build, x, widths=(8, 4, 2))


@pytest.mark.full
def test_outputs_become_gaussian_at_the_rate_of_theory():
    """nngp-recursion, gaussianity: a product of two normals has excess 6, a sum of m of them 6 / m."""

    def product(width, seed):
        net = nn.Sequential(nn.Linear(1, width, bias=False), nn.Linear(width, 1, bias=False))
        for p in net.parameters():
            nn.init.normal_(p)
        return net

    found = output_gaussianity(product, torch.ones(1, 1), widths=(1, 2, 64), draws=500)
    assert found.excess[0] > 1.5 and abs(found.excess[2] - 6 / 64) < 4 * found.error and "Gaussian" in found.verdict


def test_scales_make_training_lazy():
    """lazy-cifar-experiments, feature-lazy-phase-boundary, feature-lazy-model-centred: drift falls as alpha grows."""
    x, y = X.float(), Y.float()
    told = scale_sweep(net(16).float(), (x, y), (x, y), alphas=(0.3, 30.0), lr=0.2, steps=40)
    assert told.flips[1] <= told.flips[0] and len(told.plots()[0].marks) == 3
    assert told.drift[1] < 0.1 * told.drift[0] and "alpha" in told.verdict
    found = regime_map(build, (x, y), widths=(8, 16, 32), alphas=(0.1, 10.0), lr=0.2, steps=30, level=0.05)
    assert all(row[-1] < row[0] for row in found.drift) and found.plots()


def test_frequencies_by_the_kernel_and_in_training():
    """spectral-bias-frequency: v_k^T K v_k / n by hand; waves of low frequency are learned first."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
    found = kernel_frequencies(model, circular_path(2), frequencies=(1, 3), points=32)
    t = torch.arange(32) / 32
    k = ntk(model, circular_path(2)(t)).double()
    for f, rate in zip((1, 3), found.rates, strict=True):
        c, s = (w(2 * torch.pi * f * t).double() for w in (torch.cos, torch.sin))
        assert_allclose(rate, float(c @ k @ c + s @ k @ s) / 2 / 16 / 32, rtol=1e-5)
    assert found.rates[0] > found.rates[1]
    curve = frequency_curve(model, circular_path(2), frequencies=(1, 6), points=32, steps=100, optimizer=SGD(0.1))
    assert curve.amplitudes[-1][0] > curve.amplitudes[-1][1] and curve.order[0] == 1
