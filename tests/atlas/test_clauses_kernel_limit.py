"""Clauses of the scope on wide networks that no claim measures; the ledger names these tests."""

from itertools import product

import numpy as np
import pytest
import torch
from sklearn.datasets import load_diabetes
from torch import nn

import gnomon
from gnomon.atlas.claims.kernel_limit import feature_lazy_phase_boundary, mean_field_global_convergence, ntk_constancy


@pytest.mark.full
def test_the_kernel_of_the_widest_network_changes_by_two_percent_at_most():
    """ntk-constancy: |K_T - K_0| / |K_0| <= 0.02 at width 4096."""
    torch.manual_seed(0)
    _, changes = ntk_constancy.drift(20, (4096,), lambda m: 1.0)
    assert float(changes.mean()) <= 0.02


def test_the_relu_kernel_of_a_hundred_unit_vectors_is_positive_definite():
    """ntk-positive-definite-relu: the smallest eigenvalue is above 1e-6 for 100 random unit inputs."""
    x = nn.functional.normalize(torch.randn(100, 5, generator=torch.Generator().manual_seed(0)).double())
    kernel = gnomon.limit(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1)), parametrization="ntk").ntk(x)
    assert float(torch.linalg.eigvalsh(kernel)[0]) > 1e-6


def run_both(nets, width):
    """Trains f = sum v tanh(w x) / sqrt(m) and its tangent model; returns changes of outputs and of weights."""
    draw = torch.Generator().manual_seed(width)
    x, y = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).double(), torch.ones(5, 1).double()
    w0, v0 = (torch.randn(nets, width, k, generator=draw).double() for k in (3, 1))
    h0 = torch.tanh(x @ w0.mT)
    gate, start, root = (1 - h0**2) * v0.mT, h0 @ v0, width**0.5
    w, v, a, b = w0, v0, w0, v0
    for _ in range(10):
        h = torch.tanh(x @ w.mT)
        r = (y - (h @ v - start) / root) / root
        tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).mT)).sum(-1, keepdim=True)
        s = (y - tangent / root) / root
        w, v = w + 0.1 * (r * (1 - h**2) * v.mT).mT @ x, v + 0.1 * h.mT @ r
        a, b = a + 0.1 * (s * gate).mT @ x, b + 0.1 * h0.mT @ s
    outputs = (torch.tanh(x @ w.mT) @ v - start) / root
    tangent = (h0 @ (b - v0) + (gate * (x @ (a - w0).mT)).sum(-1, keepdim=True)) / root
    moved = torch.cat((w - w0, v - v0), 2).flatten(1).norm(dim=1).mean()
    return float((outputs - tangent).flatten(1).norm(dim=1).mean()), float(moved)


def test_outputs_part_by_the_root_of_the_width_and_weights_move_by_a_constant():
    """linearisation-width-rate: |f - f_lin| = O(m^-1/2), with a slope from -1.25 to -0.4; |w - w_0| has slope 0."""
    widths = (64, 256, 1024)
    found = np.log([run_both(16, m) for m in widths])
    slopes = np.polyfit(np.log(widths), found, 1)[0]
    assert -1.25 <= slopes[0] <= -0.4 and abs(slopes[1]) <= 0.1


def test_smoothing_a_triangle_wave_trades_error_for_norm():
    """rkhs-lipschitz-claim: c_k -> r^k c_k has a finite norm that grows and an error that falls as r goes to 1."""
    k = np.arange(2, 4001, 4)  # the frequencies of a triangle wave of period pi, with c_k ~ k^-2
    c = 1.0 / k**2
    errors, norms = [], []
    for r in (0.5, 0.8, 0.95, 0.99):
        errors.append(((c - r**k * c) ** 2).sum())
        norms.append((r**k * c * (k**2 - 1) / 2) @ (r**k * c * (k**2 - 1) / 2))
    assert np.all(np.diff(errors) < 0) and np.all(np.diff(norms) > 0)


