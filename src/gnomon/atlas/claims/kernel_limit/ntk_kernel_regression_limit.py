"""A wide network trained to convergence predicts like kernel regression with its infinite-width tangent kernel.

Descent on the squared loss of the centered output converges, as the width grows, to

    f(x) - f_0(x) = k(x)^T K^-1 y                                                                            (1)

k and K belong to the infinite-width kernel, which is known before any network is drawn; f_0 is the initial output.
Networks with m and m/2 units have mean errors c/m and 2c/m, so twice the first minus the second has error O(1/m^2).
Reference: [lee2019wide]; [jacot2018neural].
"""

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(n, seed):
    """Returns n orthogonal points in eight dimensions, labels 1 and -1, and two test points."""
    g = torch.Generator().manual_seed(seed)
    x = 8**0.5 * torch.linalg.qr(torch.randn(8, n, generator=g).double())[0].T
    return x, (-1.0) ** torch.arange(n).double(), x[:2] + 0.5 * torch.randn(2, 8, generator=g).double()


def predicted(n, seed):
    """Returns the test outputs of kernel regression with the tangent kernel."""
    x, y, test = inputs(n, seed)
    kernel = limit(
        nn.Sequential(nn.Linear(8, 9, bias=False), nn.ReLU(), nn.Linear(9, 1, bias=False)),
        init=InitializationLaw(1.0), parametrization="ntk",
    ).ntk  # fmt: skip
    return kernel(test, x) @ torch.linalg.solve(kernel(x), y)


def outputs_after_training(n, nets, width, steps, seed):
    """Returns the change of the test outputs, averaged over many networks trained by full-batch descent."""
    x, y, test = (part / 8**0.5 if part.ndim == 2 else part for part in inputs(n, seed))
    w, v = torch.randn(nets, width, 8).double(), torch.randn(nets, width).double()
    both = torch.cat((x, test))
    start = torch.relu(both @ w.mT) @ v[..., None]
    rate = 1 / float((x**2).sum())  # 1 / (trace of the limiting kernel); this trace is sum |x|^2
    for _ in range(steps):
        u = x @ w.mT
        h = torch.relu(u)
        r = (y[:, None] - (h @ v[..., None] - start[:, :n]) / width**0.5) * rate / width**0.5
        w, v = w + (r * (u > 0) * v[:, None]).mT @ x, v + (h.mT @ r)[..., 0]
    return ((torch.relu(test @ w.mT) @ v[..., None] - start[:, n:]) / width**0.5)[..., 0]


def observed(n, nets, width, steps, seed):
    """Returns the change of the test outputs after training to convergence, extrapolated from two widths."""
    wide, narrow = (outputs_after_training(n, nets, m, steps, seed) for m in (width, width // 2))
    return 2 * wide - narrow


def control(n, nets, width, steps, seed):
    """Returns the change of the test outputs if training stops early, at time one."""
    return 2 * outputs_after_training(n, nets, width, 5, seed) - outputs_after_training(n, nets, width // 2, 5, seed)


CLAIM = Claim(
    id="ntk-kernel-regression-limit",
    question="What does a fully trained wide network predict?",
    equation=r"f_\infty(x) = f_0(x) + k_\infty(x)^T K_\infty^{-1} (y - f_0)",
    axes=("test point", "output minus its initial value"),
    source=Source("theorem", "lee2019wide", "Section 2"),
    premises=(Premise("training runs to convergence"), Premise("the network is wide", lambda width: width >= 256)),
    parameters={"n": 4, "nets": 40, "width": 256, "steps": 150},
    full={"n": 6, "nets": 100, "width": 768, "steps": 300},
    judge=mean_equals(confidence=0.9995),
    remark="Often printed without f_0(x); here the initial output is subtracted.",
)
