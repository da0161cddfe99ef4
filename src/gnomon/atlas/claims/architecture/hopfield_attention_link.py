"""One step of a continuous associative memory is attention with the patterns as keys and values.

Its energy is E(s) = |s|^2 / 2 - log sum_k exp(b x_k.s) / b, and a step of length one down its gradient is attention:

    s - grad E(s) = X^T softmax(b X s)                                                                        (1)

The step never raises the energy, and where patterns are far apart on the scale 1/b, one step from near a pattern
arrives at it, with an error of at most 2 (n - 1) R exp(-b (gap - 2 R distance)).                             (2)

Reference: [ramsauer2021hopfield], Theorems 1 and 4.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

NEAR = 0.01


def problem(patterns, size, seed):
    """Orthogonal patterns of length one, states anywhere, and a state near to each pattern."""
    rng = np.random.default_rng(seed)
    x = np.linalg.qr(rng.normal(size=(size, patterns)))[0].T
    return x, rng.normal(size=(5, size)), x + NEAR * rng.normal(size=x.shape) / size**0.5


def predicted(patterns, size, seed):
    """PyTorch's attention, whose b is 1 / sqrt(size), for (1); the patterns for (2); no rise of the energy."""
    x, states, _ = problem(patterns, size, seed)
    attention = torch.nn.functional.scaled_dot_product_attention(*(torch.from_numpy(a)[None] for a in (states, x, x)))
    return torch.cat((attention[0].flatten(), torch.from_numpy(x).flatten(), torch.zeros(len(states)).double()))


def steps(well, patterns, size, seed):
    """A step down the gradient of |s|^2 / 2 - well(b X s) / b, by automatic derivatives, and the rise of the energy."""
    x, states, near = (torch.from_numpy(a) for a in problem(patterns, size, seed))

    def energy(s, b):
        return (s**2).sum(1) / 2 - well(b * s @ x.T) / b

    def step(s, b):
        s = s.clone().requires_grad_()
        return (s - torch.autograd.grad(energy(s, b).sum(), s)[0]).detach()

    moved = step(states, size**-0.5)
    rise = (energy(moved, size**-0.5) - energy(states, size**-0.5)).clamp_min(0)
    return torch.cat((moved.flatten(), step(near, 50.0).flatten(), rise))


observed = partial(steps, well=lambda u: torch.logsumexp(u, 1))  # Exponentials; b = 50 leaves about exp(-48) of (2).
control = partial(steps, well=lambda u: (u**2).sum(1) / 2)  # Squares, the energy of the classical Hopfield network.

CLAIM = Claim(
    id="hopfield-attention-link",
    title="A step of a continuous Hopfield network is attention to its patterns",
    equation=r"\xi - \nabla E(\xi) = X^\top \mathrm{softmax}(\beta X \xi)",
    source=Source("theorem", "ramsauer2021hopfield", "Theorems 1 and 4"),
    premises=(
        Premise("the energy is the logarithm of a sum of exponentials"),
        Premise("patterns are orthogonal", lambda patterns, size: size >= patterns),
    ),
    parameters={"patterns": 6, "size": 12},
    full={"patterns": 40, "size": 100},
    judge=equals(rounding=1e4),
)
