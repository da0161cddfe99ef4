"""Clauses of the scope on the paths of training near the tangent kernel; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.dynamics_implicit_bias import linear_conv_net_depth_l as convolutions
from gnomon.data import digits
from gnomon.tangent import ntk


class Wide:
    """A ReLU network of one hidden layer, in NTK scaling, that starts at the output 0 by paired units."""

    def __init__(self, width, inputs, seed):
        """Draws the first half of the units; the second has the opposite output weights."""
        draw = torch.Generator().manual_seed(seed)
        w, v = (torch.randn(*s, generator=draw).double() for s in ((width // 2, inputs), (width // 2,)))
        self.w, self.v, self.c = torch.cat([w, w]), torch.cat([v, -v]), (2 / width) ** 0.5

    def output(self, x):
        """Returns one number for each example."""
        return self.c * torch.relu(x @ self.w.T) @ self.v

    def kernel(self, x):
        """Returns the Gram matrix of gradients."""
        h, gate = torch.relu(x @ self.w.T), (x @ self.w.T > 0).double() * self.v
        return self.c**2 * (h @ h.T + (gate @ gate.T) * (x @ x.T))

    def step(self, x, y, rate):
        """Takes a step down half of the summed squared error."""
        z = x @ self.w.T
        r = self.output(x) - y
        v = self.v - rate * self.c * torch.relu(z).T @ r
        self.w = self.w - rate * self.c * ((z > 0).double() * r[:, None] * self.v).T @ x
        self.v = v


def test_a_wide_network_follows_the_exponential_and_its_modes_fall_at_their_rates():
    """ntk-closed-form-trajectory: |f - f_theory| <= 0.03 |y|; ntk-eigenmode-decay: rates within 8 % of eta lambda_i."""
    draw = torch.Generator().manual_seed(0)
    x, y = torch.randn(20, 5, generator=draw).double(), torch.randn(20, generator=draw).double()
    x, net = x / x.norm(dim=1, keepdim=True), Wide(2048, 5, 0)
    values, vectors = torch.linalg.eigh(net.kernel(x))
    rate = 0.1 / float(values[-1])
    start, worst = vectors.T @ (net.output(x) - y), 0.0
    torch.testing.assert_close(start, -(vectors.T @ y))  # f(0) = 0: the sign of the components is minus
    for t in range(1, 201):
        net.step(x, y, rate)
        theory = y + vectors @ (torch.exp(-rate * values * t) * start)
        worst = max(worst, float((net.output(x) - theory).norm() / y.norm()))
        if t == 10:
            found = -torch.log((vectors.T @ (net.output(x) - y)) / start) / t
    ratio = (found / (rate * values))[-5:]
    assert worst <= 0.03 and bool(((ratio - 1).abs() <= 0.08).all())
    exact = -torch.log1p(-rate * values) / (rate * values)  # discrete steps: 1.054 for the first mode
    assert float(exact[-1]) == pytest.approx(1.0536, abs=1e-4) and float(ratio[-1]) == pytest.approx(1.0536, abs=0.03)


def test_the_least_eigenvalue_of_the_kernel_predicts_the_rate_of_convergence():
    """pl-linear-convergence: the last rate of an over-parametrized network is eta lambda_min(kernel) to 30 %."""
    draw = torch.Generator().manual_seed(1)
    x, y = torch.randn(4, 3, generator=draw).double(), torch.randn(4, generator=draw).double()
    x, net = x / x.norm(dim=1, keepdim=True), Wide(2000, 3, 1)
    values = torch.linalg.eigvalsh(net.kernel(x))
    rate, errors = 0.5 / float(values[-1]), []
    for _ in range(round(6 / (rate * float(values[0])))):
        net.step(x, y, rate)
        errors.append(float((net.output(x) - y).norm()))
    late = -np.log(errors[-1] / errors[len(errors) // 2]) / (len(errors) - 1 - len(errors) // 2)
    assert late == pytest.approx(rate * float(values[0]), rel=0.3)
    assert not late == pytest.approx(rate * float(values[1]), rel=0.3)


def test_a_wide_network_at_the_end_of_training_is_regression_with_the_limiting_kernel():
    """ntk-kernel-regression-limit: k_inf K_inf^-1 y for new points, to 0.05 std(y) at width 4096, at a loss of 1e-6."""
    errors = []
    for seed in range(3):
        draw = torch.Generator().manual_seed(seed)
        x, y = torch.randn(16, 4, generator=draw).double(), torch.randn(6, generator=draw).double()
        x, net = x / x.norm(dim=1, keepdim=True), Wide(4096, 4, seed + 10)
        u = (x @ x.T).clamp(-1, 1)
        limit = 2 * u / torch.pi * (torch.pi - u.arccos()) + (1 - u**2).clamp_min(0).sqrt() / torch.pi
        expected = limit[6:, :6] @ torch.linalg.solve(limit[:6, :6], y)
        rate, left = 1.0 / float(torch.linalg.eigvalsh(limit[:6, :6])[-1]), 1.0
        while left >= 1e-6:
            net.step(x[:6], y, rate)
            left = float((net.output(x[:6]) - y).square().mean())
        errors.append(float((net.output(x[6:]) - expected).square().mean().sqrt() / y.std()))
        assert float(expected.std() / y.std()) > 0.2  # predictions that say something
    assert np.mean(errors) <= 0.05


def test_training_is_linear_long_before_the_characteristic_time_and_not_after_it():
    """characteristic-time-tc: at alpha sqrt(m) = 0.1 the kernel is still after 0.01 alpha sqrt(m), O(1) off after 3 of them."""
    draw = torch.Generator().manual_seed(0)
    x, y = torch.randn(20, 5, generator=draw).double(), torch.randn(20, generator=draw).double().sign()
    x, m = x / x.norm(dim=1, keepdim=True), 200
    net, alpha = Wide(m, 5, 0), 0.1 / m**0.5
    start, changes, t, step = net.kernel(x), [], 0.0, 0.002
    for target in (0.01 * 0.1, 3 * 0.1):
        while t < target - 1e-12:  # the flow of |alpha f - y|^2 / (2 n alpha^2)
            rate = min(step / 2, target - t) * 1.0
            net.step(x, y / alpha, rate / len(x))
            t += rate
        changes.append(float((net.kernel(x) - start).norm() / start.norm()))
    assert changes[0] <= 0.05 and changes[1] >= 0.5


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_kernels_of_deep_networks_are_within_two_percent_of_the_recursion(hidden):
    """ntk-deep-recursion: sum_j S_j S'_(j+1) ... S'_J, against gradients of networks of width 1024, over five draws."""
    u = torch.tensor([[1.0, 0.0, 0.0], [-0.3, 0.8, 0.5]]).double()
    s, terms = u @ u.T / 3, []
    for _ in range(hidden):
        size = s.diagonal().sqrt().outer(s.diagonal().sqrt())
        angle = (s / size).clamp(-1, 1).arccos()
        slope = (torch.pi - angle) / (2 * torch.pi)  # E relu'(a) relu'(b)
        terms = [slope * term for term in [*terms, s]]
        s = size * (angle.sin() + (torch.pi - angle) * angle.cos()) / (2 * torch.pi)  # E relu(a) relu(b)
    theory, draw, found = sum(terms) + s, torch.Generator().manual_seed(hidden), []
    for _ in range(5):
        h, layers, states, gates = u, [], [u], []
        for _ in range(hidden):
            layers.append(torch.randn(1024, h.shape[1], generator=draw).double())
            z = h @ layers[-1].T / h.shape[1] ** 0.5
            h = z.relu()
            states.append(h)
            gates.append((z > 0).double())
        g = torch.randn(1, 1024, generator=draw).double() / 32  # df / dh of the last hidden layer
        kernel = h @ h.T / 1024
        g = g.expand(2, -1)
        for layer, state, gate in zip(layers[::-1], states[-2::-1], gates[::-1], strict=True):
            g = g * gate
            kernel = kernel + (g @ g.T) * (state @ state.T) / state.shape[1]
            g = g @ layer / state.shape[1] ** 0.5
        found.append(kernel)
    scale = theory.diagonal().sqrt().outer(theory.diagonal().sqrt())
    assert float(((sum(found) / 5 - theory) / scale).abs().max()) <= 0.1  # the diagonal varies by 8 % from draw to draw
    assert float(((sum(found) / 5 - theory) / scale)[0, 1].abs()) <= 0.02


def test_paired_units_make_the_outputs_part_by_the_square_of_the_scale():
    """lazy-dynamics-theorem: |alpha f - alpha f_lin| falls as alpha^-2 from paired units, as alpha^-1 from centered ones."""
    scales, slopes = (16.0, 32.0, 64.0, 128.0), []
    for paired in (True, False):
        gaps = []
        for seed in range(6):
            draw = torch.Generator().manual_seed(seed)
            x, y, w0, v0 = (torch.randn(*s, generator=draw).double() for s in ((5, 3), (5,), (20, 3), (20,)))
            if paired:
                w0, v0 = torch.cat([w0, w0]), torch.cat([v0, -v0])
            h0, c = torch.tanh(x @ w0.T), len(w0) ** -0.5
            gate, gone = (1 - h0**2) * v0, h0 @ v0
            for alpha in scales:
                w, v, a, b = w0, v0, w0, v0
                for _ in range(40):
                    h = torch.tanh(x @ w.T)
                    out = alpha * c * (h @ v - gone)
                    line = alpha * c * (h0 @ (b - v0) + (gate * (x @ (a - w0).T)).sum(1))
                    r, s = (y - out) * c / alpha, (y - line) * c / alpha
                    w, v = w + 0.05 * (r[:, None] * (1 - h**2) * v).T @ x, v + 0.05 * h.T @ r
                    a, b = a + 0.05 * (s[:, None] * gate).T @ x, b + 0.05 * h0.T @ s
                gaps.append(float((out - line).norm()))
        slopes.append(np.polyfit(np.log(scales), np.log(np.reshape(gaps, (6, 4))).mean(0), 1)[0])
    assert slopes[0] == pytest.approx(-2.0, abs=0.15) and slopes[1] == pytest.approx(-1.0, abs=0.15)


def test_deeper_linear_convolutions_end_with_no_more_frequencies():
    """linear-conv-net-depth-l: frequencies above 1 % of the largest do not become more with depth 1, 2, 3, 4."""
    for seed in range(3):
        z = np.fft.fft(convolutions.problem(3, 8, seed))
        counts = []
        for depth in (1, 2, 3, 4):
            b = np.fft.fft(np.random.default_rng([seed, depth]).normal(size=8))
            b = 0.7**depth * b / np.abs(b)
            a = convolutions.softmin((z.conj() @ b).real / 8)
            for _ in range(300):
                metric = depth * np.abs(b) ** (2 - 2 / depth)
                rate = 0.05 * np.linalg.norm(b) / np.linalg.norm(metric * (a @ z))
                margins, gram = (z.conj() @ b).real / 8, ((z.conj() * metric) @ z.T).real / 8
                b = b + metric * (convolutions.implicit_step(margins, gram, a, rate) @ z)
                a = convolutions.softmin((z.conj() @ b).real / 8)
            counts.append(int((np.abs(b) > 1e-2 * np.abs(b).max()).sum()))
        assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_the_tangent_kernel_has_no_negative_eigenvalue_and_predicts_a_small_step():
    """ntk-empirical-definition: K is positive semidefinite; f after one small step moves by -rate K (f - y), to 1e-3."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    x, y, rate = torch.randn(12, 3).double(), torch.randn(12, 1).double(), 1e-5
    gram = torch.as_tensor(ntk(net, x)).double().reshape(12, 12)
    values = torch.linalg.eigvalsh(gram)
    assert float(values[0]) > -1e-10 * float(values[-1])
    before = net(x).detach()
    (0.5 * (net(x) - y).square().sum()).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= rate * p.grad
        move = (net(x) - before)[:, 0] / rate
    expected = -gram @ (before - y)[:, 0]
    assert float((move - expected).norm() / expected.norm()) <= 1e-3


