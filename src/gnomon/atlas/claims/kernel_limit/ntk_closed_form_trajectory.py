"""After time t, a wide network's outputs have changed by (1 - exp(-K t)) y, with tangent kernel K, targets y.

Under gradient flow on |f - y|^2 / 2 with a constant kernel K, f' = K (y - f), so for f minus f(0)

    f(t) = (1 - exp(-K t)) y                                                                                 (1)

The exponential acts from the left. At width m the deviation is of order m^-1/2 or less.
Reference: [lee2019wide], Theorem 2.1.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import ntk


class TwoLayerTanhNet(nn.Module):
    """A network with one hidden tanh layer, divided by sqrt(width)."""

    def __init__(self, d, width):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(width, d).double()), nn.Parameter(torch.randn(width).double())

    def forward(self, x):
        """Maps inputs (n, d) to outputs (n, 1)."""
        return (torch.tanh(x @ self.w.T) @ self.v / len(self.v) ** 0.5)[:, None]


def problem(n, width, seed):
    """Returns the network, n points of a circle, labels of mean square 1, and four training times."""
    torch.manual_seed(seed)
    net, x, y = TwoLayerTanhNet(2, width), torch.randn(n, 2).double(), torch.randn(n).double()
    x = x * (2 / x.square().sum(1, keepdim=True)).sqrt()
    y = y / y.square().mean().sqrt()  # targets of mean square 1: smaller ones would not move the control's kernel
    return net, x, y, torch.tensor([0.1, 0.3, 1.0, 3.0]).double()


def predicted(n, width, seed):
    """Returns the predicted change of the outputs at four times, by the initial tangent kernel."""
    net, x, y, times = problem(n, width, seed)
    return torch.stack([y - torch.matrix_exp(-ntk(net, x) * t) @ y for t in times])


def flow(n, width, seed, scale, step=0.02):
    """Returns the change of the outputs at four times of gradient flow; ``scale`` multiplies the output."""
    net, x, y, times = problem(n, width, seed)
    w, v, c = net.w.detach().clone(), net.v.detach().clone(), scale / width**0.5

    start = torch.tanh(x @ w.T) @ v

    def move(w, v):
        h = torch.tanh(x @ w.T)
        r = (y - c * (h @ v - start)) * c / scale**2
        return (r[:, None] * (1 - h**2) * v).T @ x, h.T @ r

    found = []
    for k in range(1, round(float(times[-1]) / step) + 1):
        dw, dv = move(w, v)
        dw, dv = move(w + step / 2 * dw, v + step / 2 * dv)
        w, v = w + step * dw, v + step * dv
        if any(abs(k * step - t) < step / 2 for t in times):
            found.append(c * (torch.tanh(x @ w.T) @ v - start))
    return torch.stack(found)


observed = partial(flow, scale=1.0, step=0.02)  # The unscaled network.


def control(n, width, seed):
    """Returns the change of the outputs if they are divided by 5 width, so that the kernel changes in training."""
    return flow(n, width, seed, 0.2 * width**-0.5)


CLAIM = Claim(
    id="ntk-closed-form-trajectory",
    question="Which path do the outputs of a wide network follow?",
    equation=r"f(t) = (1 - e^{-K t}) y",
    axes=("training point at four times", "output minus its initial value"),
    source=Source("theorem", "lee2019wide", "Theorem 2.1"),
    premises=(
        Premise("the output is a sum over units divided by sqrt(width)"),
        Premise("the initial output is subtracted"),
        Premise("the network is wide", lambda width: width >= 256),
    ),
    parameters={"n": 5, "width": 1024},
    full={"n": 10, "width": 8192},
    judge=equals(within=0.03, because="the theorem's order width^-1/2 = 0.03 at width 1024"),
    remark="Often printed with the learning rate missing in one exponential, or with the exponential on the right.",
)
