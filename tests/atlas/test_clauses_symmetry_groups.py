"""Clauses of the scope on groups, equivariant layers and augmentation; the ledger names these tests."""

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon.data import digits
from gnomon.symmetry import (
    GroupConv2d,
    cyclic,
    equivariance,
    equivariant_basis,
    quarter_turns,
    random_orthogonal,
)
from gnomon.symmetry.augmentation import weight_symmetry
from gnomon.symmetry.finite import irreps, symmetric_group


def test_equivariant_invariant_and_commuting_are_told_apart_by_their_equations():
    """invariance-equivariance-definitions: f(g x) = f(x), f(g x) = rho(g) f(x); W L = L W and A L = A as matrices."""
    n, rng = 6, np.random.default_rng(0)
    shift = np.roll(np.eye(n), 1, 0)
    circular = np.stack([np.roll(k, i) for k in [rng.normal(size=n)] for i in range(n)])
    dense, mean = rng.normal(size=(n, n)), np.ones((1, n)) / n
    assert np.abs(circular @ shift - shift @ circular).max() < 1e-12 and np.abs(mean @ shift - mean).max() < 1e-12
    assert np.abs(dense @ shift - shift @ dense).max() > 0.1 and np.abs(circular @ shift - circular).max() > 0.1
    x = rng.normal(size=n)
    modulus = lambda z: np.abs(np.fft.fft(z))  # noqa: E731
    np.testing.assert_allclose(modulus(shift @ x), modulus(x), atol=1e-12)
    np.testing.assert_allclose(np.maximum(circular @ (shift @ x), 0), shift @ np.maximum(circular @ x, 0), atol=1e-12)


@torch.no_grad()
def test_pools_of_two_by_two_soften_shifts_of_a_pixel():
    """pooling-invariance: the relative change under a shift falls to <= 0.8 with 2 x 2 pools, to 0 with global ones."""
    torch.manual_seed(0)
    conv = nn.Conv2d(1, 6, 3, padding=1, padding_mode="circular")
    x = nn.functional.avg_pool2d(torch.randn(8, 1, 36, 36), 3, 1)[:, :, :32, :32]
    change = lambda f: float(((f(x.roll(1, 3)) - f(x)).norm() / f(x).norm()).detach())  # noqa: E731
    plain = change(lambda z: conv(z).relu())
    local = change(lambda z: nn.functional.max_pool2d(conv(z).relu(), 2))
    assert 0 < local <= 0.8 * plain
    for pool in (lambda z: z.sum((2, 3)), lambda z: z.amax((2, 3))):
        assert change(lambda z, pool=pool: pool(conv(z).relu())) <= 1e-6


@torch.no_grad()
def test_zeros_at_the_border_disturb_shifts_there_alone():
    """conv-translation-equivariance: f(T x)_b = (T f(x))_b in the interior to 1e-6, not at the border, for zero padding."""
    torch.manual_seed(0)
    layer, x = nn.Conv2d(1, 3, 3, padding=1).double(), torch.randn(2, 1, 10, 10).double()
    off = (layer(x.roll((1, 2), (2, 3))) - layer(x).roll((1, 2), (2, 3))).abs().amax((0, 1))
    inside = torch.zeros(10, 10, dtype=torch.bool)
    inside[2:-1, 3:-1] = True  # whatever neither the zeros nor the wrapped rows reach
    assert float(off[inside].max()) <= 1e-6 < 1e-2 < float(off[~inside].max())


@torch.no_grad()
def test_plain_convolutions_miss_quarter_turns_by_thirty_percent():
    """cnn-not-rotation-equivariant: equivariance error >= 0.3 of a plain layer, <= 1e-6 of one over C4."""
    torch.manual_seed(0)
    x = digits(20, 0, seed=0).x
    errors = {}
    for name, layer in (
        ("plain", nn.Conv2d(1, 8, 3, padding=1, bias=False)),
        ("C4", GroupConv2d(1, 8, 3, group=cyclic(4), lifting=True, padding=1, bias=False)),
    ):
        turned, y = layer(torch.rot90(x, 1, (2, 3))), torch.rot90(layer(x), 1, (-2, -1))
        if name == "C4":  # the channels of the four turns move on by one
            y = y.reshape(*y.shape[:1], 8, 4, 8, 8) if y.ndim == 4 else y
            turned = turned.reshape(y.shape)
            found = [float((turned - y.roll(k, 2)).norm() / y.norm()) for k in range(4)]
            assert sum(e <= 1e-6 for e in found) == 1
            errors[name] = min(found)
        else:
            errors[name] = float((turned - y).norm() / y.norm())
    assert errors["C4"] <= 1e-6 and errors["plain"] >= 0.3


