"""Networks learn low frequencies first; the tangent kernel's eigenvalue at a frequency sets its learning time.

On n even points of the circle the kernel of a wide ReLU network with one hidden layer is a convolution,

    K(t) = (2 (pi - t) cos t + sin t) / (2 pi),    l_k = (1/n) sum_j K(t_j) cos(k t_j),    t_k = ln 2 / l_k      (1)

so sin(k t) loses half of its amplitude in the time t_k, which grows with k (about as k^2). l_k is the eigenvalue at
frequency k. References: [rahaman2019spectral] for the observation, [basri2019convergence] for the eigenvalues.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals

FREQUENCIES = np.array([1, 2, 4])


def predicted(n, rate):
    """Returns the log of each frequency's predicted learning time relative to frequency 1."""
    t = 2 * np.pi * np.arange(n) / n
    t = np.minimum(t, 2 * np.pi - t)
    kernel = (2 * (np.pi - t) * np.cos(t) + np.sin(t)) / (2 * np.pi)
    values = np.fft.rfft(kernel).real[FREQUENCIES] / n
    return np.log(np.log1p(-rate * values[0]) / np.log1p(-rate * values[1:]))


def log_times_to_half(features, n, width, nets, size, rate, seed):
    """Returns the log of each frequency's measured time to half its amplitude, relative to frequency 1."""
    rng = np.random.default_rng(seed)
    t = 2 * np.pi * np.arange(n) / n
    order = np.arange(1, features + 1)
    x = np.concatenate([np.cos(np.outer(t, order)), np.sin(np.outer(t, order))], 1) / features**0.5
    rows = []
    for _ in range(nets):
        waves = np.sin(np.outer(t, FREQUENCIES) + rng.uniform(0, 2 * np.pi, len(FREQUENCIES)))
        w, v = rng.normal(size=(width, x.shape[1])), rng.choice([-1.0, 1.0], width)
        if features == 1:  # One feature: a random direction in each of `width` equal sectors, which reduces noise.
            angle = 2 * np.pi * (np.arange(width) + rng.uniform(size=width)) / width
            w = 2**0.5 * np.stack([np.cos(angle), np.sin(angle)], 1)
        start, before, half = np.maximum(x @ w.T, 0) @ v, np.ones(len(FREQUENCIES)), np.zeros(len(FREQUENCIES))
        for step in range(1500):
            hidden = x @ w.T
            rest = size * waves.sum(1) - (np.maximum(hidden, 0) @ v - start) / width**0.5
            left = np.maximum(waves.T @ rest * 2 / n / size, 1e-9)
            between = step - 1 + np.log(2 * np.maximum(before, 0.5)) / np.log(np.clip(before / left, 1.001, None))
            half, before = np.where((half == 0) & (left < 0.5), between, half), left
            if half.all():
                break
            pull = rate * rest / n / width**0.5
            slope = ((pull[:, None] * (hidden > 0)) * v).T @ x
            w, v = w + slope, v + pull @ np.maximum(hidden, 0)
        rows.append(np.log(half / half[0])[1:])
    return np.array(rows)


observed = partial(log_times_to_half, features=1)  # The input is (cos t, sin t), a point on the circle.
control = partial(log_times_to_half, features=8)  # Control: the input also contains waves of all frequencies up to 8.

CLAIM = Claim(
    id="spectral-bias-frequency",
    question="Why do networks learn low frequencies first?",
    equation=r"t_k = \ln 2 / \lambda_k, \quad \lambda_k = \hat K(k) \sim k^{-2}",
    axes=("frequency 2, then 4", "log(time to half amplitude / time for frequency 1)"),
    source=Source("theorem", "basri2019convergence"),
    premises=(
        Premise("the input is the point on the circle, without added features"),
        Premise("the network is wide", lambda width: width >= 256),
    ),
    parameters={"n": 32, "width": 400, "nets": 6, "size": 0.1, "rate": 0.3},
    full={"n": 64, "width": 2000, "nets": 12},
    judge=mean_equals(within=0.02, because="one direction per sector, and weights that move by m^-1/2"),
    remark="Odd frequencies above 1 are not learned at all without biases: their eigenvalue is zero.",
)
