"""For a slope a between 0 and 1, the leaky ReLU is the maximum of a x and x, and it can be inverted.

leaky(x) = max(a x, x)   for 0 < a <= 1,    leaky^{-1}(y) = min(y / a, y)                            (1)
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, seed):
    """Returns n standard normal numbers as inputs of the activation."""
    return np.random.default_rng(seed).normal(size=n)


def predicted(n, slope, seed):
    """Returns max(a x, x), then the inputs x, which the inverse must recover."""
    x = inputs(n, seed)
    return np.stack([np.maximum(slope * x, x), x])


def leaky(n, slope, seed):
    """Returns the outputs of torch's LeakyReLU, then the inverse function applied to these outputs."""
    y = torch.nn.LeakyReLU(slope)(torch.from_numpy(inputs(n, seed)))
    return torch.stack([y, torch.minimum(y / slope, y)])


observed = leaky  # The slope a.


def control(n, slope, seed):
    """Returns outputs and inverse for the slope 1 / a above 1, for which the leaky ReLU is not a maximum."""
    return leaky(n, 1 / slope, seed)


CLAIM = Claim(
    id="activation-leaky-relu",
    question="Can a leaky ReLU be written as a maximum, and inverted?",
    equation=r"\mathrm{leaky}(x) = \max(a x, x), \quad 0 < a \le 1",
    axes=("random input x (values first, then the recovered inputs)", "output; recovered input"),
    source=Source("derived"),
    premises=(Premise("the slope is between 0 and 1", lambda slope: 0 < slope <= 1),),
    parameters={"n": 1000, "slope": 0.1},
    full={"n": 1_000_000},
    judge=equals(rounding=4),
)
