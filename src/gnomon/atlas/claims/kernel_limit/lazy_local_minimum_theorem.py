"""With fewer parameters than data, lazy training still converges exponentially, to a stationary point.

f(w, x) = sum_k tanh(w_k x_k) has p parameters for n > p points: the loss |alpha f - y|^2 / (2 alpha^2) does not go to
zero. For large alpha the flow ends at a point where the gradient vanishes, and near it

    |f(t) - f(infinity)| ~ exp(-l t),     l the smallest eigenvalue of J^T J at the start                    (1)

up to relative corrections of order 1/alpha.
Reference: [chizat2019lazy], Theorem 2.5.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, p, seed):
    """Points, labels and the parameters at the start."""
    g = torch.Generator().manual_seed(seed)
    x, y, w = (torch.randn(*shape, generator=g).double() for shape in ((n, p), (n,), (p,)))
    return x, y, w / 2


def predicted(n, p, seed):
    """One: the late rate divided by the smallest eigenvalue of (1); and zero: a million times the last gradient."""
    return [1.0, 0.0]


def ends(n, p, seed, alpha):
    """The late rate of the outputs over the smallest eigenvalue at the start, and a million times the last gradient."""
    x, y, w = inputs(n, p, seed)
    start = torch.tanh(x * w).sum(1)
    jacobian = x * (1 - torch.tanh(x * w) ** 2)
    rates = torch.linalg.eigvalsh(jacobian.T @ jacobian)
    step = float(0.5 / rates[-1])
    steps = int(8 / (step * rates[0]))
    outs, sizes = [], []
    for _ in range(3 * steps + 1):
        h = torch.tanh(x * w)
        out = h.sum(1) - start
        gradient = (x * (1 - h**2)).T @ (alpha * out - y) / alpha
        w = w - step * gradient
        outs.append(out)
        sizes.append(float(gradient.norm()))
    near = [float((outs[k] - outs[-1]).norm()) for k in (steps, 2 * steps)]
    return [(1 - (near[1] / near[0]) ** (1 / steps)) / (step * float(rates[0])), 1e6 * sizes[-1] / sizes[0]]


observed = partial(ends, alpha=100.0)  # A large scale.
control = partial(ends, alpha=1.0)  # A small scale: the parameters go far, and the rate is that of another place.

CLAIM = Claim(
    id="lazy-local-minimum-theorem",
    title="With fewer parameters than data, lazy training converges exponentially to a stationary point",
    equation=r"\|f(t) - f(\infty)\| \sim e^{-\lambda_{min}(J^T J) t}",
    source=Source("theorem", "chizat2019lazy", "Theorem 2.5"),
    premises=(
        Premise("the output scale is large"),
        Premise("fewer parameters than data", lambda n, p: p < n),
    ),
    parameters={"n": 30, "p": 3},
    full={"n": 100, "p": 6},
    judge=equals(within=0.05, because="corrections are a few times 1/alpha = 0.01"),
)
