"""Clauses of the scope on output scales, widths and limits of training; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.kernel_limit import feature_lazy_phase_boundary as boundary
from gnomon.atlas.claims.kernel_limit import feature_lazy_test_error_collapse as collapse
from gnomon.atlas.claims.kernel_limit import relu_activation_stability
from gnomon.data import digits
from gnomon.tangent import ntk, regime_map


class ThreeLayers:
    """ReLU networks with three hidden layers, in NTK scaling, trained on F = alpha (f - f_0) by small steps."""

    def __init__(self, nets, width, scale, points=6):
        """Draws the data, the networks and the output scale alpha = scale / sqrt(width)."""
        torch.manual_seed(0)
        x, self.y = torch.randn(points, 3).double(), torch.randn(points).double().sign()
        self.x, self.alpha = x / x.norm(dim=1, keepdim=True) * 3**0.5, scale / width**0.5
        shapes = ((3, width), (width, width), (width, width), (width, 1))
        self.p = [torch.randn(nets, *shape).double().requires_grad_() for shape in shapes]

    def output(self):
        """Returns the outputs (nets, points)."""
        h = self.x
        for k, w in enumerate(self.p):
            h = (torch.relu(h) * 2**0.5 if k else h) @ w / w.shape[1] ** 0.5
        return h[..., 0]

    def kernel(self):
        """Returns the tangent kernels (nets, points, points)."""
        f = self.output()
        rows = [torch.autograd.grad(f[:, i].sum(), self.p, retain_graph=True) for i in range(len(self.x))]
        rows = torch.stack([torch.cat([g.flatten(1) for g in row], 1) for row in rows], 1)
        return (rows @ rows.mT).detach()

    def train(self, level):
        """Trains until the loss is ``level`` of the first one; returns for each network the time at which it is half."""
        start, time = self.output().detach(), torch.zeros(len(self.p[0])).double()
        half = torch.full_like(time, np.nan)
        for _ in range(3000):
            loss = ((self.alpha * (self.output() - start) - self.y) ** 2).mean(1) / (2 * self.alpha**2)
            share = loss.detach() * 2 * self.alpha**2
            half = torch.where((share < 0.5) & half.isnan(), time, half)
            done = share < level
            if bool(done.all()):
                break
            slopes = torch.autograd.grad(loss.sum(), self.p)
            force = sum((g**2).flatten(1).sum(1) for g in slopes)
            size = sum((w.detach() ** 2).flatten(1).sum(1) for w in self.p)
            step = torch.minimum(0.05 * (size / force) ** 0.5, 0.05 * loss.detach() / force) * ~done
            time = time + step
            self.p = [
                (w - step[:, None, None] * g).detach().requires_grad_() for w, g in zip(self.p, slopes, strict=True)
            ]
        return half


def test_half_times_are_proportional_to_the_scale_below_one_and_constant_above_ten():
    """characteristic-time-tc: t_half / (alpha sqrt(m)) within 20 % for 0.01, 0.03, 0.1; t_half within 20 % for 10 and 100."""
    found = {u: float(ThreeLayers(6, 32, u).train(0.45).median()) for u in (0.01, 0.03, 0.1, 10.0, 100.0)}
    below, above = [found[u] / u for u in (0.01, 0.03, 0.1)], [found[10.0], found[100.0]]
    assert max(below) <= 1.2 * min(below) and max(above) <= 1.2 * min(above)
    assert found[0.01] < 0.1 * above[0]


def test_the_kernel_changes_with_a_power_below_two_when_features_are_learned():
    """ntk-change-exponent: |dTheta| ~ (alpha sqrt(m))^-a with 0.8 < a < 2 for alpha sqrt(m) from 0.01 to 0.1 as well."""
    scales, changes = (0.01, 0.03, 0.1), []
    for scale in scales:
        nets = ThreeLayers(4, 32, scale)
        before = nets.kernel()
        nets.train(0.1)
        changes.append(
            float(((nets.kernel() - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1)).log().mean())
        )
    assert 0.8 < -np.polyfit(np.log(scales), changes, 1)[0] < 2


@pytest.mark.full
def test_changes_of_the_kernel_at_one_alpha_sqrt_m_agree_between_widths():
    """feature-lazy-phase-boundary: relative change for m = 100 and 200 within 25 % at alpha sqrt(m) = 1 and 3; times below."""
    for scale in (0.03, 0.1):
        narrow, wide = (float(ThreeLayers(12, m, scale).train(0.45).log().mean().exp()) for m in (32, 96))
        assert max(narrow, wide) <= 1.25 * min(narrow, wide), (scale, narrow, wide)
    for scale in (1.0, 3.0):
        found = []
        for m in (100, 200):
            torch.manual_seed(0)
            found.append(float(boundary.drift(40, (m,), lambda m, u=scale: u * m**-0.5).log().mean().exp()))
        assert max(found) <= 1.25 * min(found), (scale, found)


def test_curves_of_the_test_error_over_alpha_sqrt_m_collapse():
    """feature-lazy-test-error-collapse: variance between widths <= 15 % of the variance over alpha sqrt(m), unrescaled."""
    rows = []
    for scale in (0.3, 1.0, 10.0):
        row = []
        for m in (96, 288):
            torch.manual_seed(0)
            row.append(float(collapse.errors(6, (m,), lambda m, u=scale: u * m**-0.5)[1].mean()))
        rows.append(row)
    curves = np.array(rows)
    residual = (curves - curves.mean(1, keepdims=True)).var()
    assert residual <= 0.15 * curves.mean(1).var() and np.ptp(curves.mean(1)) > 0.1


def test_fewer_relu_units_switch_in_wider_networks():
    """relu-activation-stability: the share of flips falls with the width as m^(-1/2): slope between -0.7 and -0.3."""
    widths, shares = (200, 800, 3200), []
    for width in widths:
        torch.manual_seed(0)
        shares.append(float(relu_activation_stability.flips(8, width, (1.0,), True)[1].mean()))
    assert -0.7 < np.polyfit(np.log(widths), np.log(shares), 1)[0] < -0.3


def test_residuals_of_lazy_training_fall_on_a_line_to_a_vanishing_gradient():
    """lazy-local-minimum-theorem: p < n, alpha = 100: log |f(t) - f(inf)| linear in t, R^2 >= 0.99; gradient <= 1e-8."""
    g = torch.Generator().manual_seed(0)
    x, y, w = (torch.randn(*shape, generator=g).double() for shape in ((30, 3), (30,), (3,)))
    w, start, alpha, outs = w / 2, torch.tanh(x * w / 2).sum(1), 100.0, []
    jacobian = x * (1 - torch.tanh(x * w) ** 2)
    values = torch.linalg.eigvalsh(jacobian.T @ jacobian)
    rate = float(0.5 / values[-1])
    for _ in range(int(60 / (rate * values[0]))):
        h = torch.tanh(x * w)
        gradient = (x * (1 - h**2)).T @ (alpha * (h.sum(1) - start) - y) / alpha
        w = w - rate * gradient
        outs.append(h.sum(1))
    assert float(gradient.norm()) <= 1e-8 and float((alpha * (outs[-1] - start) - y).norm()) > 0.1
    times = np.arange(int(3 / (rate * values[0])), int(15 / (rate * values[0])))
    logs = np.log([float((outs[t] - outs[-1]).norm()) for t in times])
    assert np.corrcoef(times, logs)[0, 1] ** 2 >= 0.99
    assert -np.polyfit(times * rate, logs, 1)[0] == pytest.approx(float(values[0]), rel=0.1)


def test_norms_on_the_circle_are_sums_of_squared_coefficients_over_the_spectrum():
    """rkhs-circle-relu-spectrum: the least p with f = int p relu(cos): |p|^2 = sum |c_k(f)|^2 / g_k^2, none where g_k = 0."""
    n = 240
    t = 2 * np.pi * np.arange(n) / n
    layer = np.maximum(np.cos(t[:, None] - t), 0) * 2 * np.pi / n
    f = 0.7 + 1.3 * np.cos(t) - 0.4 * np.sin(2 * t) + 0.2 * np.cos(4 * t)
    p = np.linalg.pinv(layer, rcond=1e-3) @ f
    np.testing.assert_allclose(layer @ p, f, atol=1e-6)
    gains = (2, np.pi / 2, 2 / 3, -2 / 15)
    squares = (0.7**2, 1.3**2 / 2, 0.4**2 / 2, 0.2**2 / 2)  # |c_k|^2 over both signs of k
    assert (p**2).mean() == pytest.approx(sum(c / g**2 for c, g in zip(squares, gains, strict=True)), rel=3e-3)
    odd = np.cos(3 * t)
    assert np.linalg.norm(layer @ (np.linalg.pinv(layer, rcond=1e-3) @ odd) - odd) > 0.99 * np.linalg.norm(odd)


def trained_neurons(m, seed, x, y):
    """Returns weights of m neurons after the flow of f = (1/m) sum v tanh(w x) at time 2."""
    g = torch.Generator().manual_seed(seed)
    w, v = torch.randn(m, 3, generator=g).double(), torch.randn(m, 1, generator=g).double()
    for _ in range(40):
        h = torch.tanh(x @ w.T)
        r = y - h @ v / m
        w, v = w + 0.05 * (r * (1 - h**2) * v.T).T @ x, v + 0.05 * h.T @ r
    return w, v


def test_moments_of_the_neurons_come_to_their_limit_and_each_follows_the_first_variation():
    """mean-field-flow: RMS distance of E v^2, E v w, E |w|^2 to a very wide network: slope -0.5 +- 0.15; v_t = -grad F'."""
    g = torch.Generator().manual_seed(9)
    x = 3**0.5 * nn.functional.normalize(torch.randn(5, 3, generator=g).double())
    y = 2 * torch.rand(5, 1, generator=g).double() - 1
    moments = lambda w, v: torch.cat([(v**2).mean()[None], (v * w).mean(0), (w**2).sum(1).mean()[None]])  # noqa: E731
    limit, widths, rows = moments(*trained_neurons(40_000, 999, x, y)), (32, 128, 512), []
    for m in widths:
        found = torch.stack([moments(*trained_neurons(m, seed, x, y)) for seed in range(20)])
        rows.append(float((found - limit).square().mean().sqrt()))
    assert np.polyfit(np.log(widths), np.log(rows), 1)[0] == pytest.approx(-0.5, abs=0.15)
    w, v = trained_neurons(50, 0, x, y)
    r = (torch.tanh(x @ w.T) @ v / 50 - y).detach()
    one = torch.cat([w[7], v[7]]).requires_grad_()  # F'(mu)(w, v) = sum_i r_i v tanh(w x_i)
    (slope,) = torch.autograd.grad((r[:, 0] * one[3] * torch.tanh(x @ one[:3])).sum(), one)
    leaves = [w.clone().requires_grad_(), v.clone().requires_grad_()]
    risk = (torch.tanh(x @ leaves[0].T) @ leaves[1] / 50 - y).square().sum() / 2
    by_w, by_v = torch.autograd.grad(risk, leaves)
    torch.testing.assert_close(50 * torch.cat([by_w[7], by_v[7]]), slope)


