"""Clauses of the scope on recurrences, positions and attention; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.sequence import lru_universality
from gnomon.models import LinearRecurrentUnit
from gnomon.models.positions import sinusoidal_positions
from gnomon.models.scan import linear_scan
from gnomon.sequences import memory_length


def test_one_set_of_matrices_serves_all_steps_and_outputs():
    """elman-rnn: z_t = phi(U z + V x_t), z_0 = 0, y_t = psi(W z_t) with the same U, V, W at every t; 1e-6 from nn.RNN."""
    torch.manual_seed(0)
    rnn, head, x = (
        nn.RNN(3, 5, bias=False, batch_first=True).double(),
        nn.Linear(5, 2).double(),
        torch.randn(1, 7, 3).double(),
    )
    y, z = torch.softmax(head(rnn(x)[0]), 2)[0], torch.zeros(5).double()
    for t in range(7):
        z = torch.tanh(rnn.weight_hh_l0 @ z + rnn.weight_ih_l0 @ x[0, t])
        torch.testing.assert_close(torch.softmax(head.weight @ z + head.bias, 0), y[t], rtol=0, atol=1e-6)
    assert sum(p.numel() for p in rnn.parameters()) == 5 * 5 + 5 * 3  # whatever the number of steps


def test_the_gradient_of_a_recurrent_matrix_sums_over_its_uses():
    """bptt-gradient: dL/dU = sum_t (dL/dz_t)(dz_t/dU), with one copy of U for each step; a single step is not all."""
    torch.manual_seed(0)
    u, v, x = torch.randn(4, 4).double() / 2, torch.randn(4, 3).double(), torch.randn(6, 3).double()
    copies = [u.clone().requires_grad_() for _ in range(6)]
    shared = u.clone().requires_grad_()

    def loss(matrices):
        z, total = torch.zeros(4).double(), 0.0
        for w, s in zip(matrices, x, strict=True):
            z = torch.tanh(w @ z + v @ s)
            total = total + z.square().sum()
        return total

    (whole,) = torch.autograd.grad(loss([shared] * 6), shared)
    parts = torch.autograd.grad(loss(copies), copies)
    torch.testing.assert_close(sum(parts), whole)
    assert float((parts[-1] - whole).norm()) > 0.05 * float(whole.norm())


def test_products_of_one_matrix_grow_at_the_logarithm_of_its_spectral_radius():
    """rnn-vanishing-bound: (1 / t) ln |U^t| is within 5 % of ln rho(U), below ln sigma_1(U), for non-normal U."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        u = 0.5 * rng.normal(size=(8, 8)) / 8**0.5
        rate = (
            np.log(
                np.linalg.norm(np.linalg.matrix_power(u, 400), 2) / np.linalg.norm(np.linalg.matrix_power(u, 200), 2)
            )
            / 200
        )
        radius = np.log(np.abs(np.linalg.eigvals(u)).max())
        assert abs(rate - radius) <= 0.05 * abs(radius)
        assert np.log(np.linalg.norm(u, 2)) > radius + 0.1


def test_a_gate_of_zero_forgets_and_a_gate_of_one_keeps():
    """gating-mechanism: z <- g z: 0 after one step with g = 0, unchanged after all steps with g = 1."""
    z = torch.randn(1, 1, 4, generator=torch.Generator().manual_seed(0))
    for gate, kept in ((0.0, torch.zeros(4)), (1.0, z[0, 0]), (0.5, z[0, 0] / 2**6)):
        states = linear_scan(torch.full((1, 6, 4), gate), torch.zeros(1, 6, 4), z[:, 0])
        torch.testing.assert_close(states[0, -1], kept)