def test_products_of_orthogonal_matrices_learn_in_a_time_without_depth():
    """init-orthogonal: condition 1 after 50 layers, > 1e6 for Gaussian ones; steps at rate r / L vary by at most 30 %."""
    draw = torch.Generator().manual_seed(0)
    random = lambda: torch.randn(12, 12, generator=draw).double()  # noqa: E731
    orthogonal = lambda: torch.linalg.qr(random())[0]  # noqa: E731
    chain = lambda make: torch.linalg.multi_dot([make() for _ in range(50)])  # noqa: E731
    assert float(torch.linalg.cond(chain(orthogonal))) == pytest.approx(1.0, abs=1e-4)
    assert float(torch.linalg.cond(chain(lambda: random() / 12**0.5))) > 1e6

    def steps(make, depth):
        layers = [make().requires_grad_() for _ in range(depth)]
        start = torch.eye(12).double()
        for layer in layers:
            start = layer.detach() @ start
        goal = 1.5 * torch.linalg.qr(start)[0] @ torch.diag(torch.linalg.qr(start)[1].diagonal().sign())
        count, loss = 0, torch.tensor(1.0)
        while count < 400 and float(loss.detach()) >= 1e-3:
            out = torch.eye(12).double()
            for layer in layers:
                out = layer @ out
            loss = (out - goal).square().sum() / 2
            count += 1
            for layer, g in zip(layers, torch.autograd.grad(loss, layers), strict=True):
                layer.data -= 0.1 / depth * g
        return count

    times = [steps(orthogonal, depth) for depth in (4, 8, 16)]
    assert max(times) <= 1.3 * min(times) and max(times) < 100
    assert steps(lambda: random() / 12**0.5, 16) > 2 * max(times)


