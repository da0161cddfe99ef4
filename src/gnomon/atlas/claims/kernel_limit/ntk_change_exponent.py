"""In the lazy range the tangent kernel changes as a power of alpha sqrt(width) between the first and the second.

Weights move by 1 / (alpha sqrt m). The change of the kernel of first order in this motion has random signs over the
units and is small, that of second order adds up, so that over a range of alpha sqrt(m) one measures

    |Theta_T - Theta_0| ~ (alpha sqrt m)^-a,       1 <= a < 2                                                (1)

Reference: [geiger2020disentangling], Section 3.
"""

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The middle of the range of equation (1)."""
    return -1.5


def kernel(x, w, v):
    """Tangent kernels of many networks with one hidden tanh layer, (nets, n, n)."""
    h = torch.tanh(x @ w.mT)
    slope = (1 - h**2) * v.mT
    return (h @ h.mT + (x @ x.T) * (slope @ slope.mT)) / v.shape[1]


def drift(nets, width, scales, centered, time=2.0, step=0.05):
    """Relative change of the kernel after gradient flow on |F - y|^2 / (2 alpha^2), F = alpha (f - f_0)."""
    x, y = torch.randn(5, 3).double(), torch.randn(5, 1).double()
    w0, v0 = torch.randn(nets, width, 3).double(), torch.randn(nets, width, 1).double()
    before, c, found = kernel(x, w0, v0), width**-0.5, []
    start = torch.tanh(x @ w0.mT) @ v0 * centered
    for scale in scales:
        w, v, alpha = w0, v0, scale * c
        for _ in range(round(time / step)):
            h = torch.tanh(x @ w.mT)
            r = (y - alpha * c * (h @ v - start)) * c / alpha
            w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
        found.append((kernel(x, w, v) - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1))
    return scales, torch.stack(found, 1)


def observed(nets, width, scales):
    """The output counted from its start."""
    return drift(nets, width, scales, 1.0)


def control(nets, width, scales):
    """The output as it is: at a large scale it must first be unlearned, and the kernel changes at every scale."""
    return drift(nets, width, scales, 0.0)


CLAIM = Claim(
    id="ntk-change-exponent",
    title="The tangent kernel changes as a power between one and two of 1 / (alpha sqrt(width))",
    equation=r"\|\Delta\Theta\| \sim (\alpha \sqrt{m})^{-a}, \quad 1 \le a < 2",
    source=Source("observed", "geiger2020disentangling", "Section 3"),
    premises=(Premise("the output starts at zero"), Premise("alpha sqrt(width) is larger than one")),
    breaks="the output starts at zero",
    parameters={"nets": 16, "width": 256, "scales": (4.0, 8.0, 16.0, 32.0)},
    full={"nets": 40, "width": 1024, "scales": (4.0, 8.0, 16.0, 32.0, 64.0)},
    judge=rate_is(
        confidence=0.999, within=0.5, because="between the first order, 1, and the second, 2", label="alpha sqrt(width)"
    ),
    predicted=predicted,
    observed=observed,
    control=control,
    remark="At fixed width the exponent tends to 1 for alpha to infinity, where only the first order is left.",
)
