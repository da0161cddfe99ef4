"""A kernel machine is a network with one fixed hidden layer that has one unit for each training point.

Hidden unit i has the output K(x, x_i). The output weights c minimize |K c - y|^2 / 2 + (r / 2) c^T K c, which is convex
with gradient K (K c - y + r c). For an invertible kernel matrix K, targets y and ridge r, the minimum is

    f(x) = sum_i K(x, x_i) c_i,    c = (K + r I)^{-1} y                                                  (1)
Reference: [broomhead1988multivariable].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Returns a grid of n x n points, each moved at random, their targets, and test points."""
    g = torch.Generator().manual_seed(seed)
    x, test = (torch.rand(m, 2, generator=g, dtype=torch.float64) for m in (n**2, 20))
    places = torch.cartesian_prod(torch.arange(n), torch.arange(n))
    return (places + 0.5 * x) / n, torch.randn(n**2, generator=g, dtype=torch.float64), test


def predicted(n, width, ridge, seed):
    """Returns the predictions of the kernel machine at the test points."""
    x, y, test = problem(n, seed)
    kernel = torch.exp(-(((n / width) * torch.cdist(x, x)) ** 2))
    near = torch.exp(-(((n / width) * torch.cdist(test, x)) ** 2))
    return near @ torch.linalg.solve(kernel + ridge * torch.eye(n**2), y)


class Network(nn.Module):
    """A hidden layer of Gaussian units at given centers, and trainable output weights."""

    def __init__(self, centers, width):
        super().__init__()
        self.centers = nn.Parameter(centers.clone())
        self.out = nn.Parameter(torch.zeros(len(centers), dtype=torch.float64))
        self.width = width

    def forward(self, x):
        """Returns the sum of the hidden units' outputs times the output weights."""
        square = ((x[:, None] - self.centers) ** 2).sum(-1)
        return torch.exp(-square / self.width**2) @ self.out


def train(n, width, ridge, seed, parameters):
    """Returns the test outputs after training the named parameters with L-BFGS until the loss stops falling."""
    x, y, test = problem(n, seed)
    net = Network(x, width / n)
    chosen = [getattr(net, name) for name in parameters]
    optimizer = torch.optim.LBFGS(
        chosen, max_iter=200, tolerance_grad=1e-10, tolerance_change=0, history_size=50, line_search_fn="strong_wolfe"
    )

    def loss():
        optimizer.zero_grad()
        value = (net(x) - y).square().sum() / 2 + ridge / 2 * net.out @ net(net.centers)
        value.backward(inputs=chosen)
        return value

    optimizer.step(loss)
    return net(test)


observed = partial(train, parameters=["out"])  # The test trains only the output weights; the centers are fixed.
control = partial(train, parameters=["out", "centers"])  # Control: the centers of the hidden units are trained as well.

CLAIM = Claim(
    id="rbf-kernel-machine-as-network",
    question="Is a kernel machine a neural network?",
    equation=r"f(x) = \sum_i K(x, x_i) c_i, \quad c = (K + r I)^{-1} y",
    axes=("test point", "output"),
    source=Source("theorem", "broomhead1988multivariable"),
    premises=(Premise("the hidden layer is fixed"), Premise("the kernel matrix is invertible")),
    parameters={"n": 5, "width": 0.6, "ridge": 0.1},
    full={"n": 12, "width": 0.6, "ridge": 0.1},
    judge=equals(within=1e-6, because="the search ends if losses agree to rounding: sqrt(1e-16 loss / curvature)"),
)