@pytest.mark.parametrize("spread", [1.8, 2.0, 2.2])
def test_signals_stay_exactly_at_the_critical_variance(spread):
    """vanishing-exploding-criterion: n E W^2 = 2 keeps the mean square, less makes it fall and more makes it grow."""
    rng, n, depth = np.random.default_rng(0), 200, 12
    rates = []
    for _ in range(20):
        x = np.maximum(rng.normal(size=n), 0)
        first = (x**2).mean()
        for _ in range(depth):
            x = np.maximum(rng.normal(size=(n, n)) * (spread / n) ** 0.5 @ x, 0)
        rates.append((x**2).mean() / first)
    assert np.log(np.mean(rates)) / depth == pytest.approx(np.log(spread / 2), abs=0.02)


def test_one_more_step_of_a_recurrence_costs_the_same_at_any_time():
    """rnn-vs-transformer-cost: operations of the step at t: 2 (d d + d e) of a recurrence, growing with t of attention."""
    from torch.utils.flop_counter import FlopCounterMode

    recurrence, attention = [], []
    for t in (10, 100, 1000):
        with FlopCounterMode(display=False) as counter:
            nn.RNNCell(8, 16, bias=False, device="meta")(
                torch.zeros(1, 8, device="meta"), torch.zeros(1, 16, device="meta")
            )
        recurrence.append(counter.get_total_flops())
        with FlopCounterMode(display=False) as counter:
            torch.zeros(1, 16, device="meta") @ torch.zeros(16, t, device="meta") @ torch.zeros(t, 16, device="meta")
        attention.append(counter.get_total_flops())
    assert recurrence == [2 * (16 * 16 + 16 * 8)] * 3 and attention == [4 * 16 * t for t in (10, 100, 1000)]