def test_the_boundary_of_lazy_training_moves_as_the_root_of_the_width():
    """feature-lazy-phase-boundary: regime_map() of networks over sqrt(m): alpha* ~ m^-e with e between 0.2 and 0.8."""

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.w, self.v = nn.Linear(2, width, bias=False), nn.Linear(width, 1, bias=False)
            for p in self.parameters():
                nn.init.normal_(p)

        def forward(self, x):
            return self.v(torch.tanh(self.w(x))) / self.v.in_features**0.5

    def build(width, seed):
        torch.manual_seed(seed)
        return Net(width)

    torch.manual_seed(3)
    x = torch.randn(6, 2)
    found = regime_map(
        build, (x, x[:, :1].sign()), widths=(32, 128, 512), alphas=(0.05, 0.2, 0.8, 3.2), lr=0.5, steps=40, level=0.1
    )
    assert -1.2 < found.exponent < -0.2 and found.boundary[0] > found.boundary[-1]


@pytest.mark.full
def test_training_at_a_larger_output_scale_reads_digits_less_well():
    """lazy-cifar-experiments: accuracy on digits at alpha = 1 is >= 2 points above that at 10 and 100, for one convolutional network."""
    split, found = digits(300, 600, seed=0), []
    goals = nn.functional.one_hot(split.y, 10).float() - 0.1
    for alpha in (1.0, 10.0, 100.0):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 16, 3, padding=1),
                            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))  # fmt: skip
        start, begin = net(split.x).detach(), net(split.x_test).detach()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.15)
        for _ in range(300):
            optimizer.zero_grad()
            (((alpha * (net(split.x) - start) - goals) ** 2).sum(1).mean() / (2 * alpha**2)).backward()
            optimizer.step()
        found.append(float(((net(split.x_test) - begin).argmax(1) == split.y_test).double().mean()))
    assert found[0] >= max(found[1:]) + 0.02, found


