"""A wide network's trained weights stay within order width^-1/2 of the weights of its linearization.

In f = sum_i v_i tanh(w_i x) / sqrt(m) each unit moves by m^-1/2, and the tangent model's error for each unit is the
square of that, 1/m. Over m units

    |w - w_lin| = O(sqrt(m) / m) = O(m^-1/2)      while      |w - w_0| = O(1)                                (1)

w_lin are the weights of the tangent model and w_0 the initial ones. Reference: [lee2019wide], Theorem 2.1.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1/2, the exponent of the width in the distance between both networks' weights."""
    return -0.5


def distance(nets, widths, scale, time=1.0, step=0.1):
    """Returns the distance of the trained weights from the linearization's, for each network and width."""
    x, y = torch.randn(5, 3).double(), torch.randn(5, 1).double()
    rows = []
    for m in widths:
        w0, v0 = torch.randn(nets, m, 3).double(), torch.randn(nets, m, 1).double()
        h0, c = torch.tanh(x @ w0.mT), scale(m)
        gate, start = (1 - h0**2) * v0.mT, h0 @ v0
        w, v, a, b = w0, v0, w0, v0
        for _ in range(round(time / step)):
            h = torch.tanh(x @ w.mT)
            r = (y - c * m**-0.5 * (h @ v - start)) / (c * m**0.5)
            tangent = h0 @ (b - v0) + (gate * (x @ (a - w0).mT)).sum(-1, keepdim=True)
            s = (y - c * m**-0.5 * tangent) / (c * m**0.5)
            w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
            a, b = a + step * (s * gate).mT @ x, b + step * h0.mT @ s
        rows.append((torch.cat((w - a, v - b), 2)).flatten(1).norm(dim=1))
    return widths, torch.stack(rows, 1)


observed = partial(distance, scale=lambda m: 1.0, time=1.0, step=0.1)  # The sum over m units is divided by sqrt(m).
# Control: the sum over m units is divided by m, with a higher learning rate for the same initial speed of the outputs.
control = partial(distance, scale=lambda m: m**-0.5, time=1.0, step=0.1)

CLAIM = Claim(
    id="linearisation-width-rate",
    question="How close do the weights of a wide network stay to its tangent model?",
    equation=r"\sup_t \|w(t) - w_{lin}(t)\| = O(m^{-1/2})",
    axes=("width m", "distance to the weights of the tangent model"),
    source=Source("theorem", "lee2019wide", "Theorem 2.1"),
    premises=(Premise("the output is a sum over units divided by sqrt(width)"),),
    parameters={"nets": 12, "widths": (1024, 2048, 4096, 8192)},
    full={"nets": 30, "widths": (2048, 4096, 8192, 16384)},
    judge=rate_is(confidence=0.9995, label="width"),
    remark="Lecture notes say o(1/width) for the parameters: the measured rate refutes it.",
)