@pytest.mark.full
def test_a_trained_network_does_not_read_digits_that_are_turned_by_90_degrees():
    """cnn-not-rotation-equivariant: accuracy >= 0.95 upright and <= 0.6 at 90 and 180 degrees."""
    split = digits(1200, 400, seed=0)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 10)
    )
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(30):
        for batch in torch.randperm(1200).split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(split.x[batch]), split.y[batch]).backward()
            optimizer.step()
    read = lambda k: float((net(split.x_test.rot90(k, (2, 3))).argmax(1) == split.y_test).double().mean())  # noqa: E731
    assert read(0) >= 0.95 and read(1) <= 0.6 and read(2) <= 0.6


@pytest.mark.parametrize(("h", "w"), [(2, 3), (3, 3)])
def test_maps_of_images_that_commute_with_shifts_are_convolutions(h, w):
    """kondor-trivedi-theorem: dimension h w on Z_h x Z_w, and each of the maps is the convolution with its first column."""
    down, right = (torch.eye(h * w).reshape(h, w, -1).roll(1, k).reshape(h * w, -1).double() for k in (0, 1))
    basis = equivariant_basis([down, right], [down, right])
    assert len(basis) == h * w
    for matrix in basis:
        kernel = matrix[:, 0].reshape(h, w)
        columns = [kernel.roll((i, j), (0, 1)).flatten() for i in range(h) for j in range(w)]
        torch.testing.assert_close(matrix, torch.stack(columns, 1), rtol=0, atol=1e-10)


def test_rotations_have_one_law_before_and_after_a_fixed_one():
    """haar-measure: entries and traces of R and A R have one law (p > 0.01); E[trace^2] = 1; without signs they differ."""
    a = random_orthogonal(3, 1, special=True, seed=5)[0]
    r, other = (random_orthogonal(3, 4000, special=True, seed=s) for s in (0, 1))
    for entry in (lambda m: m[:, 0, 0], lambda m: m[:, 1, 2], lambda m: m.diagonal(dim1=1, dim2=2).sum(1)):
        assert stats.ks_2samp(entry(a @ r).numpy(), entry(other).numpy()).pvalue > 0.01
    assert float(r.diagonal(dim1=1, dim2=2).sum(1).square().mean()) == pytest.approx(1.0, abs=0.1)
    plain = torch.linalg.qr(torch.randn(4000, 3, 3, generator=torch.Generator().manual_seed(0)).double())[0]
    assert stats.ks_2samp((a.double() @ plain)[:, 0, 0].numpy(), plain[:, 0, 0].numpy()).pvalue < 0.01


def test_squares_of_dimensions_sum_to_the_order():
    """fourier-on-groups: sum of d^2 = 6 on S_3, with d = 1, 1, 2."""
    sizes = sorted(part.shape[1] for part in irreps(symmetric_group(3)))
    assert sizes == [1, 1, 2] and sum(d * d for d in sizes) == 6


def test_the_response_to_an_impulse_gives_a_map_that_commutes_with_shifts():
    """linear-shift-equivariant-is-convolution: T f = f * h with h = T delta, to 1e-10; not for a dense T."""
    n, rng = 7, np.random.default_rng(0)
    dense = rng.normal(size=(n, n))
    shifts = [np.roll(np.eye(n), k, 0) for k in range(n)]
    circular, f = sum(s @ dense @ s.T for s in shifts) / n, rng.normal(size=n)
    for t, exact in ((circular, True), (dense, False)):
        h = t[:, 0]
        by_sum = np.array([sum(f[v] * h[(u - v) % n] for v in range(n)) for u in range(n)])
        assert (np.abs(t @ f - by_sum).max() < 1e-10) == exact


