"""The tangent kernel of an infinitely wide ReLU layer depends only on the inputs' norms and the angle between them.

For f = sqrt(2/m) sum_j v_j relu(w_j x) with standard Gaussian weights and u the cosine of the angle between x and x',
E[relu relu] = (sqrt(1 - u^2) + u (pi - arccos u)) / 2 pi and E[1 1] = (pi - arccos u) / 2 pi give

    k(x, x') = |x| |x'| [(2 u / pi) (pi - arccos u) + sqrt(1 - u^2) / pi]                                    (1)
Reference: [bietti2019inductive]; [cho2009kernel] for the expectations.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def inputs():
    """Returns a point, and five points at angles from 0 to pi with different norms."""
    angles = np.array([0.0, 0.5, 1.2, 2.0, np.pi])
    return np.array([1.0, 0.0]), np.stack((np.cos(angles), np.sin(angles)), 1) * [[0.5], [1], [1], [2], [1]]


def predicted():
    """Returns the tangent kernel of each pair of points, from their norms and their angle."""
    x, others = inputs()
    size = np.linalg.norm(others, axis=1)
    u = np.clip(others @ x / size, -1, 1)
    return size * (2 * u / np.pi * (np.pi - np.arccos(u)) + np.sqrt(1 - u**2) / np.pi)


def shares(w, v):
    """Returns the contribution of every unit to the tangent kernel of each pair, times the width."""
    x, others = inputs()
    a, b = (w @ x)[:, None], w @ others.T
    return 2 * (np.maximum(a, 0) * np.maximum(b, 0) + v[:, None] ** 2 * (others @ x) * (a > 0) * (b > 0))


def observed(width, seed):
    """Returns each unit's contribution to the kernel for standard Gaussian weights."""
    rng = np.random.default_rng(seed)
    return shares(rng.normal(size=(width, 2)), rng.normal(size=width))


def control(width, seed):
    """Returns each unit's contribution for weights 1 or -1, which do not cover all directions."""
    rng = np.random.default_rng(seed)
    return shares(rng.choice([-1.0, 1.0], size=(width, 2)), rng.normal(size=width))


CLAIM = Claim(
    id="ntk-bietti-mairal-relu",
    question="What is the tangent kernel of one hidden ReLU layer?",
    equation=r"k(x,x') = |x||x'| [\frac{2u}{\pi}(\pi - \arccos u) + \frac{1}{\pi}\sqrt{1-u^2}]",
    axes=("pair of inputs at growing angle", "tangent kernel"),
    source=Source("theorem", "bietti2019inductive", "equation 5"),
    premises=(Premise("the hidden weights are Gaussian"), Premise("the output is multiplied by sqrt(2 / width)")),
    parameters={"width": 100_000},
    full={"width": 2_000_000},
    judge=mean_equals(confidence=0.9999, resolution=0.05),
    remark="For a prefactor 1 / sqrt(width) the kernel is half of this.",
)
