"""The laziness number kappa at initialization ranks networks by how far training leaves their linearization.

    kappa = [L / |grad L|] [|D^2 f| / |D f|]                                                                 (1)

L is the loss, f the output, D f and D^2 f its derivatives. kappa compares how far the weights must move with how far
the derivative stays constant. Across widths and output scales, its rank correlation with the relative distance between
the trained network and its tangent model is at least 0.8 on average. kappa falls as 1 / sqrt(width). Neighboring widths
differ by a factor 16, because kappa and the distance of a narrow network vary by a factor of about 2 between draws.
Reference: [chizat2019lazy], equation 3.
"""

from functools import partial

import torch
from scipy.stats import spearmanr
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most
from gnomon.tangent import laziness_criterion


class ColumnTanhNet(nn.Module):
    """A network with one hidden tanh layer, divided by sqrt(width)."""

    def __init__(self, width):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(width, 3).double()), nn.Parameter(torch.randn(width, 1).double())

    def forward(self, x):
        """Maps inputs (n, 3) to outputs (n, 1)."""
        return torch.tanh(x @ self.w.T) @ self.v / len(self.v) ** 0.5


def separation(nets, x, y, alpha, time=2.0, step=0.04):
    """Returns the distance of trained weights to the linearization's, relative to how far they moved."""
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
    """Returns minus the rank correlation of kappa and the distance to the linearization, over widths and scales."""
    x, y = torch.randn(repetitions, 4, 3).double(), torch.randn(repetitions, 4, 1).double()
    numbers, measured = [], []
    for width in widths:
        nets = [ColumnTanhNet(width) for _ in range(repetitions)]
        draws = list(zip(nets, x, y, strict=True))
        for alpha in scales if own else [1.0]:
            kappas_of_draws = [
                laziness_criterion(net, (inputs, targets), alpha=alpha, centered=True, starts=1, iterations=2).value
                for net, inputs, targets in draws
            ]
            numbers += [kappas_of_draws] if own else [kappas_of_draws] * len(scales)
        measured += [separation(nets, x, y, alpha).tolist() for alpha in scales]
    pairs = zip(zip(*numbers, strict=True), zip(*measured, strict=True), strict=True)
    return [-spearmanr(kappas, distances).statistic for kappas, distances in pairs]


def predicted():
    """Returns -0.8, minus the smallest allowed rank correlation."""
    return -0.8


observed = partial(correlations, own=True)  # Each network's laziness number kappa includes its output scale.
control = partial(correlations, own=False)  # Control: kappa of the network without its output scale.

CLAIM = Claim(
    id="lazy-kappa",
    question="Can one predict before training whether it will be lazy?",
    equation=r"\kappa = \frac{L}{\|\nabla L\|} \frac{\|D^2 f\|}{\|D f\|}",
    axes=("repetition", "- rank correlation of kappa and distance"),
    source=Source("observed", "chizat2019lazy", "equation 3"),
    premises=(Premise("kappa is taken at the output scale of the run"),),
    parameters={"widths": (4, 64, 1024), "scales": (1.0, 10.0), "repetitions": 24},
    full={"widths": (8, 32, 128, 512), "scales": (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0), "repetitions": 16},
    judge=at_most(confidence=0.99),
)
