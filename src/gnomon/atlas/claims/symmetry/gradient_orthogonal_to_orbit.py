"""Where a loss does not change along an orbit of weights, its gradient has no part along it.

    <grad L(w), d/da U_a w> = 0;    for ReLU units |w_in|^2 - |w_out|^2 is constant along gradient flow             (1)

A step of size r changes it by terms of order r^2, so over a fixed time it drifts in proportion to r.
Reference: [kunin2021neural].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.symmetry.parameters import balance


def drifts(decay, rates, time, seed):
    """The largest drift of the conserved quantity of ten ReLU units over one time, for several step sizes."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(30, 3, generator=g).double()
    y = x[:, :1].sin()
    out = []
    for rate in rates:
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1)).double()
        weights = list(net.parameters())
        start = balance(net)
        for _ in range(round(time / rate)):
            loss = (net(x) - y).square().mean() + decay * sum(p.square().sum() for p in weights[:1])
            with torch.no_grad():
                for p, slope in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                    p -= rate * slope
        out.append(float((balance(net) - start).abs().max()))
    return rates, out


def predicted():
    """Drift in proportion to the step, equation (1)."""
    return 1.0


observed = partial(drifts, decay=0.0)  # The loss alone.
control = partial(drifts, decay=0.1)  # With decay of the first weights: they shrink at any step size.

CLAIM = Claim(
    id="gradient-orthogonal-to-orbit",
    title="Gradients have no part along a symmetry of the weights: the balance of ReLU units is conserved",
    equation=r"\langle \nabla L(w), \partial_\alpha U_\alpha w\rangle = 0",
    source=Source("theorem", "kunin2021neural"),
    premises=(Premise("the loss has no decay of weights"),),
    parameters={"rates": (0.001, 0.002, 0.004, 0.008), "time": 0.8},
    judge=rate_is(next_order=1.0, label="step size"),
    remark="Gradient flow is dw/dt = -grad L; it is sometimes printed without the sign.",
)
