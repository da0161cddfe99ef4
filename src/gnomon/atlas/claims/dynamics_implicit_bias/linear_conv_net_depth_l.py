"""A linear network of L full-width convolutions ends at a stationary point of the 2/L-norm of its spectrum.

    min sum_k |F b|_k^(2/L)  with  y_i <b, x_i> >= 1                                                        (1)

is stationary where F of the weighted examples, g = F sum_i a_i y_i x_i with a_i > 0 on examples of least margin, has
on the support of F b the modulus c |F b|_k^(2/L - 1): flat for L = 2, falling as the root for L = 4,

    |g_k| |F b|_k^(1 - 2/L) = const on the support                                                          (2)

The measurement takes the a_i from the loss. Only stationarity is claimed: for L > 2 the problem is not convex.
Reference: [gunasekar2018implicit].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

SHARED = "the layers are circular convolutions of full width"


def problem(n, d, seed):
    """Examples times their labels: a wave of one frequency each, of random phase, and noise of a third of its size."""
    rng = np.random.default_rng(seed)
    waves = np.cos(2 * np.pi * np.outer(np.arange(1, n + 1), np.arange(d)) / d + rng.uniform(0, 6.3, (n, 1)))
    return waves * rng.uniform(1, 1.5, (n, 1)) + 0.25 * rng.normal(size=(n, d))


def predicted():
    """The constant of (2) scatters by at most 8 percent for L = 2, 3 and 4."""
    return [0.08] * 3


def spread(depth, convolution, n, d, steps, seed):
    """How far the constant of equation (2) scatters, as a share of its mean; frequencies weigh as their energy."""
    z = problem(n, d, seed)
    u = np.fft.fft(np.random.default_rng([seed, depth]).normal(size=d))
    u = 0.7 * u / np.abs(u)
    length = np.linalg.norm(z, axis=1).max()
    for _ in range(steps):
        b = np.fft.ifft(u * np.abs(u) ** (depth - 1)).real if convolution else np.fft.ifft(u).real
        m = z @ b
        weights = np.exp(m.min() - m)
        g = np.fft.fft(weights @ z / weights.sum()) / length
        size = np.abs(u)
        push = g * (size ** (depth - 1) if convolution else 1.0)
        top = size.max() if convolution else 1.0
        rate = min(0.05 * top ** (2 - depth), 0.1 * top ** (2 - 2 * depth))
        u = u + rate * push
    spectrum, g = np.abs(np.fft.fft(b)), np.abs(g)
    constant, weight = g * spectrum ** (1 - 2 / depth), spectrum**2 / (spectrum**2).sum()
    return np.sqrt(weight @ (constant / (weight @ constant) - 1) ** 2)


def observed(n, d, steps, seed):
    """Two, three and four convolutions."""
    return [spread(depth, True, n, d, steps, seed) for depth in (2, 3, 4)]


def control(n, d, steps, seed):
    """One linear layer, of which the 2-norm is the least."""
    return [spread(depth, False, n, d, steps, seed) for depth in (2, 3, 4)]


CLAIM = Claim(
    id="linear-conv-net-depth-l",
    title="A linear network of L convolutions ends at a stationary point of the 2/L-norm of its spectrum",
    equation=r"\min \|\hat\beta\|_{2/L}, \ y_i \beta \cdot x_i \ge 1: \ |\hat g_k| |\hat\beta_k|^{1 - 2/L} = c",
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(Premise(SHARED), Premise("the loss goes to zero")),
    breaks=SHARED,
    parameters={"n": 3, "d": 8, "steps": 80_000},
    full={"n": 4, "d": 16, "steps": 300_000},
    judge=bounded_by("above"),
)
