"""Even with fewer parameters than data, training at a large output scale converges exponentially to a minimum.

f(w, x) = sum_k tanh(w_k x_k) has p parameters for n > p points, so the loss |alpha f - y|^2 / (2 alpha^2) does not
reach zero. For large alpha the gradient vanishes at the end of the flow, and near it

    |f(t) - f(infinity)| ~ exp(-l t),     l the smallest eigenvalue of J^T J at the start                    (1)

J is the Jacobian. Relative corrections are of order 1/alpha. Reference: [chizat2019lazy], Theorem 2.5.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, p, generator):
    """Returns more data points than parameters, labels and initial parameters."""
    x, y, w = (torch.randn(*shape, generator=generator).double() for shape in ((n, p), (n,), (p,)))
    return x, y, w / 2


def predicted(problems):
    """Returns for each problem 1, the late rate over the smallest eigenvalue, and 0, the final gradient times 1e6."""
    return [1.0, 0.0] * problems


def end(x, y, w, alpha):
    """Returns the late rate of the outputs over the kernel's smallest eigenvalue, then the final gradient times 1e6."""
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
    decay = near[1] / near[0] if near[0] else 0.0  # 0 if descent has already converged up to rounding
    return [(1 - decay ** (1 / steps)) / (step * float(rates[0])), 1e6 * sizes[-1] / sizes[0]]


def ends(n, p, problems, seed, alpha):
    """Returns the relative rate and the final gradient for several random problems."""
    generator = torch.Generator().manual_seed(seed)
    return [number for _ in range(problems) for number in end(*inputs(n, p, generator), alpha)]


observed = partial(ends, alpha=100.0)  # A large scale.
control = partial(ends, alpha=0.5)  # Control: at a small output scale the weights move far, and the rate changes.

CLAIM = Claim(
    id="lazy-local-minimum-theorem",
    question="Does lazy training converge if the data cannot be fitted?",
    equation=r"\|f(t) - f(\infty)\| \sim e^{-\lambda_{min}(J^T J) t}",
    axes=("rate / eigenvalue, then final gradient x 1e6, for each problem", "ratio; relative gradient"),
    source=Source("theorem", "chizat2019lazy", "Theorem 2.5"),
    premises=(
        Premise("the output scale is large"),
        Premise("there are fewer parameters than data", lambda n, p: p < n),
    ),
    parameters={"n": 30, "p": 3, "problems": 6},
    full={"n": 100, "p": 6},
    grid={"n": (15, 22, 30, 45, 60, 90)},
    judge=equals(within=0.05, because="corrections are a few times 1/alpha = 0.01"),
)
