"""L linear convolution layers converge to a filter whose Fourier coefficients have a stationary 2/L-norm.

    min sum_k |F b|_k^(2/L)  with  y_i <b, x_i> >= 1                                                        (1)

b is the filter that the L layers make together, F the Fourier transform, x_i the examples and y_i their labels. A
stationary point has, with g = F sum_i a_i y_i x_i and weights a_i > 0 on the examples with the smallest margin,

    |g_k| |F b|_k^(1 - 2/L) = const on the support of F b                                                   (2)

L layers that start with equal Fourier magnitudes keep them equal, and gradient flow moves b by

    d F b_k / dt = L |F b_k|^(2 - 2/L) g_k                                                                  (3)

Each step uses the a_i at its end (implicit Euler), so steps may be long although the loss is stiff. ``growth`` is the
length of a step relative to |b|, which ends near 10^6: margins of 10^8 are too coarsely rounded to solve for the a_i.
Only stationarity is claimed, because for L > 2 the problem is not convex. Reference: [gunasekar2018implicit].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, seed):
    """Returns examples times labels; each example is a wave of one frequency with random phase, plus small noise."""
    rng = np.random.default_rng(seed)
    waves = np.cos(2 * np.pi * np.outer(np.arange(1, n + 1), np.arange(d)) / d + rng.uniform(0, 6.3, (n, 1)))
    return waves * np.linspace(1, 2, n)[:, None] * rng.uniform(1, 1.2, (n, 1)) + 0.25 * rng.normal(size=(n, d))


def predicted():
    """Returns 0.05 for L = 2, 3, 4 layers: the stationarity condition holds up to 5 % at all frequencies."""
    return [0.05] * 3


def softmin(margins):
    """Returns the weights of the examples in the exponential loss's gradient, from their margins."""
    weights = np.exp(margins.min() - margins)
    return weights / weights.sum()


def implicit_step(margins, gram, weights, rate, iterations=50):
    """Returns the solution c of c = rate softmin(margins + gram c), an implicit gradient step, by Newton's method."""

    def objective(c):  # a convex function of c, whose gradient is gram @ (c / rate - softmin)
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


def scatter_of_constant(depth, convolution, n, d, steps, growth, seed):
    """Returns how much |g_k| |F b|_k^(1 - 2/L) varies over frequencies k (relative standard deviation)."""
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
    """Returns the variation of |g_k| |F b|_k^(1 - 2/L) for L = 2, 3 and 4 trained convolution layers."""
    return [scatter_of_constant(depth, True, n, d, steps, growth, seed) for depth in (2, 3, 4)]


def control(n, d, steps, growth, seed):
    """Returns the variation of |g_k| |F b|_k^(1 - 2/L) for one linear layer, which minimizes the 2-norm."""
    return [scatter_of_constant(depth, False, n, d, steps, growth, seed) for depth in (2, 3, 4)]


CLAIM = Claim(
    id="linear-conv-net-depth-l",
    question="What does a deep linear convolutional network prefer?",
    equation=r"\min \|\hat\beta\|_{2/L}, \ y_i \beta \cdot x_i \ge 1: \ |\hat g_k| |\hat\beta_k|^{1 - 2/L} = c",
    axes=("depth L = 2, 3, 4", "relative scatter of the constant in (2)"),
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(Premise("the layers are circular convolutions of full width"), Premise("the loss goes to zero")),
    parameters={"n": 3, "d": 8, "steps": 300, "growth": 0.05},
    full={"n": 4, "d": 16, "steps": 1500, "growth": 0.01},
    judge=bounded_by("above"),
    loose_because="the limit is zero; 5 % is what counts as constant, and after this much training 0.01 % remains.",
)