@torch.no_grad()
def test_a_chain_of_commuting_layers_is_invariant_until_one_is_dense():
    """covariance-chain-invariance: A W_2 rho W_1 L x = A W_2 rho W_1 x to 1e-6; a dense layer changes it by > 0.05."""
    torch.manual_seed(0)
    x = torch.randn(3, 1, 8).double()
    conv = [nn.Conv1d(1, 4, 3, padding=1, padding_mode="circular").double() for _ in range(2)]
    second = nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular").double()
    dense = nn.Sequential(nn.Flatten(), nn.Linear(32, 32), nn.Unflatten(1, (4, 8))).double()
    for layer, low, high in ((second, 0, 1e-6), (dense, 0.05, np.inf)):
        phi = lambda z, layer=layer: layer(conv[0](z).relu()).relu().mean(2)  # noqa: E731
        assert low <= float((phi(x.roll(1, 2)) - phi(x)).norm() / phi(x).norm()) <= high


def test_commutators_grow_in_a_straight_line_with_the_warp():
    """commutator-norm: |W L - L W| / |W| against |grad tau| has R^2 >= 0.95, for a smooth kernel and small warps."""
    n, sizes, norms = 128, np.linspace(0.01, 0.08, 8), []
    u = np.arange(float(n))
    off = (u[:, None] - u + n / 2) % n - n / 2
    window = np.exp(-((off / 4) ** 2) / 2)
    w = window * np.cos(off)
    for s in sizes:
        place = u + s * n / (2 * np.pi) * np.sin(2 * np.pi * u / n)
        gap = (place[:, None] - u + n / 2) % n - n / 2
        warp = np.sinc(gap) + 0.0
        smooth = np.exp(-((off / 1.5) ** 2) / 2)  # compared on signals that the grid resolves
        norms.append(np.linalg.norm((w @ warp - warp @ w) @ smooth, 2) / np.linalg.norm(w @ smooth, 2))
    assert np.corrcoef(sizes, norms)[0, 1] ** 2 >= 0.95 and norms[-1] > 3 * norms[0] > 0


def test_pools_halve_the_change_of_smooth_signals_at_each_stage():
    """progressive-invariance-pooling: slope -1 +- 0.25 a stage, for the part of a shift that pools of 2^J can see."""
    rng, changes = np.random.default_rng(0), []
    for stage in range(1, 6):
        rows = []
        for _ in range(20):
            steps = np.repeat(rng.normal(size=64), 2**stage)  # features of the size of the pool
            pool = lambda z, stage=stage: z.reshape(-1, 2**stage).mean(1)  # noqa: E731
            rows.append(np.linalg.norm(pool(np.roll(steps, 1)) - pool(steps)) / np.linalg.norm(pool(steps)))
        changes.append(np.mean(rows))
    assert np.polyfit(range(1, 6), np.log2(changes), 1)[0] == pytest.approx(-1.0, abs=0.25)


def test_the_average_over_all_shifts_is_the_mean():
    """full-averaging-constant: (1/n) sum_t f(w - t) is constant, f^(0) alone survives, to 1e-12."""
    f = np.random.default_rng(0).normal(size=32)
    average = sum(np.roll(f, t) for t in range(32)) / 32
    np.testing.assert_allclose(average, f.mean(), atol=1e-12)
    spectrum = np.fft.fft(average)
    assert np.abs(spectrum[1:]).max() < 1e-12 < abs(spectrum[0] - np.fft.fft(f)[0] + 1)
    assert np.ptp(sum(np.roll(f, t) for t in range(16)) / 16) > 0.05  # half of the shifts leave more


