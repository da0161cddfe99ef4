"""Over random weights, a linear unit's outputs at two inputs have the covariance of a linear kernel.

For weights w ~ N(0, (s^2/d) 1) and inputs in the rows of X (n, d), the outputs y = X w are jointly Gaussian with

    E[y y^T] = (s^2 / d) X X^T,      k(x, x') = (s^2 / d) x.x'                                               (1)
Reference: [rasmussen2006gaussian], section 2.1.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(n, d, seed):
    """Returns n standard normal input vectors for the linear unit."""
    return np.random.default_rng(seed).normal(size=(n, d))


def predicted(n, d, std, seed):
    """Returns the covariance of the linear unit's outputs, computed by gnomon.limit."""
    unit = limit(nn.Linear(d, 1), init=InitializationLaw(std), parametrization="ntk")
    return unit.nngp(torch.tensor(inputs(n, d, seed)))


def products(equal, n, d, std, draws, seed):
    """Returns the products y y^T of the outputs y for each draw of the weights."""
    w = np.random.default_rng([seed, 1]).normal(size=(draws, 1 if equal else d)).repeat(d if equal else 1, 1)
    y = std / d**0.5 * w @ inputs(n, d, seed).T
    return y[:, :, None] * y[:, None, :]


observed = partial(products, equal=False)  # Independent weights.
control = partial(products, equal=True)  # Control: each unit has one weight for all its inputs, so the kernel differs.

CLAIM = Claim(
    id="nngp-linear-unit",
    question="What is the distribution of a random linear unit over its inputs?",
    equation=r"E[y y^T] = (\sigma^2 / d) X X^T",
    axes=("pair of inputs", "covariance of the outputs"),
    source=Source("theorem", "rasmussen2006gaussian", "Section 2.1"),
    premises=(Premise("the weights are independent"),),
    parameters={"n": 4, "d": 6, "std": 1.3, "draws": 20_000},
    full={"n": 10, "d": 30, "draws": 200_000},
    judge=mean_equals(confidence=0.9999, resolution=0.1),
    remark="Often printed with X^T X for inputs in rows, or with the number of points in place of the dimension.",
)