@pytest.mark.full
def test_a_lazy_network_tells_zeros_from_other_digits_as_its_frozen_kernel():
    """feature-lazy-test-error-collapse: 0 against the rest, n = 200: test errors at alpha sqrt(m) = 100 within 2 points."""
    split, width = digits(200, 800, seed=0), 64
    y, truth = (2.0 * (part == 0).double()[:, None] - 1 for part in (split.y, split.y_test))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            g = torch.Generator().manual_seed(0)
            self.w, self.v = (nn.Parameter(torch.randn(*s, generator=g).double()) for s in ((width, 64), (width, 1)))

        def forward(self, x):
            return torch.tanh(x.flatten(1).double() @ self.w.T / 8) @ self.v / width**0.5

    net = Net()
    kernel = ntk(net, torch.cat([split.x, split.x_test]), split.x)
    f, rate, steps, alpha = (
        torch.zeros(1000, 1).double(),
        0.5 * 200 / float(torch.linalg.eigvalsh(kernel[:200])[-1]),
        2000,
        100 / 8,
    )
    for _ in range(steps):
        f = f - rate / 200 * kernel @ (f[:200] - y)
    start = [net(part).detach() for part in (split.x, split.x_test)]
    for _ in range(steps):
        loss = ((alpha * (net(split.x) - start[0]) - y) ** 2).sum() / (400 * alpha**2)
        slopes = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), slopes, strict=True):
                p -= rate * g
    wrong = [float((out.sign() != truth).double().mean()) for out in (f[200:], net(split.x_test) - start[1])]
    assert abs(wrong[0] - wrong[1]) <= 0.02 and max(wrong) < 0.08
