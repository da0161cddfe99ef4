"""One update of a continuous Hopfield network is attention with the stored patterns as keys and values.

The energy of a state s is E(s) = |s|^2 / 2 - log sum_k exp(b x_k.s) / b, with stored patterns x_k (the rows of X) and
sharpness b. A gradient step of length one is attention:

    s - grad E(s) = X^T softmax(b X s)                                                                        (1)

The step never raises the energy. If patterns are far apart compared with 1/b, one step from near a pattern reaches the
pattern, with an error of at most 2 (n - 1) R exp(-b (gap - 2 R distance)).                                   (2) Here n
is the number of patterns, R their norm, and gap the difference between the inner product of a pattern with itself and
with any other. Reference: [ramsauer2021hopfield], Theorems 1 and 4.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

START_DISTANCE = 0.01


def problem(patterns, size, seed):
    """Returns orthonormal patterns, random states, and one state near each pattern."""
    rng = np.random.default_rng(seed)
    x = np.linalg.qr(rng.normal(size=(size, patterns)))[0].T
    return x, rng.normal(size=(5, size)), x + START_DISTANCE * rng.normal(size=x.shape) / size**0.5


def predicted(patterns, size, seed):
    """Returns torch's attention output, then the stored patterns, then zeros: the energy must not increase."""
    x, states, _ = problem(patterns, size, seed)
    attention = torch.nn.functional.scaled_dot_product_attention(*(torch.from_numpy(a)[None] for a in (states, x, x)))
    return torch.cat((attention[0].flatten(), torch.from_numpy(x).flatten(), torch.zeros(len(states)).double()))


def steps(well, patterns, size, seed):
    """Returns states after a gradient step on the energy |s|^2 / 2 - well(b X s) / b, then the rise of the energy."""
    x, states, near = (torch.from_numpy(a) for a in problem(patterns, size, seed))

    def energy(s, b):
        return (s**2).sum(1) / 2 - well(b * s @ x.T) / b

    def step(s, b):
        s = s.clone().requires_grad_()
        return (s - torch.autograd.grad(energy(s, b).sum(), s)[0]).detach()

    moved = step(states, size**-0.5)
    rise = (energy(moved, size**-0.5) - energy(states, size**-0.5)).clamp_min(0)
    return torch.cat((moved.flatten(), step(near, 50.0).flatten(), rise))


observed = partial(steps, well=lambda u: torch.logsumexp(u, 1))  # The log-sum-exp energy makes the update attention.
control = partial(steps, well=lambda u: (u**2).sum(1) / 2)  # Control: a sum of squares, as in the classical network.

CLAIM = Claim(
    id="hopfield-attention-link",
    question="How is attention related to associative memory?",
    equation=r"\xi - \nabla E(\xi) = X^\top \mathrm{softmax}(\beta X \xi)",
    axes=("coordinate of the state (attention, recall), then energy increase", "value of the coordinate"),
    source=Source("theorem", "ramsauer2021hopfield", "Theorems 1 and 4"),
    premises=(
        Premise("the energy is the logarithm of a sum of exponentials"),
        Premise("patterns are orthogonal", lambda patterns, size: size >= patterns),
    ),
    parameters={"patterns": 6, "size": 12},
    full={"patterns": 40, "size": 100},
    judge=equals(rounding=1e4),
)
