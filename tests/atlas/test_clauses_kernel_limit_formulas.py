"""Clauses of the scope on tangent kernels and Gaussian limits: formulas, by computations that share no code."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, jacrev

import gnomon
from gnomon import InitializationLaw, limit, ntk
from gnomon.atlas.claims.kernel_limit import kappa_width_rate
from gnomon.dynamics import gp_posterior
from gnomon.tangent import kernel_spectrum, laziness_criterion
from gnomon.training import SGD


def rows_of_jacobian(net, x):
    """Returns the gradients of the single output, one row for each point."""
    w = {name: p.detach() for name, p in net.named_parameters()}
    parts = jacrev(lambda p: functional_call(net, p, (x,))[:, 0])(w)
    return torch.cat([part.flatten(1) for part in parts.values()], 1)


def test_the_end_of_tangent_training_has_the_least_norm_and_needs_the_output_at_the_start():
    """linearised-closed-form: b = J^T K^-1 (y - f_0) has no residual and the least norm; f = f_0 + J b, f_0 kept."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1)).double()
    x, y, test = torch.randn(6, 3).double(), torch.randn(6).double(), torch.randn(4, 3).double()
    j, j_test = rows_of_jacobian(net, x), rows_of_jacobian(net, test)
    f, f_test = net(x)[:, 0].detach(), net(test)[:, 0].detach()
    b = j.T @ torch.linalg.solve(j @ j.T, y - f)
    assert float((j @ b - (y - f)).abs().max()) <= 1e-8
    step, end = 1 / float(torch.linalg.matrix_norm(j, 2)) ** 2, torch.zeros_like(b)
    for _ in range(20_000):
        end += step * j.T @ (y - f - j @ end)
    torch.testing.assert_close(end, b, rtol=1e-4, atol=1e-6)
    other = torch.randn_like(b)
    other = b + other - j.T @ torch.linalg.solve(j @ j.T, j @ other)  # another solution of J b = y - f_0
    assert float((j @ other - (y - f)).abs().max()) <= 1e-8 and float(other.norm()) > float(b.norm()) + 1
    told = gnomon.predict(net, (x, y[:, None]), test=test, times=[math.inf]).test[-1][:, 0]
    torch.testing.assert_close(told, f_test + j_test @ b, rtol=1e-6, atol=1e-8)
    assert float((told - j_test @ b).abs().max()) > 0.05  # without f_0(x)
    zero = gnomon.predict(
        net, (x, y[:, None]), test=test, times=[math.inf], f0=torch.zeros(6, 1), f0_test=torch.zeros(4, 1)
    )
    by_hand = j_test @ j.T @ torch.linalg.solve(j @ j.T, y)  # an output that starts at zero has nothing to keep
    torch.testing.assert_close(zero.test[-1][:, 0], by_hand, rtol=1e-6, atol=1e-8)


