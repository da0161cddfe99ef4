"""Outside the range of its training data a network fails, but an equation found from the same data still holds.

    |law(x) - y| / |y| <= 1 %    and    |network(x) - y| / |y| >= 10 %    outside the data              (1)

y is the measured quantity at x.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.discovery import TermLibrary, distill_equation, extrapolation_gap
from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 1 twice: the discovered law is within 1 %, and the network is off by at least 10 %."""
    return [1.0, 1.0]


class MeasuredQuantity(nn.Module):
    """Computes the measured quantity y = 0.5 x^2 - 0.3 x."""

    def forward(self, x):
        """Returns the measured quantity y = 0.5 x^2 - 0.3 x at x."""
        return 0.5 * x**2 - 0.3 * x


def measure(width, steps, seed, far):
    """Returns whether the law found on [-1, 1] is within 1 % and a network off by 10 %, from ``far`` to ``far`` + 2."""
    torch.manual_seed(seed)
    x = torch.linspace(-1, 1, 200)[:, None]
    y = MeasuredQuantity()(x)
    net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)  # the rate falls: Adam's loss would jump
    for _ in range(steps):
        optimizer.zero_grad()
        (net(x) - y).square().mean().backward()
        optimizer.step()
        schedule.step()
    law = distill_equation(MeasuredQuantity(), TermLibrary(degree=3), x).equation
    powers = {"1": 0, "x1": 1, "x1^2": 2, "x1^3": 3}
    formula = lambda z: sum(c * z ** powers[t] for t, c in zip(law.terms, law.coefficients, strict=True))  # noqa: E731
    z = torch.linspace(far, far + 2, 100)[:, None]
    gap = extrapolation_gap(net, formula, (x, y), (z, MeasuredQuantity()(z)))
    return [float(gap.law_outside <= 0.01), float(np.isfinite(gap.ratio) and gap.model_outside >= 0.1)]


observed = partial(measure, far=2.0)  # Errors are measured at inputs from 2 to 4, outside the training range.
control = partial(measure, far=-1.0)  # Control: at inputs from -1 to 1, inside the training range.

CLAIM = Claim(
    id="data-speak-vs-physics",
    question="Does a network or a discovered law extrapolate better?",
    equation=r"|law(x) - y| \le 0.01 |y|, \; |\phi_W(x) - y| \ge 0.1 |y|",
    axes=("law within 1 %, then network off by 10 %", "1 if true"),
    source=Source("observed"),
    premises=(Premise("the comparison is outside the range of the data"), Premise("the law is in the library")),
    parameters={"width": 32, "steps": 400},
    full={"steps": 3000},
    judge=equals(rounding=0),
)
