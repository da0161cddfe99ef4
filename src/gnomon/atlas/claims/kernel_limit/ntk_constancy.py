"""Training changes a wide network's tangent kernel only by order 1 / width, if output weights have random signs.

In f = sum_i v_i tanh(w_i x) / sqrt(m) each w_i moves by (1/sqrt m) v_i (...), so term i of the kernel changes by (1/m)
(1/sqrt m) v_i (...). The v_i have random signs, so the m terms add up to

    |K_T - K_0| / |K_0| = O(m^-1/2 / sqrt(m)) = O(1/m)                                                       (1)

K_0 and K_T are the kernels before and after training. The general theorem only bounds this by m^-1/2.
Reference: [jacot2018neural], Theorem 2; [huang2020dynamics] and [dyer2020asymptotics] for the rate 1/m.
"""

from functools import partial

import torch

from gnomon.atlas.check.kernel import check_kernel_change_is_small
from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1, the exponent of the width in the relative change of the tangent kernel."""
    return -1.0


def kernel(x, w, v):
    """Returns the tangent kernels (nets, n, n) of many networks."""
    h = torch.tanh(x @ w.mT)
    slope = (1 - h**2) * v[:, None]
    return (h @ h.mT + (x @ x.T) * (slope @ slope.mT)) / v.shape[-1]


def drift(nets, widths, scale, time=1.0, step=0.1):
    """Returns the relative change of the tangent kernel during training, with outputs multiplied by ``scale``."""
    x, y = torch.randn(5, 3).double(), torch.randn(5).double() / 2
    rows = []
    for m in widths:
        w, v = torch.randn(nets, m, 3).double(), torch.randn(nets, m).double()
        before, c = kernel(x, w, v), scale(m)
        start = torch.tanh(x @ w.mT) @ v[..., None]
        for _ in range(round(time / step)):
            h = torch.tanh(x @ w.mT)
            r = (y[:, None] - c * m**-0.5 * (h @ v[..., None] - start)) / (c * m**0.5)
            w, v = w + step * (r * (1 - h**2) * v[:, None]).mT @ x, v + step * (h.mT @ r)[..., 0]
        rows.append((kernel(x, w, v) - before).flatten(1).norm(dim=1) / before.flatten(1).norm(dim=1))
    return widths, torch.stack(rows, 1)


observed = partial(drift, scale=lambda m: 1.0, time=1.0, step=0.1)  # The sum over m units is divided by sqrt(m).
# Control: the sum over m units is divided by m, with a higher rate for the same initial speed; features are learned.
control = partial(drift, scale=lambda m: m**-0.5, time=1.0, step=0.1)

CLAIM = Claim(
    id="ntk-constancy",
    question="Does the tangent kernel change during training?",
    equation=r"\|K_T - K_0\| / \|K_0\| = O(1/m)",
    axes=("width m", "relative change of the tangent kernel"),
    source=Source("theorem", "jacot2018neural", "Theorem 2"),
    premises=(Premise("the output is a sum over units divided by sqrt(width)"), Premise("the activation is smooth")),
    parameters={"nets": 60, "widths": (512, 1024, 2048, 4096)},
    full={"nets": 100, "widths": (1024, 2048, 4096, 8192, 16384)},
    judge=rate_is(confidence=0.999, label="width"),
    check=check_kernel_change_is_small,
    remark="The general bound is width^-1/2; the rate 1/width needs output weights of random sign.",
)
