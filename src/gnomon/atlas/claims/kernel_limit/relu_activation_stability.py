"""At output scale alpha, the share of ReLU units that switch on or off during training falls as 1 / alpha.

Weights move by |w - w_0| = O(1/alpha). A unit flips at x if |w_0 x| < |(w - w_0) x|; w_0 x has a density at zero, so

    share of flipped units = O(1/alpha)                                                                      (1)
Reference: [chizat2019lazy], Section 3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1, the exponent of the output scale alpha in the share of ReLU units that switch."""
    return -1.0


def flips(nets, width, scales, centered, time=2.0, step=0.1):
    """Returns the share of pairs (ReLU unit, point) that switch during training, for each network and scale."""
    x, y = torch.randn(6, 4) / 2, torch.randn(6, 1)
    w0, v0 = torch.randn(nets, width, 4), torch.randn(nets, width, 1)
    active, c, rows = x @ w0.mT > 0, width**-0.5, []
    start = torch.relu(x @ w0.mT) @ v0 if centered else 0.0
    for alpha in scales:
        w, v = w0, v0
        for _ in range(round(time / step)):
            u = x @ w.mT
            h = torch.relu(u)
            r = (y - alpha * c * (h @ v - start)) * c / alpha
            w, v = w + step * (r * (u > 0) * v.mT).mT @ x, v + step * h.mT @ r
        rows.append(((x @ w.mT > 0) != active).double().mean((1, 2)))
    return scales, torch.stack(rows, 1)


observed = partial(flips, centered=True, time=2.0, step=0.1)  # The model is the output minus its initial value.


def control(nets, width, scales):
    """Returns the shares of switching pairs if the initial output is not subtracted and must be unlearned."""
    return scales, flips(nets, width, [40 * s for s in scales], False)[1]


CLAIM = Claim(
    id="relu-activation-stability",
    question="Do ReLU units switch on and off in lazy training?",
    equation=r"P(1[w x > 0] \ne 1[w_0 x > 0]) = O(1/\alpha)",
    axes=("output scale alpha", "share of units that flip"),
    source=Source("observed", "chizat2019lazy", "Section 3"),
    premises=(Premise("the output starts at zero"), Premise("the output scale is large")),
    parameters={"nets": 20, "width": 800, "scales": (0.2, 0.4, 0.8, 1.6)},
    full={"nets": 20, "width": 4000, "scales": (0.25, 0.5, 1.0, 2.0, 4.0)},
    judge=rate_is(
        confidence=0.999, within=0.1, because="the next order is about a tenth at the smallest scale", label="alpha"
    ),
)
