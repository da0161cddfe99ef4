"""The kernel for gpytorch, on a stand-in for its base class: values, derivatives, diagonals and defaults."""

import inspect
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.estimators import NetworkGPKernel, gpytorch_kernel

G = np.random.default_rng(0)
X, Y = G.standard_normal((5, 3)), G.standard_normal((4, 3))


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """A module ``gpytorch.kernels`` whose kernels are plain modules, as far as ours uses them."""
    kernels = ModuleType("gpytorch.kernels")
    kernels.Kernel = type("Kernel", (nn.Module,), {})
    package = ModuleType("gpytorch")
    package.kernels = kernels
    monkeypatch.setitem(sys.modules, "gpytorch", package)
    monkeypatch.setitem(sys.modules, "gpytorch.kernels", kernels)


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_the_matrix_and_its_derivatives_are_those_of_the_kernel_for_scikit_learn(kind):
    kernel = gpytorch_kernel(kind, depth=2, weight_std=1.3, bias_std=0.4)
    same = NetworkGPKernel(kind, depth=2, weight_std=1.3, bias_std=0.4)
    x, y = torch.tensor(X), torch.tensor(Y)
    assert kernel.forward(x, y).detach().numpy() == pytest.approx(same(X, Y), rel=1e-6)  # parameters in float32
    assert kernel.forward(x, x, diag=True).detach().numpy() == pytest.approx(same.diag(X), rel=1e-6)
    weights = torch.tensor(G.standard_normal((5, 5)))
    (weights * kernel.forward(x, x)).sum().backward()
    _, slopes = same(X, eval_gradient=True)  # of the bias, then of the weight
    expected = (weights.numpy()[..., None] * slopes).sum((0, 1))
    assert kernel.log_bias_std.grad.item() == pytest.approx(expected[0], rel=1e-5)
    assert kernel.log_weight_std.grad.item() == pytest.approx(expected[1], rel=1e-5)


def test_it_starts_with_weights_of_variance_two():
    defaults = inspect.signature(gpytorch_kernel).parameters
    assert defaults["weight_std"].default == pytest.approx(2**0.5) and defaults["bias_std"].default == 0.1
    kernel = gpytorch_kernel()
    assert kernel.log_weight_std.item() == pytest.approx(np.log(2) / 2)
    assert kernel.log_bias_std.item() == pytest.approx(np.log(0.1))


def test_derivatives_are_exact_to_a_few_parts_in_a_hundred_million():
    """One relu layer, x = y: K = b^2 + w^2 / 2 (b^2 + w^2 |x|^2 / 3), and its derivatives in log b and log w."""
    w, b, square = 1.4, 0.3, (X**2).sum(1) / 3
    matrix, slopes = NetworkGPKernel(depth=1, weight_std=w, bias_std=b)(X, eval_gradient=True)
    assert matrix.diagonal() == pytest.approx(b**2 + w**2 / 2 * (b**2 + w**2 * square))
    in_b, in_w = slopes.diagonal()
    assert in_b == pytest.approx(2 * b**2 + w**2 * b**2, rel=1e-7)
    assert in_w == pytest.approx(w**2 * b**2 + 2 * w**4 * square, rel=1e-7)
