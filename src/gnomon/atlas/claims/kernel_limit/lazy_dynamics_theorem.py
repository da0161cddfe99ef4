"""The larger its output scale, the closer a network's training stays to its linearization, with known rates.

With L(w) = |alpha f(w) - y|^2 / (2 alpha^2), f(w_0) = 0 and a fixed time, the velocity of w and the change of the
Jacobian are of order 1/alpha, and the two paths separate by the product of both:

    |w - w_0| = O(1/alpha),   |w - w_lin| = O(1/alpha^2),   |alpha f(w) - alpha f_lin(w_lin)| = O(1/alpha)    (1)

w_lin and f_lin belong to the tangent model. For alpha to infinity training is learning with the initial kernel.
Reference: [chizat2019lazy], Theorem 2.2.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the exponents of alpha for: distance moved, distance to the linearization, and output difference."""
    return [-1.0, -2.0, -1.0]


def slopes(width, scales, centered, draws=8):
    """Returns the measured exponents of alpha for the three distances, averaged over networks and data."""
    rows = [np.log(distances(width, scales, centered)) for _ in range(draws)]
    return np.polyfit(np.log(scales), np.mean(rows, 0), 1)[0]


def distances(width, scales, centered, time=2.0, step=0.05):
    """Returns distance moved, distance to the linearization, and output difference, at each scale alpha."""
    x, y = torch.randn(5, 3).double(), torch.randn(5, 1).double()
    w0, v0 = torch.randn(width, 3).double(), torch.randn(width, 1).double()
    h0, c = torch.tanh(x @ w0.T), width**-0.5
    gate, start = (1 - h0**2) * v0.T, h0 @ v0
    gone = start if centered else 0 * start
    rows = []
    for alpha in scales:
        w, v, a, b = w0, v0, w0, v0
        for _ in range(round(time / step)):
            h = torch.tanh(x @ w.T)
            out = alpha * c * (h @ v - gone)
            tangent = alpha * c * (start - gone + h0 @ (b - v0) + (gate * (x @ (a - w0).T)).sum(1, keepdim=True))
            r, s = (y - out) * c / alpha, (y - tangent) * c / alpha
            w, v = w + step * (r * (1 - h**2) * v.T).T @ x, v + step * h.T @ r
            a, b = a + step * (s * gate).T @ x, b + step * h0.T @ s
        moved, apart = torch.cat((w - w0, v - v0), 1).norm(), torch.cat((w - a, v - b), 1).norm()
        rows.append([float(moved), float(apart), float((out - tangent).norm())])
    return rows


observed = partial(slopes, centered=True, draws=8)  # The model is the network's output minus its initial output.
control = partial(slopes, centered=False, draws=8)  # Control: the initial output alpha f(w_0) grows with the scale.

CLAIM = Claim(
    id="lazy-dynamics-theorem",
    question="How fast does training approach its tangent model as the output scale grows?",
    equation=r"\|w - w_0\| = O(\alpha^{-1}), \; \|w - \bar w\| = O(\alpha^{-2}), \; "
    r"\|\alpha f - \alpha \bar f\| = O(\alpha^{-1})",
    axes=("moved weights, distance to tangent weights, distance of outputs", "power of alpha"),
    source=Source("theorem", "chizat2019lazy", "Theorem 2.2"),
    premises=(Premise("the output starts at zero"), Premise("the output scale is large")),
    parameters={"width": 50, "scales": (64.0, 128.0, 256.0, 512.0)},
    full={"width": 500, "scales": (64.0, 128.0, 256.0, 512.0, 1024.0)},
    judge=equals(within=0.1, because="the next order is a few times 1/64 at the smallest scale, over a range of log 8"),
    covers=("frozen-ntk-limit",),
    remark="If units are doubled with opposite signs to start at zero, the third rate is 1/alpha^2 by symmetry.",
)
