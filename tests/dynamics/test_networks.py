"""Finite networks really trained by descent follow the prediction, the better the wider they are."""

import numpy as np
import pytest
import torch

from gnomon.data import sphere_points
from gnomon.dynamics import CrossEntropy, Squared, predict_from_kernel
from gnomon.training import SGD

WIDTHS = (64, 256, 1024, 4096)
SEEDS = 12


class Network:
    """f(x) = V tanh(W x / sqrt(d)) / sqrt(width) with all parameters standard normal, and its own tangent kernel."""

    def __init__(self, width, outputs, seed):
        generator = torch.Generator().manual_seed(seed)
        self.W = torch.randn(width, 3, generator=generator, dtype=torch.float64)
        self.V = torch.randn(outputs, width, generator=generator, dtype=torch.float64)

    def __call__(self, x, W, V):
        return torch.tanh(x @ W.T / 3**0.5) @ V.T / len(W) ** 0.5

    def kernel(self, x1, x2):
        """Of the first output; those of the others, and zero between them, are the limit of infinite width."""
        h1, h2 = (torch.tanh(x @ self.W.T / 3**0.5) for x in (x1, x2))
        slopes = ((1 - h1**2) * self.V[0]) @ ((1 - h2**2) * self.V[0]).T
        return (h1 @ h2.T + (x1 @ x2.T) / 3 * slopes) / len(self.W)

    def trained(self, x, y, x_test, rate, count, loss):
        W, V = self.W.clone().requires_grad_(), self.V.clone().requires_grad_()
        seen = []
        for s in range(count + 1):
            if s % 10 == 0:
                seen.append(torch.cat([self(x, W, V), self(x_test, W, V)]).detach())
            grads = torch.autograd.grad(loss(self(x, W, V), y), (W, V))
            with torch.no_grad():
                W -= rate * grads[0]
                V -= rate * grads[1]
        return torch.stack(seen)


def deviation(width, seed, classes):
    x, x_test = sphere_points(6, 3, seed=1), sphere_points(4, 3, seed=2)
    rate, count = 0.5, 40
    if classes:
        y = torch.tensor([0, 1, 0, 1, 1, 0])
        measured, told = torch.nn.functional.cross_entropy, CrossEntropy()
    else:
        y = torch.tensor([1.0, -1.0, 0.5, 0.0, 1.0, -0.5], dtype=torch.float64)[:, None]
        measured, told = lambda f, t: ((f - t) ** 2).sum() / (2 * len(t)), Squared()
    net = Network(width, 2 if classes else 1, seed)
    seen = net.trained(x, y, x_test, rate, count, measured)
    start, start_test = seen[0].split([6, 4])
    run = predict_from_kernel(
        net.kernel(x, x), y, test=net.kernel(x_test, x), f0=start, f0_test=start_test, loss=told,
        optimizer=SGD(rate), times=[rate * s for s in range(0, count + 1, 10)],
    )  # fmt: skip
    moved = (seen[-1] - seen[0]).norm()
    return float((seen - torch.cat([run.train, run.test], 1)).square().sum((1, 2)).max().sqrt() / moved)


@pytest.mark.parametrize("classes, rate", [(False, -1.0), pytest.param(True, -0.5, marks=pytest.mark.full)])
def test_the_deviation_from_the_prediction_falls_with_the_width(classes, rate):
    """One output told from its own kernel, two outputs told from the kernel of the first.

    With unit r moved by d_r = O(width^(-1/2)), the kernel, a mean over units, changes at first order by a mean of terms
    d_r u_r, where d_r is proportional to V_r (for W) or to tanh (for V, which multiplies V_r): every term is odd in V_r,
    so the mean over width terms of size width^(-1/2) is of size 1 / width. The second order is a mean of d_r^2, of size
    1 / width too. Hence -1 for one output. The kernels of two outputs, and the one between them, differ from the first
    one (and from 0) by fluctuations of a mean over units: -1/2.
    """
    logs = np.log([[deviation(width, seed, classes) for seed in range(SEEDS)] for width in WIDTHS])
    slopes = np.polyfit(np.log(WIDTHS), logs, 1)[0]  # one for each seed
    error = slopes.std(ddof=1) / SEEDS**0.5
    assert error < 0.1, "too few seeds to tell a rate"
    # Student's t with 11 degrees of freedom: 4.44 at 99.9 %
    assert abs(slopes.mean() - rate) < 4.44 * error, (slopes, np.exp(logs))
