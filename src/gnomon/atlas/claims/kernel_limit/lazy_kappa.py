"""One number at the start tells how lazy training will be.

    kappa = [L / |grad L|] [|D^2 f| / |D f|]                                                                 (1)

compares how far the parameters must go with how far the derivative stays the same. Across widths and output scales the
order of kappa is nearly the order of the distance between the trained network and its trained tangent model, relative
to the way they go: the rank correlation is at least 0.8 in the mean over data and initial weights. kappa falls as
1 / sqrt(width); neighboring widths are a factor 16 apart, because kappa and the distance of a narrow network vary by a
factor of about 2 from one draw to the next.
Reference: [chizat2019lazy], equation 3.
"""

from functools import partial

import torch
from scipy.stats import spearmanr
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.tangent import kappa


class ColumnTanhNet(nn.Module):
    """sum_i v_i tanh(w_i x) / sqrt(m)."""

    def __init__(self, width):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(width, 3).double()), nn.Parameter(torch.randn(width, 1).double())

    def forward(self, x):
        """(n, 3) to (n, 1)."""
        return torch.tanh(x @ self.w.T) @ self.v / len(self.v) ** 0.5


def separation(nets, x, y, alpha, time=2.0, step=0.04):
    """|w - w_lin| / |w - w_0| after gradient flow on |alpha (f - f_0) - y|^2 / (2 alpha^2), for each network."""
    w0, v0 = torch.stack([net.w.detach() for net in nets]), torch.stack([net.v.detach() for net in nets])
    h0, c = torch.tanh(x @ w0.mT), v0.shape[1] ** -0.5
    gate, start = (1 - h0**2) * v0.mT, h0 @ v0
    w, v, a, b = w0, v0, w0, v0
    for _ in range(round(time / step)):
        h = torch.tanh(x @ w.mT)
        r = (y - alpha * c * (h @ v - start)) * c / alpha
        tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).mT)).sum(2, keepdim=True)
        s = (y - alpha * c * tangent) * c / alpha
        w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
        a, b = a + step * (s * gate).mT @ x, b + step * h0.mT @ s
    return torch.cat((w - a, v - b), 2).norm(dim=(1, 2)) / torch.cat((w - w0, v - v0), 2).norm(dim=(1, 2))


def correlations(widths, scales, repetitions, own):
    """Minus the rank correlation of kappa, at the scale of each run or at scale one, with the measured separation."""
    x, y = torch.randn(repetitions, 4, 3).double(), torch.randn(repetitions, 4, 1).double()
    numbers, measured = [], []
    for width in widths:
        nets = [ColumnTanhNet(width) for _ in range(repetitions)]
        draws = list(zip(nets, x, y, strict=True))
        for alpha in scales if own else [1.0]:
            told = [kappa(*draw, alpha=alpha, centered=True, starts=1, iterations=2).value for draw in draws]
            numbers += [told] if own else [told] * len(scales)
        measured += [separation(nets, x, y, alpha).tolist() for alpha in scales]
    pairs = zip(zip(*numbers, strict=True), zip(*measured, strict=True), strict=True)
    return [-spearmanr(kappas, distances).statistic for kappas, distances in pairs]


def predicted():
    """The least rank correlation, with its sign turned."""
    return -0.8


observed = partial(correlations, own=True)  # kappa at the output scale of each run.
control = partial(correlations, own=False)  # kappa of the network as if its output were not scaled.

CLAIM = Claim(
    id="lazy-kappa",
    title="A number at the start tells how far training will be from its tangent model",
    equation=r"\kappa = \frac{L}{\|\nabla L\|} \frac{\|D^2 f\|}{\|D f\|}",
    source=Source("observed", "chizat2019lazy", "equation 3"),
    premises=(Premise("kappa is taken at the output scale of the run"),),
    parameters={"widths": (4, 64, 1024), "scales": (1.0, 10.0), "repetitions": 16},
    full={"widths": (8, 32, 128, 512), "scales": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0), "repetitions": 16},
    judge=at_most(confidence=0.99),
)
