"""A wide network's preactivations change at a speed of order 1 / (alpha sqrt(width)), with output scale alpha.

With F = alpha (f - f_0), f = W_2 s(z) / sqrt m, z = W_1 s(W_0 x / sqrt d) / sqrt m, and the loss |F - y|^2 / (2 n
alpha^2), each z moves along W_2 / (alpha sqrt m):

    change of z in a fixed time = O(1 / (alpha sqrt m)) (1 + O(1/m))                                         (1)
Reference: [geiger2020disentangling], Section 4.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1, the exponent of alpha sqrt(width) in the change of preactivations."""
    return -1.0


def preactivations(p, x):
    """Returns the preactivations (nets, n, m) of the second layer."""
    return torch.tanh(x @ p[0] / x.shape[1] ** 0.5) @ p[1] / p[1].shape[1] ** 0.5


def shifts(nets, widths, power, time=2.0, step=0.2, alphas=(1.0, 4.0)):
    """Returns the RMS change of preactivations in training, at each u = alpha m^power, for each alpha."""
    x, y, places, found = torch.randn(4, 3), torch.randn(4), [], []
    for alpha, m in ((a, m) for a in alphas for m in widths):
        p = [torch.randn(nets, *shape).requires_grad_() for shape in ((3, m), (m, m), (m, 1))]
        z, start = preactivations(p, x).detach(), None
        places.append(alpha * m**power)
        for _ in range(round(time / step)):
            f = (torch.tanh(preactivations(p, x)) @ p[2])[..., 0] / m**0.5
            start = f.detach() if start is None else start
            slopes = torch.autograd.grad(((alpha * (f - start) - y) ** 2).sum() / (8 * alpha**2), p)
            p = [(q - step * g).detach().requires_grad_() for q, g in zip(p, slopes, strict=True)]
        found.append((preactivations(p, x) - z).detach().square().mean((1, 2)).sqrt())
    return places, torch.stack(found, 1)


observed = partial(shifts, power=0.5, time=2.0, step=0.2, alphas=(1.0, 4.0))  # Places are alpha sqrt(width).
control = partial(shifts, power=1.0, time=2.0, step=0.2, alphas=(1.0, 4.0))  # Control: places are alpha width.

CLAIM = Claim(
    id="preactivation-velocity",
    question="How fast do hidden units change during training?",
    equation=r"dz/dt = O(1 / (\alpha \sqrt{m}))",
    axes=("alpha sqrt(width)", "RMS change of the preactivations"),
    source=Source("theorem", "geiger2020disentangling", "Section 4"),
    premises=(Premise("the width enters by its square root"), Premise("hidden layers are wide")),
    parameters={"nets": 10, "widths": (96, 192, 384)},
    full={"nets": 40, "widths": (128, 256, 512, 1024)},
    judge=rate_is(confidence=0.999, label="alpha sqrt(width)"),
)