def test_the_path_from_any_start_is_the_exponential_from_the_left():
    """ntk-closed-form-trajectory: f(t) = y + exp(-K t) (f(0) - y) for f(0) other than zero, as predict() computes it."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 30), nn.Tanh(), nn.Linear(30, 2)).double()
    x, y, times = torch.randn(5, 3).double(), torch.randn(5, 2).double(), [0.3, 2.0, 9.0]
    kernel = ntk(net, x, outputs="full")
    k = kernel.permute(0, 2, 1, 3).reshape(10, 10)
    f, goal = net(x).detach().flatten(), y.flatten()
    told = gnomon.predict(net, (x, y), optimizer=SGD(1e-9), times=times).train
    for t, found in zip(times, told, strict=True):
        by_hand = goal + torch.matrix_exp(-k * t / 5) @ (f - goal)  # the loss is a mean over five examples
        torch.testing.assert_close(found.flatten(), by_hand, rtol=1e-6, atol=1e-6)
    assert float(f.abs().max()) > 0.1


def test_a_factor_in_front_of_the_output_enters_the_kernel_squared():
    """ntk-two-layer-formula: c^2 [sum s(w x) s(w x') + x.x' sum v^2 s'(w x) s'(w x')] for the output c sum v s(w x)."""

    class Scaled(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.c, self.w, self.v = c, nn.Linear(3, 20, bias=False), nn.Linear(20, 1, bias=False)

        def forward(self, x):
            return self.c * self.v(torch.relu(self.w(x)))

    torch.manual_seed(0)
    net, x = Scaled(0.3).double(), torch.randn(6, 3).double()
    u, v = x @ net.w.weight.T, net.v.weight[0]
    on = (u > 0).double()
    by_hand = 0.3**2 * (u.relu() @ u.relu().T + x @ x.T * ((on * v**2) @ on.T))
    torch.testing.assert_close(ntk(net, x), by_hand.detach(), rtol=1e-10, atol=1e-12)


def test_alignment_and_condition_of_a_tangent_kernel_are_their_definitions():
    """ntk-empirical-definition: eigenvalues, condition number and centered <K, y y^T> / (|K| |y y^T|) of a network's kernel."""
    torch.manual_seed(0)
    net, x, y = nn.Sequential(nn.Linear(4, 9), nn.Tanh(), nn.Linear(9, 1)).double(), torch.randn(7, 4), torch.randn(7)
    k, y = ntk(net, x.double()), y.double()
    found = kernel_spectrum(k, y[:, None])
    np.testing.assert_allclose(found.values, torch.linalg.eigvalsh(k).flip(0), rtol=1e-9)
    condition = float(found.values[0] / found.values[-1])
    assert condition == pytest.approx(float(torch.linalg.cond(k)), rel=1e-6)
    center = torch.eye(7).double() - 1 / 7  # both matrices lose the means of their rows and columns
    a, b = center @ k @ center, center @ torch.outer(y, y) @ center
    by_hand = float((a * b).sum() / (a.norm() * b.norm()))
    assert float(gnomon.tangent.alignment(k, y[:, None])) == pytest.approx(by_hand, rel=1e-9)


def conditional_moments(nets, width, depth, seed):
    """Returns, for tanh networks, sums over the last hidden layer: the variances and covariance given that layer."""
    draw = torch.Generator().manual_seed(seed)
    h = torch.randn(2, 4, generator=torch.Generator().manual_seed(3)).expand(nets, 2, 4)
    for _ in range(depth):
        w = torch.randn(nets, h.shape[2], width, generator=draw)
        h = torch.tanh(1.5 * h @ w / h.shape[2] ** 0.5)
    gram = 1.5**2 * h @ h.mT / width
    return gram[:, 0, 0].double(), gram[:, 0, 1].double()


def test_covariances_of_two_and_three_hidden_layers_are_those_of_the_recursion():
    """nngp-recursion: mean covariance of 3000 networks within 5 % of the recursion for 2 and 3 hidden layers."""
    x = torch.randn(2, 4, generator=torch.Generator().manual_seed(3))
    for depth in (2, 3):
        parts = [p for k in range(depth) for p in (nn.Linear(4 if k == 0 else 8, 8), nn.Tanh())]
        theory = limit(nn.Sequential(*parts, nn.Linear(8, 1)), init=InitializationLaw(1.5), parametrization="ntk").nngp(
            x
        )
        variance, covariance = conditional_moments(300, 128, depth, depth)
        assert float(variance.mean()) == pytest.approx(float(theory[0, 0]), rel=0.05)
        assert float(covariance.mean()) == pytest.approx(float(theory[0, 1]), rel=0.05)


def test_the_excess_kurtosis_of_outputs_falls_as_one_over_the_width():
    """nngp-recursion: 3 Var(s) / E[s]^2 for outputs N(0, s) given the last layer has slope -1 +- 0.3 in the width."""
    widths, excess = (8, 32, 128), []
    for width in widths:
        s, _ = conditional_moments(4000 if width < 128 else 1500, width, 2, width)
        excess.append(float(3 * s.var() / s.mean() ** 2))
    assert np.polyfit(np.log(widths), np.log(excess), 1)[0] == pytest.approx(-1.0, abs=0.3)


def test_two_outputs_of_a_wide_network_are_independent():
    """nngp-recursion: outputs are i.i.d. processes: uncorrelated for every pair of points, and so are their squares."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(2, 4, generator=draw)
    h = torch.tanh(x @ torch.randn(6000, 4, 128, generator=draw) * 0.75)
    f = (1.5 * h @ torch.randn(6000, 128, 2, generator=draw) / 128**0.5).double()
    for first, second in ((f[:, 0, 0], f[:, 1, 1]), (f[:, 0, 0] ** 2, f[:, 1, 1] ** 2)):
        assert abs(float(torch.corrcoef(torch.stack([first, second]))[0, 1])) < 4 / 6000**0.5 + 0.01
    assert float(torch.corrcoef(torch.stack([f[:, 0, 0], f[:, 1, 0]]))[0, 1].abs()) > 0.1  # one output at two points


def test_covariances_of_a_linear_unit_are_within_three_percent():
    """nngp-linear-unit: |mean of y y^T - (s^2 / d) X X^T| <= 3 % of its Frobenius norm over 20,000 draws, not X^T X / n."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 6))
    y = 1.3 / 6**0.5 * rng.normal(size=(20_000, 6)) @ x.T
    theory, printed = 1.3**2 / 6 * x @ x.T, 1.3**2 / 6 * x.T @ x
    assert np.linalg.norm(y.T @ y / 20_000 - theory) <= 0.03 * np.linalg.norm(theory)
    assert np.linalg.norm(y.T @ y / 20_000 - printed) > 0.3 * np.linalg.norm(printed)


def test_measured_kurtosis_of_deep_linear_networks_of_twenty_units():
    """deep-linear-near-gaussian: 3 E|h|^4 / (E|h|^2)^2 is within 5 % of 3.300 and 3.630 at hidden width 20."""
    draw = torch.Generator().manual_seed(0)
    h = torch.randn(6000, 1, 20, generator=draw).double()
    deeper = h @ torch.randn(6000, 20, 20, generator=draw).double() / 20**0.5
    for state, exact in ((h, 3.300), (deeper, 3.630)):
        size = state.square().sum((1, 2))
        assert float(3 * (size**2).mean() / size.mean() ** 2) == pytest.approx(exact, rel=0.05)
        assert float(3 * (size**2).mean() / size.mean() ** 2) > 3.15  # not Gaussian


def test_intervals_of_the_posterior_cover_draws_of_their_own_process():
    """nngp-regression: 95 % intervals of the posterior hold 0.88 to 0.99 of new values drawn from the same process."""
    net = nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.Linear(9, 1))
    kernel, hits = limit(net, init=InitializationLaw(1.4, 0.3), parametrization="ntk").nngp, []
    for seed in range(12):
        draw = torch.Generator().manual_seed(seed)
        x = torch.randn(40, 3, generator=draw).double()
        k = kernel(x)
        f = torch.linalg.cholesky(k + 1e-9 * torch.eye(40)) @ torch.randn(40, generator=draw).double()
        y = f + 0.1 * torch.randn(40, generator=draw).double()
        told = gp_posterior(k[:20, :20], y[:20, None], nngp_test=k[20:, :20], nngp_test_test=k[20:, 20:], noise=0.01)
        off = (y[20:] - told.mean[:, 0]).abs() / (told.std**2 + 0.01).sqrt()
        hits.append(float((off <= 1.96).double().mean()))
    assert 0.88 <= np.mean(hits) <= 0.99


def test_kappa_tends_to_its_floor_and_is_its_definition():
    """lazy-kappa, alpha-scaling: |f_0| |D^2 f| / |D f|^2 as alpha grows, for an output that does not start at zero."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    x, y = torch.randn(1, 2).double(), torch.randn(1, 1).double()
    names = [n for n, _ in net.named_parameters()]
    shapes = [p.shape for p in net.parameters()]
    flat = torch.nn.utils.parameters_to_vector(net.parameters()).detach()

    def f(w):
        parts = torch.split(w, [s.numel() for s in shapes])
        return functional_call(net, {n: p.reshape(s) for n, p, s in zip(names, parts, shapes, strict=True)}, (x,))[0, 0]

    first = torch.autograd.functional.jacobian(f, flat).norm()
    second = torch.linalg.eigvalsh(torch.autograd.functional.hessian(f, flat)).abs().max()
    start = f(flat)
    floor = float(start.abs() * second / first**2)
    for alpha, close in ((1e2, 0.1), (1e4, 1e-3)):
        found = laziness_criterion(net, (x, y), alpha=alpha, starts=1, iterations=40)
        exact = float((alpha * start - y[0, 0]).abs() / alpha * second / first**2)
        assert found.squared == pytest.approx(exact, rel=1e-3) and exact == pytest.approx(floor, rel=close)


def test_laziness_of_outputs_over_the_width_does_not_fall_with_it():
    """kappa-width-rate: |slope| of log kappa <= 0.2 for outputs over m, from -0.55 to -0.3 for outputs over sqrt(m)."""
    for power, low, high in ((1.0, -0.2, 0.2), (0.5, -0.55, -0.3)):
        widths, kappas = kappa_width_rate.numbers(10, 20, (64, 256, 1024, 4096), power, 0)
        assert low <= np.polyfit(np.log(widths), np.log(np.mean(kappas, axis=0)), 1)[0] <= high
