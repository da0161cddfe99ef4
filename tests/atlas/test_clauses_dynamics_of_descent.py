"""Clauses of the scope on implicit bias and descent that no claim measures; the ledger names these tests."""

from math import log10

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from scipy.stats import spearmanr
from torch import nn

from gnomon.atlas.claims.dynamics_implicit_bias import (
    deep_matrix_factorisation,
    early_stopping_patience,
    gunasekar_nuclear_conjecture,
    linear_conv_net_depth_l,
    linear_fc_net_l2_bias,
    max_margin_gd,
    nuclear_norm_completion,
    sgd_modified_loss,
)
from gnomon.data import digits
from gnomon.landscape import sharpness
from gnomon.tangent import frequency_curve
from gnomon.tangent.frequencies import circular_path
from gnomon.training import SGD


def fitted(net, x, y, decay=0.0):
    """Trains a network by L-BFGS on half the mean squared error plus weight decay, to rounding."""
    optimizer = torch.optim.LBFGS(
        net.parameters(), max_iter=300, tolerance_grad=1e-12, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        loss = (net(x) - y).square().mean() / 2 + decay / 2 * sum(p.square().sum() for p in net.parameters())
        loss.backward()
        return loss

    optimizer.step(closure)
    return net


def test_frequencies_are_learned_in_their_order():
    """spectral-bias-frequency: rank correlation of frequency and learned amplitude at most -0.9 in a trained network."""
    torch.manual_seed(0)
    model, frequencies = nn.Sequential(nn.Linear(2, 100), nn.ReLU(), nn.Linear(100, 1)), (1, 2, 4, 6, 8)
    curve = frequency_curve(model, circular_path(2), frequencies=frequencies, points=32, steps=150, optimizer=SGD(0.1))
    assert spearmanr(frequencies, curve.amplitudes[-1])[0] <= -0.9 + 1e-9


def test_rank_one_is_recovered_at_sixty_percent_and_not_at_fifteen():
    """nuclear-norm-completion: 20 x 20 of rank 1: error < 1e-4 in 9 of 10 trials at 60 %, failure at 15 %."""
    assert np.sum(nuclear_norm_completion.errors(10, 20, 0.6, 300, 0) < 1e-4) >= 9
    assert np.all(nuclear_norm_completion.errors(10, 20, 0.15, 300, 0) > 0.01)


@pytest.mark.full
def test_errors_and_ranks_of_products_of_one_to_three_matrices():
    """deep-matrix-factorisation: unseen error 1 at depth 1, <= 0.1 at depth 2, <= 0.01 at depth 3; effective rank <= 2.5."""
    found = deep_matrix_factorisation.errors(1e-4, 6, 20, 0.6, 6000, 0)
    assert np.allclose(found["error, 1 factor"], 1, atol=0.01) and np.median(found["error, 2 factors"]) <= 0.1
    assert np.median(found["error, 3 factors"]) <= 0.01 and np.median(found["rank, 3 or 2 factors"]) <= 2.5


@pytest.mark.full
def test_a_start_of_a_millionth_comes_within_one_percent_of_the_least_nuclear_norm():
    """gunasekar-nuclear-conjecture: |W|_* / min |X|_* - 1 <= 0.01 from starts of size 1e-6."""
    assert np.median(gunasekar_nuclear_conjecture.excess(1e-6, 8, 12, 0.6, 6000, 0)) <= 0.01


def test_the_kept_state_is_better_in_nine_of_ten_runs():
    """early-stopping-patience: risk of the kept state <= risk at the end in at least 9 of 10 noisy data sets."""
    found = early_stopping_patience.risks(1.0, 40, 40, 50, 600, 10, 0)
    assert np.mean(found["kept"] <= found["end"]) >= 0.9


def test_a_trained_network_shrinks_along_its_hessian():
    """weight-decay-hessian-shrinkage: l / (l + a) along the five largest directions of a network, to 15 % of 1 - l / (l + a)."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(60, 2, generator=g, dtype=torch.float64)
    y = torch.tanh(x @ torch.tensor([[1.0], [-0.5]]).double()) + 0.3 * torch.randn(
        60, 1, generator=g, dtype=torch.float64
    )
    torch.manual_seed(0)
    net, decay = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)).double(), 1e-3
    flat = lambda: torch.cat([p.detach().flatten() for p in net.parameters()])  # noqa: E731
    fitted(net, x, y, 1e-2)
    start, names = flat(), [n for n, _ in net.named_parameters()]

    def loss(w):
        parts = dict(
            zip(
                names,
                (
                    v.view_as(p)
                    for v, p in zip(w.split([p.numel() for p in net.parameters()]), net.parameters(), strict=True)
                ),
                strict=True,
            )
        )
        return (torch.func.functional_call(net, parts, (x,)) - y).square().mean() / 2 + 1e-2 / 2 * w.square().sum()

    values, axes = torch.linalg.eigh(torch.autograd.functional.hessian(loss, start))
    fitted(net, x, y, 1e-2 + decay)
    lost = (axes.T @ (start - flat()))[-5:]
    expected = decay / (values + decay) * (axes.T @ start)
    assert float((lost - expected[-5:]).norm() / expected[-5:].norm()) < 0.15


def test_the_number_of_masks_of_4096_units():
    """dropout-as-ensemble: 2^4096 = 10^1233.02, more than the 10^82 atoms."""
    assert 4096 * log10(2) == pytest.approx(1233.02, abs=0.005) and len(str(2**4096)) == 1234 > 82


def test_the_flow_of_the_plain_loss_is_one_order_worse_for_an_epoch():
    """sgd-modified-loss: slope 3 +- 0.2 with the penalty of the batches, 2 +- 0.2 with that of the mean gradient alone."""
    slopes = []
    for spread in (True, False):
        rates, errors = sgd_modified_loss.gap(4, 4, (0.001, 0.002, 0.004, 0.008), 0, spread)
        slopes.append(np.polyfit(np.log(rates), np.log(errors), 1)[0])
    assert slopes == pytest.approx([3, 2], abs=0.2)


def test_basins_are_hit_as_often_as_they_are_wide():
    """sgd-different-function-each-step: correlation of hits and widths of eight basins at least 0.9, with noisy steps."""
    rng = np.random.default_rng(0)
    edges = np.r_[0, np.cumsum(rng.uniform(0.2, 2, 8))]
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    w = rng.uniform(0, edges[-1], 4000)
    for _ in range(300):
        k = np.clip(np.searchsorted(edges, w) - 1, 0, 7)
        slope = 2 * np.pi / width[k] * np.sin(2 * np.pi * (w - middle[k]) / width[k])  # of -cos on each basin
        w = np.clip(w - 2e-4 * (slope + 3 * rng.normal(size=w.shape)), 1e-9, edges[-1] - 1e-9)
    hits = np.bincount(np.clip(np.searchsorted(edges, w) - 1, 0, 7), minlength=8)
    assert np.corrcoef(hits, width)[0, 1] >= 0.9


def test_batches_reach_a_target_on_digits_with_a_third_of_the_gradients():
    """sgd-advantages: gradients of single examples until the loss is 0.8 on digits: SGD <= 1/3 of full batches."""
    split, costs = digits(1000, 0, seed=0), []
    x, y = split.x.flatten(1), split.y
    for batch in (50, 1000):
        torch.manual_seed(0)
        w, steps = torch.zeros(64, 10, requires_grad=True), 0
        while nn.functional.cross_entropy(x @ w, y).item() > 0.8:
            pick = torch.randperm(1000)[:batch]
            (g,) = torch.autograd.grad(nn.functional.cross_entropy(x[pick] @ w, y[pick]), w)
            w, steps = (w - 0.4 * g).detach().requires_grad_(), steps + 1
        costs.append(steps * batch)
    assert 0 < costs[0] <= costs[1] / 3


def test_descent_leaves_the_minimum_of_a_network_beyond_two_over_the_curvature():
    """learning-rate-regimes: a step of 2.2 / l_max leaves the minimum of a network, one of 1.8 / l_max returns."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(30, 2, generator=g, dtype=torch.float64)
    y = x[:, :1] * x[:, 1:] + 0.1 * torch.randn(30, 1, generator=g, dtype=torch.float64)
    torch.manual_seed(0)
    net = fitted(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double(), x, y, 1e-3)
    kept = {k: v.clone() for k, v in net.state_dict().items()}

    def loss():
        return (net(x) - y).square().mean() / 2 + 5e-4 * sum(p.square().sum() for p in net.parameters())

    top = sharpness(net, (x, y)).value + 1e-3  # the penalty adds its strength
    rises = []
    for factor in (1.8, 2.2):
        net.load_state_dict({k: v + 1e-4 * torch.ones_like(v) for k, v in kept.items()})
        start = float(loss().detach())
        for _ in range(60):
            gradients = torch.autograd.grad(loss(), list(net.parameters()))
            with torch.no_grad():
                for p, slope in zip(net.parameters(), gradients, strict=True):
                    p -= factor / top * slope
        rises.append(float(loss().detach()) - start)
    assert rises[0] <= 1e-9 < 1e-6 < rises[1]


def test_the_direction_of_descent_is_within_a_thousandth_of_the_largest_margin():
    """max-margin-gd: cosine with the direction of the largest margin at least 0.999."""
    _, angle = max_margin_gd.angles(None, 6, 10, 3000, 0.1, 0)
    assert np.cos(angle[:, -1]).min() >= 0.999


def test_deep_linear_networks_end_at_the_support_vector_machine():
    """linear-fc-net-l2-bias: cosine with the hard-margin direction at least 0.9999 at depth 2 and 3."""
    best = linear_fc_net_l2_bias.predicted(4, 8, 0)[:8]
    assert min(best @ linear_fc_net_l2_bias.direction(depth, False, 4, 8, 6000, 0) for depth in (2, 3)) >= 0.9999


def trained_filter(z, steps):
    """Returns the filter of two full-width circular convolutions, trained along the gradient of -ln(loss)."""
    d, rng = z.shape[1], np.random.default_rng(1)
    u, v = 0.02 * rng.normal(size=(2, d))
    for _ in range(steps):
        m = z @ np.fft.irfft(np.fft.rfft(u) * np.fft.rfft(v), d)
        g = np.fft.rfft(np.exp(m.min() - m) @ z / np.exp(m.min() - m).sum())
        rate = min(0.1, 0.2 / max((u**2).sum(), (v**2).sum())) / np.linalg.norm(z, axis=1).max()
        u, v = (a + rate * np.fft.irfft(g * np.fft.rfft(b).conj(), d) for a, b in ((u, v), (v, u)))
    return np.fft.irfft(np.fft.rfft(u) * np.fft.rfft(v), d)


def test_convolutions_end_far_from_the_support_vector_machine():
    """linear-conv-net-fourier-l1: cosine with the l2 direction below 0.95, and a smaller |F b|_1 than it."""
    z = np.random.default_rng(0).normal(size=(4, 8))
    b = trained_filter(z, 4000)
    weights, _ = nnls(np.r_[z.T, np.ones((1, 4))], np.r_[np.zeros(8), 1.0])
    svm = weights @ z
    size, svm_size = (np.abs(np.fft.fft(a)).sum() / (z @ a).min() for a in (b, svm))
    assert size < svm_size and b @ svm / np.linalg.norm(b) / np.linalg.norm(svm) < 0.95


def test_stationarity_of_deeper_convolutions_to_three_percent():
    """linear-conv-net-depth-l: |g_k| |F b|_k^(1 - 2/L) constant to 3 % for L = 2, 3, 4."""
    for seed in (0, 1):
        assert max(linear_conv_net_depth_l.observed(3, 8, 300, 0.05, seed)) <= 0.03
