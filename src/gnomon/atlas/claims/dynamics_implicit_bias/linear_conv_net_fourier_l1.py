"""Two linear full-width convolutions converge to the filter with the smallest l1 norm of its spectrum.

Trained to zero exponential loss, the combined filter b of two circular convolutions converges in direction to

    b* = argmin |F b|_1  with  y_i <b, x_i> >= 1,    F the discrete Fourier transform                       (1)

x_i are the examples and y_i their labels. The prediction solves the dual of (1), a linear program; the measurement
follows the gradient of the logarithm of the loss. Reference: [gunasekar2018implicit].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns examples times labels: a wave of one frequency each, with random phase, plus noise."""
    rng = np.random.default_rng(seed)
    waves = np.cos(2 * np.pi * np.outer(np.arange(1, n + 1), np.arange(d)) / d + rng.uniform(0, 6.3, (n, 1)))
    return waves * rng.uniform(1, 1.5, (n, 1)) + 0.25 * rng.normal(size=(n, d))


def predicted(n, d, seed):
    """Returns the smallest l1 norm of the spectrum at margin 1, by a linear program."""
    from scipy.optimize import linprog

    waves = np.fft.rfft(problem(n, d, seed), axis=1).T
    sides = np.exp(2j * np.pi * np.arange(400) / 400)
    rows = np.real(sides[:, None, None] * waves).reshape(-1, n)
    return -linprog(-np.ones(n), A_ub=rows, b_ub=np.full(len(rows), float(d))).fun


def spectrum_norm_after_training(convolution, n, d, steps, seed):
    """Returns the l1 norm of the trained filter's spectrum, with the filter scaled to smallest margin 1."""
    z, rng = problem(n, d, seed), np.random.default_rng([seed, 1])
    u, v = 0.02 * rng.normal(size=(2, d))
    w = 0.02 * rng.normal(size=(d, d))
    length = np.linalg.norm(z, axis=1).max()
    for _ in range(steps):
        b = np.fft.irfft(np.fft.rfft(u) * np.fft.rfft(v), d) if convolution else v @ w
        m = z @ b
        pull = np.exp(m.min() - m) @ z / np.exp(m.min() - m).sum() / length
        rate = min(0.1, 0.2 / max((u**2).sum(), (v**2).sum()))
        if convolution:
            g = np.fft.rfft(pull)
            du, dv = (np.fft.irfft(g * np.fft.rfft(other).conj(), d) for other in (v, u))
            u, v = u + rate * du, v + rate * dv
        else:
            v, w = v + rate * w @ pull, w + rate * np.outer(v, pull)
    return np.abs(np.fft.fft(b)).sum() / (z @ b).min()


observed = partial(spectrum_norm_after_training, convolution=True)  # Two convolutions.
control = partial(spectrum_norm_after_training, convolution=False)  # Control: dense layers replace the convolutions.

CLAIM = Claim(
    id="linear-conv-net-fourier-l1",
    question="Why do linear convolutional networks find signals with few frequencies?",
    equation=r"\beta_t / \|\beta_t\| \to \arg\min \|\hat\beta\|_1, \quad y_i \langle \beta, x_i \rangle \ge 1",
    axes=("one data set", "l1 norm of the spectrum at margin 1"),
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(Premise("the layers are circular convolutions of full width"), Premise("the loss goes to zero")),
    parameters={"n": 3, "d": 8, "steps": 4000},
    full={"n": 4, "d": 16, "steps": 30_000},
    judge=equals(within=0.02, because="the norm is about 5, with an error of ln n divided by a margin of a thousand"),
    remark="The steps must be small against the inverse of the smoothness; notes print the Lipschitz constant.",
)