@pytest.mark.parametrize("move", ["shift", "turn"])
def test_losses_over_whole_orbits_follow_the_weights_and_over_parts_do_not(move):
    """augmented-loss-invariance, augmentation-gradient-equivariance: 1e-10 for C_8 and C_4; over 1e-3 and 1e-2 for parts."""
    rng, order = np.random.default_rng(0), 8 if move == "shift" else 4
    if move == "shift":
        g = np.roll(np.eye(8), 1, 0)
    else:
        g = np.eye(9)[np.rot90(np.arange(9).reshape(3, 3)).ravel()]
    x, w = torch.from_numpy(rng.normal(size=(5, len(g)))), torch.from_numpy(rng.normal(size=len(g)))
    y, g = torch.from_numpy(rng.normal(size=5)), torch.from_numpy(g)
    powers = [torch.linalg.matrix_power(g, k) for k in range(order)]

    def loss(v, part):
        return sum(((x @ p.T @ v).tanh() - y).square().mean() for p in part) / len(part)

    for part, exact in ((powers, True), (powers[:2], False)):
        here, there = w.clone().requires_grad_(), (g @ w).requires_grad_()
        values = [loss(v, part) for v in (here, there)]
        slopes = [torch.autograd.grad(value, v)[0] for value, v in zip(values, (here, there), strict=True)]
        gaps = (
            float((values[1] - values[0]).abs().detach()),
            float((slopes[1] - g @ slopes[0]).norm() / slopes[0].norm()),
        )
        assert (gaps[0] <= 1e-10 and gaps[1] <= 1e-10) if exact else (gaps[0] > 1e-3 and gaps[1] > 1e-2)


def test_gradients_are_symmetric_at_symmetric_weights_alone():
    """augmentation-symmetric-weights: |g grad L(w) - grad L(w)| is 0 if g w = w, above 0.1 of |grad L| otherwise."""
    draw = torch.Generator().manual_seed(0)
    x, w = torch.randn(20, 10, generator=draw).double(), torch.randn(10, generator=draw).double()
    data, y = torch.cat([x, x.flip(1)]), x.sum(1).sign().repeat(2)
    for start, low, high in ((w + w.flip(0), 0, 1e-12), (w, 0.1, np.inf)):
        leaf = start.clone().requires_grad_()
        (g,) = torch.autograd.grad(nn.functional.softplus(-y * (data @ leaf)).mean(), leaf)
        assert low <= float((g.flip(0) - g).norm() / g.norm()) <= high


@pytest.mark.full
def test_mirror_images_double_the_share_of_filters_with_a_mirror_symmetry():
    """learned-weights-reflect-symmetry: share of |corr(w, flip w)| >= 0.8 at least twice as large with mirror images."""
    shares = []
    for mirrored in (False, True):
        split = digits(600, 10, seed=0)
        x, y = (torch.cat([split.x, split.x.flip(3)]), split.y.repeat(2)) if mirrored else (split.x, split.y)
        torch.manual_seed(0)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
        optimizer = torch.optim.AdamW(net.parameters(), 1e-2, weight_decay=0.1)
        for _ in range(600):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        w = net[1].weight.detach().reshape(-1, 8, 8)
        cosine = (w * w.flip(2)).sum((1, 2)) / w.square().sum((1, 2))
        torch.testing.assert_close(
            weight_symmetry(w, lambda v: v.flip(2)).square(), 2 - 2 * cosine, rtol=1e-3, atol=1e-4
        )
        shares.append(float((cosine.abs() >= 0.8).double().mean()))
    assert shares[1] >= 2 * shares[0] and shares[1] > 0.1


def test_the_spectrum_of_an_invariant_loss_is_invariant():
    """loss-fourier-transform-property: F[L](A^-T w) = F[L](w) for a loss that quarter turns do not change."""
    t = np.arange(24) - 12
    a, b = np.meshgrid(t, t, indexing="ij")
    bump = lambda x, y: np.exp(-((a - x) ** 2 + 2 * (b - y) ** 2) / 8.0)  # noqa: E731
    one = bump(3, 1)
    turn = lambda z: np.roll(np.rot90(z), 1, 0)  # noqa: E731  about the grid point 0
    whole = one + turn(one) + turn(turn(one)) + turn(turn(turn(one)))
    for loss, exact in ((whole, True), (one, False)):
        spectrum = np.fft.fftshift(np.abs(np.fft.fft2(loss)))
        assert (np.abs(turn(spectrum) - spectrum).max() < 1e-9) == exact


