"""Curvature and noise against matrices computed entry by entry."""

import math

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.losses import CrossEntropy, Squared
from gnomon.landscape import hessian, noise_scale, sharpness
from gnomon.landscape.hessian import PIECE
from gnomon.landscape.sharpness import hessian_trace


def problem(n=12, classes=True, seed=0):
    g = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    x = torch.randn(n, 3, generator=g, dtype=torch.float64)
    y = torch.randint(3, (n,), generator=g) if classes else torch.randn(n, 3, generator=g, dtype=torch.float64)
    return net, x, y


def dense(net, x, y, classes):
    """The Hessian by differentiating the loss, written out, twice; shares nothing with the package."""
    names = [name for name, _ in net.named_parameters()]
    shapes = [p.shape for p in net.parameters()]
    flat = torch.cat([p.detach().flatten() for p in net.parameters()])

    def loss(w):
        parts = dict(
            zip(
                names,
                (p.reshape(s) for p, s in zip(w.split([s.numel() for s in shapes]), shapes, strict=True)),
                strict=True,
            )
        )
        f = torch.func.functional_call(net, parts, (x,))
        if classes:
            return -f.log_softmax(1)[torch.arange(len(y)), y].mean()
        return 0.5 * (f - y).square().sum(1).mean()

    return torch.autograd.functional.hessian(loss, flat), torch.autograd.functional.jacobian(loss, flat)


@pytest.mark.parametrize("classes", [True, False])
def test_products_are_those_of_the_dense_hessian(classes):
    net, x, y = problem(classes=classes)
    expected, gradient = dense(net, x, y, classes)
    operator = hessian(net, x, y, loss=CrossEntropy() if classes else Squared())
    torch.testing.assert_close(operator.dense(), expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(operator.gradient(), gradient, rtol=1e-10, atol=1e-12)


def test_pieces_give_the_same_numbers():
    net, x, y = problem(n=2 * PIECE + 7)
    expected, _ = dense(net, x, y, True)
    v = torch.randn(len(expected), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(hessian(net, x, y).matvec(v), expected @ v, rtol=1e-9, atol=1e-11)


def test_the_sharpness_is_the_largest_eigenvalue():
    net, x, y = problem()
    values = torch.linalg.eigvalsh(dense(net, x, y, True)[0])
    found = sharpness(net, x, y)
    assert found.value == pytest.approx(float(values[-1]), rel=1e-7)
    assert found.stable_step() == pytest.approx(2 / float(values[-1]), rel=1e-7)
    assert sharpness(net, x, y, iterations=3).value <= found.value * (1 + 1e-12)


def test_the_interval_of_the_trace_holds_it():
    net, x, y = problem()
    true = float(torch.trace(dense(net, x, y, True)[0]))
    held = [abs(hessian_trace(net, x, y, samples=24, seed=s).value - true)
            <= hessian_trace(net, x, y, samples=24, seed=s).half_width for s in range(40)]  # fmt: skip
    assert sum(held) >= 32  # 95 % intervals: fewer than 33 of 40 has a chance below 0.2 %


def test_the_noise_scale_is_its_definition():
    """With groups of one, Sigma is the plain covariance of single gradients."""
    net, x, y = problem(n=40)
    rows = torch.stack([dense(net, x[i : i + 1], y[i : i + 1], True)[1] for i in range(40)])
    sigma = float(rows.var(0).sum())
    signal = float(rows.mean(0).square().sum()) - sigma / 40
    found = noise_scale(net, x, y, groups=40)
    assert found.variance == pytest.approx(sigma, rel=1e-9)
    assert found.value == pytest.approx(sigma / signal if signal > 0 else math.inf, rel=1e-8)


def test_the_interval_of_the_noise_scale_holds_the_true_one():
    """y = w x + noise with a known gradient law: at w = 0, g = -x y, G = -w, Sigma = E[x^2 y^2] - w^2."""
    w, hits = 2.0, 0
    for s in range(40):
        g = torch.Generator().manual_seed(s)
        x = torch.randn(2000, 1, generator=g, dtype=torch.float64)
        y = w * x[:, 0] + torch.randn(2000, generator=g, dtype=torch.float64)
        net = nn.Linear(1, 1, bias=False).double()
        nn.init.zeros_(net.weight)
        true = (3 * w**2 + 1 - w**2) / w**2
        found = noise_scale(net, x, y, groups=40)
        hits += found.low <= true <= found.high
    assert hits >= 32


def test_the_module_is_left_as_found():
    net, x, y = problem()
    net = nn.Sequential(net, nn.Dropout(0.5)).train()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    state = torch.get_rng_state()
    sharpness(net, x, y, iterations=3)
    noise_scale(net, x, y)
    assert net.training and net[1].training and all(p.grad is None for p in net.parameters())
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)


def test_bad_input_is_told():
    net, x, y = problem()
    with pytest.raises(gnomon.InputError, match="four groups"):
        noise_scale(net, x[:3], y[:3])
    with pytest.raises(gnomon.InputError, match="at least one"):
        sharpness(net, x, y, iterations=0)
    with torch.no_grad():
        net[2].weight.fill_(float("nan"))
    with pytest.raises(gnomon.NotFiniteError, match="not finite"):
        hessian(net, x, y)