def test_states_of_a_gru_stay_between_their_past_and_one():
    """gru: |z_t| <= max(|z_(t-1)|, 1) by entry, as a mean of the past and of a tanh; a plain sum exceeds it."""
    torch.manual_seed(0)
    cell, past = nn.GRUCell(3, 6), 3 * torch.randn(400, 6)
    for p in cell.parameters():
        nn.init.normal_(p, std=2.0)
    x = 3 * torch.randn(400, 3)
    assert bool((cell(x, past).abs() <= past.abs().clamp_min(1) + 1e-6).all())
    candidate = torch.tanh(x @ cell.weight_ih[12:].T)
    assert bool(((past + candidate).abs() > past.abs().clamp_min(1) + 1e-6).any())


@pytest.mark.parametrize("times", [1, 2, 7, 64, 1000, 4096])
def test_scans_equal_loops_up_to_4096_steps(times):
    """prefix-scan-parallelism: states of the scan are those of the loop h_t = a_t h_(t-1) + b_t."""
    draw = torch.Generator().manual_seed(times)
    a, b = torch.rand(1, times, 2, generator=draw).double(), torch.randn(1, times, 2, generator=draw).double()
    h, loop = torch.zeros(1, 2).double(), []
    for t in range(times):
        h = a[:, t] * h + b[:, t]
        loop.append(h)
    torch.testing.assert_close(linear_scan(a, b), torch.stack(loop, 1), rtol=1e-12, atol=1e-12)


def test_steps_join_in_any_brackets():
    """prefix-scan-parallelism: (a, b)(a', b') = (a a', a' b + b') is associative, exactly, on whole numbers."""
    join = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])  # noqa: E731
    rng = np.random.default_rng(0)
    for p, q, r in rng.integers(-50, 50, (100, 3, 2)).tolist():
        assert join(join(p, q), r) == join(p, join(q, r))
    assert join((2, 3), (5, 7)) == (10, 22) != join((5, 7), (2, 3))


