"""One step of a continuous associative memory is attention with the patterns as keys and values, and lowers its energy.

    s <- X^T softmax(beta X s)                                                                                (1)

Reference: [ramsauer2021hopfield].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

SOFTMAX = "patterns are weighted by softmax"


def problem(patterns, size, seed):
    """Patterns and states."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(patterns, size)), rng.normal(size=(3, size))


def predicted(patterns, size, seed):
    """PyTorch's attention, whose beta is 1 / sqrt(size)."""
    x, s = (torch.from_numpy(a)[None] for a in problem(patterns, size, seed))
    return torch.nn.functional.scaled_dot_product_attention(s, x, x)[0].numpy()


def step(weigh, patterns, size, seed):
    """Equation (1) with some weights."""
    x, s = problem(patterns, size, seed)
    weights = weigh(s @ x.T / np.sqrt(size))
    return weights / weights.sum(1, keepdims=True) @ x


def observed(patterns, size, seed):
    """Exponentials."""
    return step(np.exp, patterns, size, seed)


def control(patterns, size, seed):
    """Squares."""
    return step(np.square, patterns, size, seed)


CLAIM = Claim(
    id="hopfield-attention-link",
    title="A step of a continuous Hopfield network is attention to its patterns",
    equation=r"\xi \leftarrow X^\top \mathrm{softmax}(\beta X \xi)",
    source=Source("theorem", "ramsauer2021hopfield"),
    premises=(Premise(SOFTMAX),),
    breaks=SOFTMAX,
    parameters={"patterns": 6, "size": 4},
    judge=equals(rounding=1e4),
    predicted=predicted,
    observed=observed,
    control=control,
)
