"""Laziness between checkpoints, and the rates at which wide or scaled networks become lazy."""

import copy
import math

import matplotlib
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.linalg.alignment import kernel_rotation
from gnomon.tangent import laziness, linearize, ntk, scale_output
from gnomon.tangent.laziness import Laziness
from tests.tangent.test_empirical import assert_same, snapshot

matplotlib.use("Agg")


class TwoLayers(nn.Module):
    """f = scale * sum_i b_i tanh(w_i . x), all parameters standard normal; scale = m^(-1/2) is the NTK's."""

    def __init__(self, width, seed, inputs=3, scale=None, activation=torch.tanh):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.w = nn.Parameter(torch.randn(width, inputs, generator=generator, dtype=torch.float64))
        self.b = nn.Parameter(torch.randn(1, width, generator=generator, dtype=torch.float64))
        self.scale, self.activation = width**-0.5 if scale is None else scale, activation

    def forward(self, x):
        return self.scale * nn.functional.linear(self.activation(nn.functional.linear(x, self.w)), self.b)


def slope(xs, ys):
    a, b = torch.tensor(xs).double().log(), torch.tensor(ys).double().log()
    return float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())


def descend(model, x, y, rate, steps, factor=1.0):
    """Gradient descent on factor times half the mean square."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    for _ in range(steps):
        loss = factor * ((model(x) - y) ** 2).mean() / 2
        grads = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, grads, strict=True):
                p.sub_(rate * g)
    return model


def data(n=6, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return x, torch.sin(2 * x[:, :1])


def test_every_change_is_its_definition():
    torch.manual_seed(0)
    before = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    after = copy.deepcopy(before)
    with torch.no_grad():
        after[0].weight.mul_(1.5)
    x = torch.randn(4, 3).double()
    untouched = snapshot(before), snapshot(after)
    result = laziness(before, after, x)
    assert_same(untouched[0], snapshot(before))
    assert_same(untouched[1], snapshot(after))
    w0, w1 = (torch.cat([p.detach().flatten() for p in m.parameters()]) for m in (before, after))
    k0, k1 = ntk(before, x), ntk(after, x)
    h0, h1 = (torch.tanh(m[0](x)).detach() for m in (before, after))
    assert result.parameters == pytest.approx(float((w1 - w0).norm() / w0.norm()))
    assert result.kernel == pytest.approx(float((k1 - k0).norm() / k0.norm()))
    assert result.rotation == pytest.approx(kernel_rotation(k0, k1))
    assert result.activations["1"] == pytest.approx(float((h1 - h0).norm() / h0.norm()))
    assert list(result.activations) == ["0", "1", "2"]
    assert result.outputs == pytest.approx(float((after(x) - before(x)).detach().norm() / before(x).detach().norm()))


def test_state_dicts_need_a_module_and_give_the_same_numbers():
    before, after, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.randn(3, 2)
    same = laziness(before.state_dict(), after.state_dict(), x, module=nn.Linear(2, 1))
    assert same == laziness(before, after, x)
    with pytest.raises(InputError, match="a state dict was passed"):
        laziness(before.state_dict(), after, x)
    with pytest.raises(InputError, match="checkpoints of 3 and 4 parameters"):
        laziness(before, nn.Linear(3, 1), x)


def test_the_record_speaks_and_draws():
    result = laziness(nn.Linear(2, 1), nn.Linear(2, 1), torch.randn(3, 2))
    assert result.kernel < 1e-6 and "Training was lazy" in result.verdict  # the kernel of a linear map is fixed
    assert "not lazy" in Laziness(0.1, 0.5, 0.1, 1.0, {"0": 0.1}).verdict
    assert result.to_dict()["kernel"] == result.kernel
    axes = Laziness(0.1, 0.5, 0.1, 1.0, {"0": 0.1, "1": 0.3}).plot().figure.axes
    assert [bar.get_width() for bar in axes[0].patches] == [0.1, 0.3]
    assert [bar.get_width() for bar in axes[1].patches] == [0.1, 0.5, 1.0]
    matplotlib.pyplot.close("all")


@pytest.mark.full
def test_the_kernel_stays_as_width_grows():
    """Relative drift falls as 1/width at scale width^(-1/2), and does not fall at scale 1/width.

    Each unit moves by width^(-1/2), in a direction that has the sign of its output weight; the signs are independent,
    so the mean over units moves by another width^(-1/2) less than the bound width^(-1/2).
    """
    x, y = data()
    widths = [128, 512, 2048]

    def drift(width, seed, mean_field):
        net = TwoLayers(width, seed, scale=1 / width if mean_field else None)
        trained = descend(copy.deepcopy(net), x, y, 0.5 * (width if mean_field else 1), 60)
        return laziness(net, trained, x).kernel

    def rate(mean_field):
        drifts = [sum(drift(w, seed, mean_field) for seed in range(8)) / 8 for w in widths]
        return slope(widths, drifts)

    assert abs(rate(False) + 1) < 0.15
    assert abs(rate(True)) < 0.15


def test_the_finite_kernel_approaches_its_infinite_limit():
    """Two layers of relu: the limit is (x . x' angle kernels) in closed form; the error falls as width^(-1/2)."""
    x, _ = data(5)
    norms = x.norm(dim=1)
    cosine = (x @ x.T / norms.outer(norms)).clamp(-1, 1)
    angle = torch.acos(cosine)
    last = norms.outer(norms) * (torch.sin(angle) + (math.pi - angle) * cosine) / (2 * math.pi)  # from b
    first = (x @ x.T) * (math.pi - angle) / (2 * math.pi)  # from w
    widths = [64, 256, 1024, 4096]
    errors = []
    for width in widths:
        runs = [ntk(TwoLayers(width, seed, activation=torch.relu), x) - last - first for seed in range(16)]
        errors.append(float(torch.stack(runs).norm(dim=(1, 2)).mean()))
    assert abs(slope(widths, errors) + 0.5) < 0.1
    assert errors[-1] < 0.1 * float((last + first).norm())


def test_large_alpha_keeps_parameters_on_their_linearization():
    """Distance to the start falls as 1/alpha, to the linearized path as 1/alpha^2, outputs as 1/alpha."""
    x, y = data()
    net, alphas = TwoLayers(20, 1), [8.0, 32.0]
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    moved, apart, outputs = [], [], []
    for alpha in alphas:
        true = descend(scale_output(net, alpha), x, y, 0.05, 60, factor=1 / alpha**2)
        line = descend(scale_output(linearize(net), alpha), x, y, 0.05, 60, factor=1 / alpha**2)
        w = torch.cat([p.detach().flatten() for p in true.module.parameters()])
        v = torch.cat([p.detach().flatten() for p in line.module.parameters()])
        moved.append(float((w - start).norm()))
        apart.append(float((w - v).norm()))
        outputs.append(float((true(x) - line(x)).detach().norm()))
    assert abs(slope(alphas, moved) + 1) < 0.15
    assert abs(slope(alphas, apart) + 2) < 0.15
    assert abs(slope(alphas, outputs) + 1) < 0.15


@pytest.mark.full
def test_small_alpha_learns_features_and_generalizes_where_large_alpha_does_not():
    """One relu of 15 inputs, learned by 100 relus from 60 examples: lazy training drifts little and tests worse."""
    generator = torch.Generator().manual_seed(0)
    direction = torch.zeros(15, dtype=torch.float64)
    direction[0] = 1.0
    x = torch.randn(560, 15, generator=generator, dtype=torch.float64)
    y = torch.relu(x @ direction).unsqueeze(1)
    train, test = slice(0, 60), slice(60, None)

    def run(alpha, rate, steps):
        net = TwoLayers(100, 3, inputs=15, activation=torch.relu)
        model = descend(scale_output(net, alpha), x[train], y[train], rate, steps, factor=1 / alpha**2)
        fit = float(((model(x[train]) - y[train]) ** 2).mean().detach())
        error = float(((model(x[test]) - y[test]) ** 2).mean().detach())
        return fit, error, laziness(net, model.module, x[train]).kernel

    lazy_fit, lazy_error, lazy_drift = run(100.0, 0.5, 1500)
    rich_fit, rich_error, rich_drift = run(0.01, 0.003, 4000)
    assert lazy_fit < 1e-3 and rich_fit < 1e-3  # both fit the data
    assert lazy_drift < 0.05 < 0.5 < rich_drift
    assert rich_error < lazy_error / 3


def test_a_module_that_returns_a_record_is_compared_by_its_logits():
    class Record:
        def __init__(self, logits):
            self.logits = logits

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 3)

        def forward(self, x):
            return Record(self.layer(x))

    net, x = Net(), torch.eye(2)
    other = copy.deepcopy(net)
    with torch.no_grad():
        other.layer.weight.mul_(2)
        other.layer.bias.mul_(2)
    assert laziness(net, other, x).outputs == pytest.approx(1.0)
