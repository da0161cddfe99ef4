"""Whether a network learns features or trains lazily is decided by alpha sqrt(width), with output scale alpha.

F = alpha (f - f_0) with f = W_2 s(W_1 s(W_0 x / sqrt d) / sqrt m) / sqrt m, under gradient flow on |F - y|^2 / (2 n
alpha^2). Preactivations move at speed 1 / (alpha sqrt m), so the change of the tangent kernel Theta is

    |Theta_T - Theta_0| / |Theta_0| = g(alpha sqrt m)                                                        (1)

a function g that does not depend on the width m at fixed alpha sqrt(m). Checked at 0.3, 0.6 and 1.
Reference: [geiger2020disentangling], Section 3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 0, the exponent of the width in the kernel's change at fixed alpha sqrt(width)."""
    return 0.0


def output(p, x):
    """Returns the outputs (nets, n) of many networks with two hidden tanh layers."""
    m = p[2].shape[1]
    h = torch.tanh(torch.tanh(x @ p[0] / x.shape[1] ** 0.5) @ p[1] / m**0.5)
    return (h @ p[2])[..., 0] / m**0.5


def kernel(p, x):
    """Returns the tangent kernels (nets, n, n), by one backward pass for each point."""
    f = output(p, x)
    rows = [torch.autograd.grad(f[:, i].sum(), p, retain_graph=True) for i in range(len(x))]
    rows = torch.stack([torch.cat([g.flatten(1) for g in row], 1) for row in rows], 1)
    return rows @ rows.mT


def drifts(nets, widths, power):
    """Returns relative kernel changes at alpha sqrt(width) = 0.3, 0.6, 1, or at alpha without the width."""
    rows = [drift(nets, widths, lambda m, u=u: u * (m**-0.5 if power else widths[0] ** -0.5)) for u in (0.3, 0.6, 1.0)]
    return widths, torch.cat(rows)


def drift(nets, widths, scale, time=1.5, step=0.1):
    """Trains networks of each width and returns the relative change of their tangent kernel."""
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


observed = partial(drifts, power=True)  # The output scale alpha is proportional to width^-1/2.
control = partial(drifts, power=False)  # Control: the output scale alpha does not depend on the width.

CLAIM = Claim(
    id="feature-lazy-phase-boundary",
    question="Where is the border between lazy and feature learning?",
    equation=r"\|\Delta\Theta\| / \|\Theta\| = g(\alpha \sqrt{m})",
    axes=("width m", "relative change of the tangent kernel"),
    source=Source("observed", "geiger2020disentangling", "Section 3"),
    premises=(Premise("the output scale is proportional to width^-1/2"), Premise("the hidden layers are wide")),
    parameters={"nets": 8, "widths": (64, 192, 576)},
    full={"nets": 40, "widths": (64, 128, 256, 512)},
    judge=rate_is(
        confidence=0.999, resolution=0.3, within=0.1, because="the next order is u / sqrt(m) <= 0.12", label="width"
    ),
)
