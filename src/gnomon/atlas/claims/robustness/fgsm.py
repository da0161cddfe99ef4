"""A step of eps along the gradient's signs (FGSM) lowers a linear margin by eps times the weights' l1 norm.

    m(x - eps sign(w)) = m(x) - eps |w|_1                                                                     (1)

m is the margin, x the input, w are the weights and |w|_1 the sum of their absolute values.
Reference: [goodfellow2015explaining], Section 3.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness.attacks import FGSM, attack


def problem(d, n, seed):
    """Returns weights, and inputs with a margin large enough to stay correct."""
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(d, generator=generator, dtype=torch.float64)
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return w, x + (50 - x @ w)[:, None] * w / (w @ w)


def predicted(d, n, eps, seed):
    """Returns the decrease of the margin, eps times the l1 norm of the weights, for each input."""
    return np.full(n, eps * problem(d, n, seed)[0].abs().sum())


class BentLinearScore(torch.nn.Module):
    """Two scores +- (w x) / 2, with a nonlinear term of size ``bend``."""

    def __init__(self, w, bend):
        super().__init__()
        self.w, self.bend = torch.nn.Parameter(w), bend

    def forward(self, x):  # noqa: D102
        s = x @ self.w + self.bend * torch.sin(5 * x).sum(1)
        return torch.stack([s, -s], 1) / 2


def margin_decrease(bend, d, n, eps, seed):
    """Returns the decrease of each margin under the fast gradient sign attack."""
    w, x = problem(d, n, seed)
    net = BentLinearScore(w, bend)
    moved = attack(net, (x, torch.zeros(n).long()), eps=eps, bounds=(-1e6, 1e6), method=FGSM()).examples
    with torch.no_grad():
        before, after = (f[:, 0] - f[:, 1] for f in (net(x), net(moved)))
    return before - after


observed = partial(margin_decrease, bend=0.0)  # A linear score.
control = partial(margin_decrease, bend=1.0)  # A nonlinear score.

CLAIM = Claim(
    id="fgsm",
    question="How much does the fast gradient sign attack lower a linear margin?",
    equation=r"m(x - \epsilon\, \mathrm{sgn}\, w) = m(x) - \epsilon \|w\|_1",
    axes=("input", "decrease of the margin"),
    source=Source("theorem", "goodfellow2015explaining", "Section 3"),
    premises=(Premise("the score is linear in the input"),),
    parameters={"d": 30, "n": 20, "eps": 0.1},
    full={"d": 784, "n": 500, "eps": 0.1},
    judge=equals(rounding=1e5),
)