def test_the_process_of_a_wide_network_predicts_as_well_as_a_gaussian_kernel():
    """gp-infinite-width-uncertainty: the negative log density of new labels differs by at most 0.2 nats per point."""
    x, y = (torch.tensor(part) for part in load_diabetes(return_X_y=True))
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y, n = x[order] / x.std(0), (y[order] - y.mean()) / y.std(), 200

    def loss(kernels):
        """The loss on new labels with the kernel and noise that are most likely for the training labels."""
        best = (float("inf"), 0.0)
        for kernel in kernels:
            values, vectors = torch.linalg.eigh(kernel[:n, :n])
            for noise in torch.logspace(-2, 1, 30).double():
                evidence = float(((vectors.T @ y[:n]) ** 2 / (values + noise) + (values + noise).log()).sum())
                weights = kernel[n:, :n] @ vectors / (values + noise) @ vectors.T
                variance = kernel.diagonal()[n:] + noise - (weights * kernel[n:, :n]).sum(1)
                error = (y[n:] - weights @ y[:n]) ** 2 / variance
                best = min(best, (evidence, float((error + (2 * torch.pi * variance).log()).mean() / 2)))
        return best[1]

    net = nn.Sequential(nn.Linear(10, 9), nn.ReLU(), nn.Linear(9, 1))
    wide = gnomon.limit(net, parametrization="ntk").nngp(x)
    distances = torch.cdist(x, x) ** 2
    assert abs(loss([wide]) - loss([torch.exp(-distances / length) for length in (10, 20, 40, 80)])) <= 0.2


@pytest.mark.full
def test_a_hundred_neurons_find_the_teacher_and_three_often_do_not():
    """mean-field-global-convergence: loss < 0.001 in >= 90 % of runs with 100 neurons, in fewer with 3."""
    shares = []
    for width in (100, 3):
        torch.manual_seed(0)
        loss = mean_field_global_convergence.log_final_loss(width, 20, 2500, 1.0)
        shares.append(float((loss < np.log(1e-3)).float().mean()))
    assert shares[0] >= 0.9 > shares[1]


def test_weights_move_at_the_rates_of_their_gradients_over_alpha():
    """gradient-scaling-exponents: the first step of each entry is m^-1/2, m^-1, m^-1/2 over alpha."""
    torch.manual_seed(0)
    x, y, widths, sizes = torch.randn(6, 5), torch.randn(6), (64, 256, 1024), {}
    for alpha, m in product((1.0, 4.0), widths):
        torch.manual_seed(m)
        p = [torch.randn(8, *shape).requires_grad_() for shape in ((5, m), (m, m), (m, 1))]
        f = feature_lazy_phase_boundary.output(p, x)
        loss = ((alpha * (f - f.detach()) - y) ** 2).sum() / (12 * alpha**2)
        sizes[alpha, m] = [float(g.square().mean().sqrt().log()) for g in torch.autograd.grad(loss, p)]
    slopes = np.polyfit(np.log(widths), [sizes[1.0, m] for m in widths], 1)[0]
    np.testing.assert_allclose(slopes, [-0.5, -1, -0.5], atol=0.1)
    np.testing.assert_allclose(np.subtract(sizes[4.0, 64], sizes[1.0, 64]), -np.log(4), atol=1e-4)


@pytest.mark.full
def test_half_times_at_one_alpha_sqrt_m_do_not_depend_on_the_width():
    """feature-lazy-phase-boundary: the time at which the loss is halved differs by <= 25 % at alpha sqrt(m) = 1."""
    times = []
    for m in (64, 256):
        torch.manual_seed(0)
        x, y, alpha = torch.randn(6, 3), torch.randn(6), m**-0.5
        p = [torch.randn(16, *shape).requires_grad_() for shape in ((3, m), (m, m), (m, 1))]
        start = feature_lazy_phase_boundary.output(p, x).detach()
        steps, loss = 0, torch.tensor(torch.inf)
        while steps < 400 and float(loss) > float((y**2).sum()) / 2:
            loss = ((alpha * (feature_lazy_phase_boundary.output(p, x) - start) - y) ** 2).sum(1).mean()
            slopes = torch.autograd.grad(16 * loss / (12 * alpha**2), p)  # each of the 16 networks follows its own loss
            p = [(q - 0.05 * g).detach().requires_grad_() for q, g in zip(p, slopes, strict=True)]
            steps, loss = steps + 1, loss.detach()
        times.append(steps)
    assert 5 < min(times) and max(times) < 1.25 * min(times)