def test_random_matrices_have_distinct_eigenvalues_and_a_jordan_block_is_the_exception():
    """linear-system-diagonalisation: almost all matrices are diagonal in eigenvectors; [[1, 1], [0, 1]] is not."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        a = rng.normal(size=(6, 6))
        values, vectors = np.linalg.eig(a)
        assert np.abs(values[:, None] - values + np.eye(6)).min() > 1e-6
        assert np.abs(vectors * values @ np.linalg.inv(vectors) - a).max() < 1e-8
    assert np.linalg.matrix_rank(np.array([[1.0, 1.0], [0.0, 1.0]]) - np.eye(2)) == 1  # one eigenvector for two


def test_recurrent_units_start_in_their_ring():
    """lru-stable-parametrisation: r = exp(-exp(nu)) starts in the given range, phi between 0 and 2 pi over all of it."""
    torch.manual_seed(0)
    poles = LinearRecurrentUnit(2, 2000, 1, radius=(0.6, 0.9)).eigenvalues().detach()
    radii, angles = poles.abs(), poles.angle() % (2 * torch.pi)
    assert 0.6 - 1e-5 <= float(radii.min()) < 0.61 and 0.89 < float(radii.max()) <= 0.9 + 1e-5
    assert float(angles.min()) < 0.05 and float(angles.max()) > 2 * torch.pi - 0.05
    assert float((angles < torch.pi).double().mean()) == pytest.approx(0.5, abs=0.05)


def test_gradients_that_explode_are_measured_as_growth():
    """rnn-exploding: memory() of 1.1 times an orthogonal recurrence grows by 1.1 a step, forgets nothing."""
    torch.manual_seed(0)
    rnn = nn.RNN(4, 4, batch_first=True, bias=False).double()
    rnn.weight_hh_l0.data = 1.1 * torch.linalg.qr(torch.randn(4, 4).double())[0]
    rnn.weight_ih_l0.data = 1e-4 * torch.eye(4).double()  # tanh is linear near zero
    found = np.array(memory_length(rnn, 1e-3 * torch.randn(2, 12, 4).double()).sensitivity)
    np.testing.assert_allclose(found[1:8] / found[:7], 1.1, rtol=1e-3)


@pytest.mark.full
def test_a_nonlinear_readout_explains_98_percent_where_a_linear_one_explains_less_than_seventy():
    """lru-universality: R^2 >= 0.98 with a hidden layer, <= 0.7 from the states alone, on a Volterra filter."""
    assert float(np.mean(lru_universality.observed(times=40000, units=16, seed=0))) >= 0.98
    assert float(np.mean(lru_universality.control(times=40000, units=16, seed=0))) <= 0.7


def test_attention_with_many_heads_has_four_squares_of_weights():
    """multi-head-attention: 4 d^2 weights whatever the number of heads."""
    for heads in (1, 2, 8):
        layer = nn.MultiheadAttention(16, heads, bias=False)
        assert sum(p.numel() for p in layer.parameters()) == 4 * 16**2


def test_cross_attention_has_an_output_for_each_query():
    """cross-attention: output length T_a for Q from A (length 5) and K, V from B (length 9), in any order of B."""
    torch.manual_seed(0)
    layer, a, b = (
        nn.MultiheadAttention(8, 2, batch_first=True).double(),
        torch.randn(1, 5, 8).double(),
        torch.randn(1, 9, 8).double(),
    )
    y = layer(a, b, b)[0]
    assert y.shape == (1, 5, 8)
    torch.testing.assert_close(layer(a, b[:, torch.randperm(9)], b)[0].shape, y.shape)
    order = torch.randperm(9)
    torch.testing.assert_close(layer(a, b[:, order], b[:, order])[0], y, rtol=0, atol=1e-6)
    torch.testing.assert_close(layer(a, a, a)[0], layer(a, a.clone(), a.clone())[0])


def test_positions_turn_by_one_rotation_and_unpaired_frequencies_do_not():
    """positional-encoding-sinusoidal: p(t + s) = R_s p(t), w_k = C^(-2 floor(k / 2) / d), C = 10000; C^(k / d) fails."""
    d, s, k = 8, 3, np.arange(8)

    def residual(
        table,
    ):  # the best linear map from p(t) to p(t + s), and whether it is one rotation by w s in each pair
        turn = np.linalg.lstsq(table[:-s], table[s:], rcond=None)[0]
        return np.abs(table[:-s] @ turn - table[s:]).max()

    table = sinusoidal_positions(40, d).double().numpy()
    w = 10000.0 ** (-2 * (k // 2) / d)
    t = np.arange(40)[:, None]
    paired, unpaired = (np.where(k % 2 == 0, np.sin(t * f), np.cos(t * f)) for f in (w, 10000.0 ** (-k / d)))
    np.testing.assert_allclose(table, paired, atol=1e-5)
    turn = np.zeros((d, d))
    for i in range(0, d, 2):
        c, n = np.cos(w[i] * s), np.sin(w[i] * s)
        turn[i : i + 2, i : i + 2] = [[c, n], [-n, c]]
    assert np.abs(paired[:-s] @ turn.T - paired[s:]).max() < 1e-10 < 1e-3 < residual(unpaired)
    products = paired @ paired.T
    assert np.abs(np.diagonal(products, 5) - products[0, 5]).max() < 1e-10
    assert np.ptp(np.diagonal(unpaired @ unpaired.T, 5)) > 1e-2


@torch.no_grad()
def test_positions_break_the_equivariance_of_attention():
    """attention-permutation-equivariance: |f(P X) - P f(X)| / |f(X)| <= 1e-6 without positions, > 1e-2 with them."""
    torch.manual_seed(0)
    layer, x, order = (
        nn.MultiheadAttention(16, 2, batch_first=True).double(),
        torch.randn(1, 9, 16).double(),
        torch.randperm(9),
    )
    for shift, low, high in ((0.0, 0, 1e-6), (1.0, 1e-2, np.inf)):
        f = lambda z, shift=shift: layer(*[z + shift * sinusoidal_positions(9, 16).double()] * 3)[0]  # noqa: E731
        assert low <= float((f(x[:, order]) - f(x)[:, order]).norm() / f(x).norm()) <= high