@pytest.mark.full
def test_features_that_tell_quarter_turns_serve_digits_five_points_better_than_random_ones():
    """supervision-taxonomy: linear probes of features from predicted rotations beat those of random features by 5 points."""
    lead = []
    for seed in range(3):
        split, few = digits(1200, 500, seed=seed), 200
        accuracy = []
        for taught in (True, False):
            torch.manual_seed(seed)
            body = nn.Sequential(
                nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
                nn.Flatten(), nn.Linear(512, 32), nn.ReLU(),
            )  # fmt: skip
            head = nn.Linear(32, 4)
            if taught:
                x = torch.cat([split.x.rot90(k, (2, 3)) for k in range(4)])
                turns = torch.arange(4).repeat_interleave(len(split.x))
                optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], 2e-3)
                for _ in range(16):
                    for batch in torch.randperm(len(x)).split(200):
                        optimizer.zero_grad()
                        nn.functional.cross_entropy(head(body(x[batch])), turns[batch]).backward()
                        optimizer.step()
            with torch.no_grad():
                f, g = (body(z) for z in (split.x[:few], split.x_test))
            mean, std = f.mean(0), f.std(0) + 1e-4
            f, g = (torch.cat([(z - mean) / std, torch.ones(len(z), 1)], 1) for z in (f, g))
            w = torch.linalg.solve(f.T @ f + torch.eye(33), f.T @ torch.eye(10)[split.y[:few]])
            accuracy.append(float(((g @ w).argmax(1) == split.y_test).double().mean()))
        lead.append(accuracy[0] - accuracy[1])
    assert np.mean(lead) >= 0.05
