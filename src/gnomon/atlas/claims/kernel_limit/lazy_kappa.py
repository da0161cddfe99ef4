"""One number at the start tells how lazy training will be.

    kappa = [L / |grad L|] [|D^2 f| / |D f|]                                                                 (1)

compares how far the parameters must go with how far the derivative stays the same. Across widths and output scales the
order of kappa is nearly the order of the distance between the trained network and its trained tangent model, relative
to the way they go: the rank correlation is at least 0.8.
Reference: [chizat2019lazy], equation 3.
"""

import torch
from scipy.stats import spearmanr
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.tangent import kappa


class Net(nn.Module):
    """sum_i v_i tanh(w_i x) / sqrt(m)."""

    def __init__(self, width):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(width, 3).double()), nn.Parameter(torch.randn(width, 1).double())

    def forward(self, x):
        """(n, 3) to (n, 1)."""
        return torch.tanh(x @ self.w.T) @ self.v / len(self.v) ** 0.5


def separation(net, x, y, alpha, time=2.0, step=0.04):
    """|w - w_lin| / |w - w_0| after gradient flow on |alpha (f - f_0) - y|^2 / (2 alpha^2)."""
    w0, v0 = net.w.detach(), net.v.detach()
    h0, c = torch.tanh(x @ w0.T), len(v0) ** -0.5
    gate, start = (1 - h0**2) * v0.T, h0 @ v0
    w, v, a, b = w0, v0, w0, v0
    for _ in range(round(time / step)):
        h = torch.tanh(x @ w.T)
        r = (y - alpha * c * (h @ v - start)) * c / alpha
        tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).T)).sum(1, keepdim=True)
        s = (y - alpha * c * tangent) * c / alpha
        w, v = w + step * (r * (1 - h**2) * v.T).T @ x, v + step * h.T @ r
        a, b = a + step * (s * gate).T @ x, b + step * h0.T @ s
    return float(torch.cat((w - a, v - b), 1).norm() / torch.cat((w - w0, v - v0), 1).norm())


def agreement(widths, scales, own):
    """Rank correlation of kappa, at the scale of each run or at scale one, with the measured separation."""
    x, y, numbers, measured = torch.randn(4, 3).double(), torch.randn(4, 1).double(), [], []
    for width in widths:
        net = Net(width)
        for alpha in scales:
            told = kappa(net, x, y, alpha=alpha if own else 1.0, centered=True, starts=1, iterations=2)
            numbers.append(told.value)
            measured.append(separation(net, x, y, alpha))
    return spearmanr(numbers, measured).statistic


def predicted():
    """The least rank correlation."""
    return 0.8


def observed(widths, scales):
    """kappa at the output scale of each run."""
    return agreement(widths, scales, True)


def control(widths, scales):
    """kappa of the network as if its output were not scaled."""
    return agreement(widths, scales, False)


CLAIM = Claim(
    id="lazy-kappa",
    title="A number at the start tells how far training will be from its tangent model",
    equation=r"\kappa = \frac{L}{\|\nabla L\|} \frac{\|D^2 f\|}{\|D f\|}",
    source=Source("observed", "chizat2019lazy", "equation 3"),
    premises=(Premise("kappa is taken at the output scale of the run"),),
    breaks="kappa is taken at the output scale of the run",
    parameters={"widths": (4, 24, 144), "scales": (1.0, 10.0)},
    full={"widths": (8, 32, 128, 512), "scales": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)},
    judge=bounded_by("below"),
    predicted=predicted,
    observed=observed,
    control=control,
)
