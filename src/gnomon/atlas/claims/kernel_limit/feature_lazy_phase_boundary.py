"""Lazy and feature training are divided at an output scale of width^-1/2: only alpha sqrt(width) counts.

F = alpha (f - f_0) with f = W_2 s(W_1 s(W_0 x / sqrt d) / sqrt m) / sqrt m, under gradient flow on
|F - y|^2 / (2 n alpha^2). Preactivations move at the speed 1 / (alpha sqrt m), so the change of the tangent kernel is

    |Theta_T - Theta_0| / |Theta_0| = g(alpha sqrt m)                                                        (1)

and does not depend on the width at fixed alpha sqrt(m), here 0.3, 1 and 3, on both sides of the boundary.
Reference: [geiger2020disentangling], Section 3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The exponent of the width at fixed alpha sqrt(width)."""
    return 0.0


def output(p, x):
    """f for many networks with two hidden tanh layers, (nets, n)."""
    m = p[2].shape[1]
    h = torch.tanh(torch.tanh(x @ p[0] / x.shape[1] ** 0.5) @ p[1] / m**0.5)
    return (h @ p[2])[..., 0] / m**0.5


def kernel(p, x):
    """Tangent kernels, (nets, n, n), by one backward pass for each point."""
    f = output(p, x)
    rows = [torch.autograd.grad(f[:, i].sum(), p, retain_graph=True) for i in range(len(x))]
    rows = torch.stack([torch.cat([g.flatten(1) for g in row], 1) for row in rows], 1)
    return rows @ rows.mT


def drifts(nets, widths, power):
    """Relative changes of the tangent kernel at alpha sqrt(width) = 0.3, 1 and 3, or at alpha that the width leaves."""
    rows = [drift(nets, widths, lambda m, u=u: u * (m**-0.5 if power else widths[0] ** -0.5)) for u in (0.3, 1.0, 3.0)]
    return widths, torch.cat(rows)


def drift(nets, widths, scale, time=1.5, step=0.1):
    """Relative change of the tangent kernel in training."""
    x, y, found = torch.randn(6, 3), torch.randn(6), []
    for m in widths:
        p = [torch.randn(nets, *shape).requires_grad_() for shape in ((3, m), (m, m), (m, 1))]
        start, before, alpha = output(p, x).detach(), kernel(p, x), scale(m)
        for _ in range(round(time / step)):
            loss = ((alpha * (output(p, x) - start) - y) ** 2).sum() / (12 * alpha**2)
            slopes = torch.autograd.grad(loss, p)
            p = [(q - step * g).detach().requires_grad_() for q, g in zip(p, slopes, strict=True)]
        found.append((kernel(p, x) - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1))
    return torch.stack(found, 1)


observed = partial(drifts, power=True)  # alpha goes as width^-1/2.
control = partial(drifts, power=False)  # alpha does not change with the width.


CLAIM = Claim(
    id="feature-lazy-phase-boundary",
    title="Lazy and feature training are divided at an output scale of width^-1/2",
    equation=r"\|\Delta\Theta\| / \|\Theta\| = g(\alpha \sqrt{m})",
    source=Source("observed", "geiger2020disentangling", "Section 3"),
    premises=(
        Premise("the output scale goes as width^-1/2"),
        Premise("hidden layers are wide"),
    ),
    parameters={"nets": 8, "widths": (24, 72, 192)},
    full={"nets": 40, "widths": (64, 128, 256, 512)},
    judge=rate_is(
        confidence=0.999,
        resolution=0.3,
        within=0.15,
        because="the next order is 24^-1/2 = 0.2 at the least",
        label="width",
    ),
)
