"""A linear network of two full-width convolutions is sparse in frequency: it has the least l1 norm of the spectrum.

Trained to zero exponential loss, the end-to-end vector b of two circular convolutions converges in direction to

    b* = argmin |F b|_1  with  y_i <b, x_i> >= 1,    F the discrete Fourier transform                       (1)

or rather to a stationary point of it. The prediction solves (1) as a program over b and the moduli of its spectrum, the
measurement follows the gradient of the logarithm of the loss. Reference: [gunasekar2018implicit].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

SHARED = "the layers are circular convolutions of full width"


def problem(n, d, seed):
    """Examples times their labels: orthogonal waves of a few frequencies each, and of different lengths."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.normal(size=(d, n)))[0].T * rng.uniform(1, 2, (n, 1))


def predicted(n, d, seed):
    """The least value of |F b|_1 in equation (1), by sequential quadratic programming from several starts."""
    from scipy.optimize import LinearConstraint, minimize

    z, half = problem(n, d, seed), d // 2 + 1
    transform = np.fft.rfft(np.eye(d), axis=0)
    count = np.where((np.arange(half) == 0) | (2 * np.arange(half) == d), 1.0, 2.0)

    def norm(b):
        spectrum = transform @ b
        size = np.sqrt(np.abs(spectrum) ** 2 + 1e-12)
        return count @ size, np.real((count * spectrum.conj() / size) @ transform)

    start = np.linalg.lstsq(z, np.ones(n), rcond=None)[0]
    rule = LinearConstraint(z, lb=1.0)
    return minimize(
        norm, start, jac=True, constraints=[rule], method="SLSQP", options={"maxiter": 2000, "ftol": 1e-12}
    ).fun


def least(convolution, n, d, steps, seed):
    """|F b|_1 of the direction of the trained network, scaled to the smallest margin 1."""
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


def observed(n, d, steps, seed):
    """Two convolutions."""
    return least(True, n, d, steps, seed)


def control(n, d, steps, seed):
    """Two fully connected layers."""
    return least(False, n, d, steps, seed)


CLAIM = Claim(
    id="linear-conv-net-fourier-l1",
    title="A linear network of two convolutions has the least l1 norm of the spectrum",
    equation=r"\beta_t / \|\beta_t\| \to \arg\min \|\hat\beta\|_1, \quad y_i \langle \beta, x_i \rangle \ge 1",
    source=Source("theorem", "gunasekar2018implicit"),
    premises=(Premise(SHARED), Premise("the loss goes to zero")),
    breaks=SHARED,
    parameters={"n": 3, "d": 8, "steps": 12_000},
    full={"n": 4, "d": 16, "steps": 60_000},
    judge=equals(within=0.05, because="the norm errs by ln n over the margin, of some hundred"),
    predicted=predicted,
    observed=observed,
    control=control,
    remark="The steps must be small against the inverse of the smoothness; notes print the Lipschitz constant.",
)
