"""A ReLU joined to its affine layer: the same kernel as one by one, and bounds on correlations that hold."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.kernels.fused import dense, joining
from gnomon.kernels.fused.opcodes import RECTIFIED
from gnomon.program import InitializationLaw


def network(depth):
    layers = [nn.Linear(6, 64)]
    for _ in range(depth):
        layers += [nn.ReLU(), nn.Linear(64, 64)]
    return nn.Sequential(*layers)


def chain_of(law, x, dtype):
    plan = gnomon.limit(network(12), init=law, parametrization="ntk").plan(x)
    data = plan.data_rule.features(x)
    return dense.lower(plan, (data, data), dtype)


def filled(chain, n):
    out = torch.zeros(n, n, dtype=torch.float64)
    assert dense.run(chain, (None, out), symmetric=True) == 0
    return out


def points(n=40):
    """Of norms that differ by ten, two of them opposite."""
    x = torch.randn(n, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x *= 10 ** torch.linspace(-0.5, 0.5, n, dtype=torch.float64)[:, None]
    x[1] = -2 * x[0]
    return x


@pytest.mark.parametrize("bias", [0.0, 0.3, 2.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 2e-5)])
def test_joined_or_not_the_kernel_is_one(bias, dtype, tolerance, monkeypatch):
    x, law = points(), InitializationLaw(2**0.5, bias)
    fast = chain_of(law, x, dtype)
    assert (fast.code[:, 0] == RECTIFIED).sum() == 11
    monkeypatch.setattr(dense, "fuse_relu_with_affine", lambda tape: tape)
    plain = chain_of(law, x, torch.float64)
    wanted = filled(plain, len(x))
    scale = wanted.diagonal().sqrt()
    assert float(((filled(fast, len(x)) - wanted).abs() / (scale[:, None] * scale)).max()) < tolerance


@pytest.mark.parametrize("bias", [0.0, 0.3, 2.0])
def test_no_angle_is_larger_than_it_is_taken_for(bias, monkeypatch):
    """The least correlation that the tape believes in, and that of the reference, layer by layer."""
    believed, x = [], points()
    after = joining._after

    def spy(rho, share):
        believed.append(after(rho, share))
        return believed[-1]

    law = InitializationLaw(2**0.5, bias)
    with monkeypatch.context() as patch:
        patch.setattr(joining, "_after", spy)
        chain_of(law, x, torch.float32)
    net, true = network(12), []
    for depth in range(1, 12):
        k = gnomon.limit(net[: 2 * depth + 1], init=law, parametrization="ntk").nngp(x)
        scale = k.diagonal().sqrt()
        true.append(float((k / (scale[:, None] * scale)).min()))
    assert (np.array(believed) <= np.array(true) + 1e-12).all()
    assert believed[-1] > 0.5  # and is not idle
