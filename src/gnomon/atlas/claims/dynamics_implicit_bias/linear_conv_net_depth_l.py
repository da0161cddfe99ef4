"""A linear network of L full-width convolutions ends at a stationary point of the 2/L-norm of its spectrum.

    min sum_k |F b|_k^(2/L)  with  y_i <b, x_i> >= 1                                                        (1)

is stationary where F of the weighted examples, g = F sum_i a_i y_i x_i with a_i > 0 on examples of least margin, has
on the support of F b the modulus c |F b|_k^(2/L - 1): flat for L = 2, falling as the root for L = 4,

    |g_k| |F b|_k^(1 - 2/L) = const on the support                                                          (2)

L layers that start with equal moduli keep them equal, and gradient flow moves the filter b that they make together by

    d F b_k / dt = L |F b_k|^(2 - 2/L) g_k                                                                  (3)

Each step takes the a_i at its end (implicit Euler), so steps may be long although the loss is stiff. The length of a
step is the share ``growth`` of the length of b, which ends near 10^6: margins of 10^8 are rounded too coarsely to solve
for the a_i. The measurement takes the a_i from the loss. Only stationarity is claimed: for L > 2 the problem is not
convex.
Reference: [gunasekar2018implicit].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, seed):
    """Examples times their labels: a wave of one frequency each, of random phase and its own size, and small noise."""
    rng = np.random.default_rng(seed)
    waves = np.cos(2 * np.pi * np.outer(np.arange(1, n + 1), np.arange(d)) / d + rng.uniform(0, 6.3, (n, 1)))
    return waves * np.linspace(1, 2, n)[:, None] * rng.uniform(1, 1.2, (n, 1)) + 0.25 * rng.normal(size=(n, d))


def predicted():
    """The constant of (2) scatters by at most 5 percent for L = 2, 3 and 4."""
    return [0.05] * 3


def softmin(margins):
    """The weights a_i of the examples in the gradient of the exponential loss."""
    weights = np.exp(margins.min() - margins)
    return weights / weights.sum()


def implicit_step(margins, gram, weights, rate, iterations=50):
    """Solves c = rate softmin(margins + gram c) by Newton's method with backtracking, from the previous weights."""

    def objective(c):  # convex; its gradient is gram (c / rate - softmin)
        m = margins + gram @ c
        return c @ gram @ c / (2 * rate) - m.min() + np.log(np.exp(m.min() - m).sum())

    c = rate * weights
    value = objective(c)
    for _ in range(iterations):
        a = softmin(margins + gram @ c)
        residual = c - rate * a
        if np.abs(residual).max() <= 1e-10 * rate:
            break
        newton = np.linalg.solve(np.eye(len(c)) + rate * (np.diag(a) - np.outer(a, a)) @ gram, residual)
        slope, length = residual @ gram @ newton / rate, 1.0
        while length > 1e-6 and objective(c - length * newton) > value - 1e-4 * length * slope + 1e-12 * abs(value):
            length /= 2
        c = c - length * newton
        value = objective(c)
    return c


def spread(depth, convolution, n, d, steps, growth, seed):
    """How far the constant of equation (2) scatters, as a share of its mean; frequencies weigh as their energy."""
    z = np.fft.fft(problem(n, d, seed))
    b = np.fft.fft(np.random.default_rng([seed, depth]).normal(size=d))
    b = 0.7 ** (depth if convolution else 1) * b / np.abs(b)
    a = softmin((z.conj() @ b).real / d)
    for _ in range(steps):
        metric = depth * np.abs(b) ** (2 - 2 / depth) if convolution else np.ones(d)  # (3)
        rate = growth * np.linalg.norm(b) / np.linalg.norm(metric * (a @ z))
        margins, gram = (z.conj() @ b).real / d, ((z.conj() * metric) @ z.T).real / d
        b = b + metric * (implicit_step(margins, gram, a, rate) @ z)
        a = softmin((z.conj() @ b).real / d)
    spectrum, g = np.abs(b), np.abs(a @ z)
    constant, weight = g * spectrum ** (1 - 2 / depth), spectrum**2 / (spectrum**2).sum()
    return np.sqrt(weight @ (constant / (weight @ constant) - 1) ** 2)


def observed(n, d, steps, growth, seed):
    """Two, three and four convolutions."""
    return [spread(depth, True, n, d, steps, growth, seed) for depth in (2, 3, 4)]


def control(n, d, steps, growth, seed):
    """One linear layer, of which the 2-norm is the least."""
    return [spread(depth, False, n, d, steps, growth, seed) for depth in (2, 3, 4)]


CLAIM = Claim(
    id="linear-conv-net-depth-l",
    title="A linear network of L convolutions ends at a stationary point of the 2/L-norm of its spectrum",
    equation=r"\min \|\hat\beta\|_{2/L}, \ y_i \beta \cdot x_i \ge 1: \ |\hat g_k| |\hat\beta_k|^{1 - 2/L} = c",
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(
        Premise("the layers are circular convolutions of full width"),
        Premise("the loss goes to zero"),
    ),
    parameters={"n": 3, "d": 8, "steps": 300, "growth": 0.05},
    full={"n": 4, "d": 16, "steps": 1500, "growth": 0.01},
    judge=bounded_by("above"),
    loose_because="the limit is zero; 5 % is what counts as constant, and after this much training 0.01 % remains.",
)
