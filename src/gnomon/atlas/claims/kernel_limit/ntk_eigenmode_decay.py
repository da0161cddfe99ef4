"""A network learns each eigenvector of its tangent kernel at the rate of its eigenvalue, large ones first.

For K = Q diag(l) Q^T, gradient flow on |f - y|^2 / 2 from f(0) = 0 gives for the residual along eigenvector q_i

    q_i . (f(t) - y) = -exp(-l_i t) q_i . y                                                                  (1)

With the labels y = q_i the residual keeps its direction, so one number per mode is enough.
Reference: [arora2019fine] for the modes; [lee2019wide] for the width.
"""

from functools import partial

import torch
from torch import nn

from gnomon.atlas.check.kernel import check_order_of_learned_eigenvectors
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import ntk


class ThreeInputTanhNet(nn.Module):
    """A network with three inputs and one hidden tanh layer, divided by sqrt(width)."""

    def __init__(self, width):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(width, 3).double()), nn.Parameter(torch.randn(width).double())

    def forward(self, x):
        """Maps inputs (n, 3) to outputs (n, 1)."""
        return (torch.tanh(x @ self.w.T) @ self.v / len(self.v) ** 0.5)[:, None]


def problem(n, width, seed):
    """Returns the network, its inputs, the three leading eigenvectors of its kernel as labels, and three times."""
    torch.manual_seed(seed)
    net, x = ThreeInputTanhNet(width), torch.randn(n, 3).double()
    labels = torch.linalg.eigh(ntk(net, x)).eigenvectors[:, -3:].T
    return net, x, labels, torch.tensor([0.2, 0.6, 1.2]).double()


def predicted(n, width, seed):
    """Returns the predicted residual along each eigenvector at each time, from its eigenvalue."""
    net, x, labels, times = problem(n, width, seed)
    rates = torch.stack([q @ ntk(net, x) @ q for q in labels])
    return -torch.exp(-rates[:, None] * times)


def residuals(n, width, seed, centered, step=0.01):
    """Returns the measured residual along each eigenvector at each time, by gradient descent with small steps."""
    net, x, labels, times = problem(n, width, seed)
    start, found, c = net(x)[:, 0].detach() * centered, [], width**-0.5
    for q in labels:
        w, v, row = net.w.detach(), net.v.detach(), []
        for k in range(round(float(times[-1]) / step) + 1):
            h = torch.tanh(x @ w.T)
            r = q - (c * h @ v - start)
            if any(abs(k * step - t) < step / 2 for t in times):
                row.append(-q @ r)
            w, v = w + step * c * (r[:, None] * (1 - h**2) * v).T @ x, v + step * c * h.T @ r
        found.append(torch.stack(row))
    return torch.stack(found)


observed = partial(residuals, centered=True, step=0.01)  # The model is the network's output minus its initial output.
control = partial(residuals, centered=False, step=0.01)  # Control: the initial output is not subtracted.

CLAIM = Claim(
    id="ntk-eigenmode-decay",
    question="Which parts of the target does a wide network learn first?",
    equation=r"q_i \cdot (f(t) - y) = -e^{-\lambda_i t} \, q_i \cdot y",
    axes=("mode at three times", "residual along the mode"),
    source=Source("theorem", "arora2019fine", "Theorem 4.1"),
    premises=(Premise("the output starts at zero"), Premise("the network is wide", lambda width: width >= 256)),
    parameters={"n": 6, "width": 512},
    full={"n": 20, "width": 8192},
    judge=equals(within=0.04, because="the kernel changes by at most width^-1/2 = 0.04, the steps by 0.005"),
    check=check_order_of_learned_eigenvectors,
    remark="Often printed with the minus sign lost, or with exp(+lambda t).",
)