@pytest.mark.parametrize("m", [3, 4, 5])
def test_own_part_and_mean_commute_with_all_permutations_and_random_weights_do_not(m):
    """permutation-equivariant-layer: f(x) = s(T x) with T = l I + g 1 1^T (diagonal l + g), to 1e-7; P^T T P = T."""
    rng, own, mean = np.random.default_rng(0), 0.7, -0.3
    theta, noise, x = own * np.eye(m) + mean, rng.normal(size=(m, m)), rng.normal(size=m)
    assert theta[0, 0] == own + mean and theta[0, 1] == mean
    for t, low, high in ((theta, 0, 1e-7), (noise, 0.1, np.inf)):
        gaps = [np.abs(np.tanh(t @ x[list(p)]) - np.tanh(t @ x)[list(p)]).max() for p in permutations(range(m))]
        assert low <= max(gaps) <= high


def test_quarter_turns_and_shifts_of_the_grid_form_a_group_of_their_own():
    """roto-translation-group: (u, a)(v, b) = (u + r_a v, a + b): closed on Z^2 x C_4, associative, not commutative."""
    rng = np.random.default_rng(0)
    turns = [np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), k) for k in range(4)]
    times = lambda p, q: (tuple(np.array(p[0]) + turns[p[1]] @ np.array(q[0])), (p[1] + q[1]) % 4)  # noqa: E731
    elements = [(tuple(rng.integers(-5, 6, 2).tolist()), int(rng.integers(4))) for _ in range(12)]
    different = 0
    for p in elements:
        inverse = (tuple(-turns[-p[1] % 4] @ np.array(p[0])), -p[1] % 4)
        assert times(p, inverse) == times(inverse, p) == ((0, 0), 0)
        for q in elements:
            assert all(float(c).is_integer() for c in times(p, q)[0]) and times(p, q)[1] in range(4)
            different += times(p, q) != times(q, p)
            for r in elements[:4]:
                assert times(times(p, q), r) == times(p, times(q, r))
                point = np.array(r[0])  # the product acts as one motion after the other
                one = np.array(p[0]) + turns[p[1]] @ (np.array(q[0]) + turns[q[1]] @ point)
                both = times(p, q)
                assert (one == np.array(both[0]) + turns[both[1]] @ point).all()
    assert different > 0


def test_line_from_a_network_to_its_permuted_copy_crosses_a_barrier():
    """hidden-unit-permutation-symmetry: V P^-1 F[P W, P b] = V F[W, b] to 1e-7; the loss between both copies rises."""
    torch.manual_seed(0)
    split = digits(200, 0, seed=0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10)).double()
    optimizer, x = torch.optim.Adam(net.parameters(), 0.02), split.x.double()
    for _ in range(80):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), split.y).backward()
        optimizer.step()
    order = torch.randperm(16)
    w, b, v, c = (p.detach() for p in net.parameters())
    run = lambda w, b, v: (x.flatten(1) @ w.T + b).relu() @ v.T + c  # noqa: E731
    loss = lambda w, b, v: float(nn.functional.cross_entropy(run(w, b, v), split.y))  # noqa: E731
    torch.testing.assert_close(run(w[order], b[order], v[:, order]), run(w, b, v), rtol=0, atol=1e-7)
    middle = [(p + q) / 2 for p, q in zip((w, b, v), (w[order], b[order], v[:, order]), strict=True)]
    assert loss(*middle) > loss(w, b, v) + 0.1


def test_layers_over_the_group_follow_quarter_turns_by_the_instrument():
    """roto-translation-convolution: equivariance() of a layer over C4 is 0, of a plain one not."""
    torch.manual_seed(0)
    x = torch.randn(3, 1, 8, 8)
    layer = GroupConv2d(1, 3, 3, group=cyclic(4), lifting=True, padding=1, bias=False)
    found = [
        equivariance(nn.Sequential(first, nn.AdaptiveAvgPool2d(1), nn.Flatten()), x, quarter_turns()).output.invariance
        for first in (nn.Sequential(layer, Fold()), nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU()))
    ]
    assert found[0] < 1e-5 < 1e-2 < found[1]


class Fold(nn.Module):
    """Sums the channels of a layer over C4 over its turns, after a rectifier."""

    def forward(self, y):
        """Returns the sum over the four turns."""
        y = y if y.ndim == 5 else y.reshape(len(y), -1, 4, *y.shape[-2:])
        return y.relu().sum(2)
