"""Gradients are orthogonal to weight symmetries, so a ReLU unit keeps |incoming weights|^2 - |outgoing weights|^2.

    <grad L(w), d/da U_a w> = 0;    for ReLU units |w_in|^2 - |w_out|^2 is constant along gradient flow             (1)

L is the loss, U_a w the orbit of the weights w, w_in and w_out the incoming and outgoing weights of a unit. A step of
size r changes the balance by terms of order r^2, so over a fixed time it drifts in proportion to r.
Reference: [kunin2021neural].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.symmetry.parameters import unit_balance


def drifts(decay, rates, time, seed):
    """Returns the largest drift of |w_in|^2 - |w_out|^2 over ten ReLU units, for several step sizes."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(30, 3, generator=g).double()
    y = x[:, :1].sin()
    out = []
    for rate in rates:
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1)).double()
        weights = list(net.parameters())
        start = unit_balance(net)
        for _ in range(round(time / rate)):
            loss = (net(x) - y).square().mean() + decay * sum(p.square().sum() for p in weights[:1])
            with torch.no_grad():
                for p, slope in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                    p -= rate * slope
        out.append(float((unit_balance(net) - start).abs().max()))
    return rates, out


def predicted():
    """Returns 1, the exponent of the step size in the drift of |w_in|^2 - |w_out|^2."""
    return 1.0


observed = partial(drifts, decay=0.0)  # The loss only.
control = partial(drifts, decay=0.1)  # Control: weight decay on the first layer changes |w_in|^2 - |w_out|^2.

CLAIM = Claim(
    id="gradient-orthogonal-to-orbit",
    question="What do symmetries of the weights conserve during training?",
    equation=r"\langle \nabla L(w), \partial_\alpha U_\alpha w\rangle = 0",
    axes=("step size r", "drift of the conserved quantity"),
    source=Source("theorem", "kunin2021neural"),
    premises=(Premise("the loss has no weight decay"),),
    parameters={"rates": (0.001, 0.002, 0.004, 0.008), "time": 0.8},
    judge=rate_is(next_order=1.0, label="step size"),
    remark="Gradient flow is dw/dt = -grad L; it is sometimes printed without the sign.",
)
