"""On the circle, a ReLU layer multiplies Fourier coefficients by known factors; odd ones above one vanish.

f(t) = integral p(s) relu(cos(t - s)) ds is a convolution, so c_k(f) = g_k c_k(p) for Fourier coefficients c_k, with g_k
the integral of relu(cos s) e^(-iks) over the circle:

    g_0 = 2,   g_1 = pi/2,   g_k = (-1)^(k/2+1) 2 / (k^2 - 1) for even k,   g_k = 0 for odd k >= 3           (1)
Reference: [bach2017breaking], Appendix D.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(frequencies):
    """Returns the factor by which a ReLU layer multiplies each Fourier frequency."""
    even = [(-1) ** (k // 2 + 1) * 2 / (k**2 - 1) if k % 2 == 0 else 0.0 for k in range(2, frequencies)]
    return [2.0, np.pi / 2, *even]


def ratios(frequencies, points, activation, seed):
    """Returns the Fourier coefficients of a random function after the layer, divided by the ones before."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(points) / points
    orders = np.arange(frequencies)
    a, b = rng.normal(size=(2, frequencies)) + 2
    p = a @ np.cos(np.outer(orders, angles)) + b @ np.sin(np.outer(orders, angles))
    g = activation(np.cos(angles))
    f = np.array([p @ np.roll(g[::-1], j + 1) for j in range(points)]) * 2 * np.pi / points
    waves = np.exp(-1j * np.outer(orders, angles))
    return (waves @ f / (waves @ p)).real


observed = partial(ratios, activation=lambda u: np.maximum(u, 0))  # ReLU.
control = partial(ratios, activation=np.abs)  # Control: the absolute value has no odd frequencies in its spectrum.

CLAIM = Claim(
    id="rkhs-circle-relu-spectrum",
    question="Which frequencies can a ReLU layer on the circle represent?",
    equation=r"\gamma_0 = 2, \gamma_1 = \pi/2, \gamma_k = (-1)^{k/2+1} 2/(k^2-1) \text{ (even)}, 0 \text{ (odd)}",
    axes=("frequency k", "factor of the Fourier coefficient"),
    source=Source("theorem", "bach2017breaking", "Appendix D"),
    premises=(
        Premise("the activation is ReLU"),
        Premise("sums over the circle are fine enough", lambda points: (2 * np.pi / points) ** 2 / 6 <= 1e-5),
    ),
    parameters={"frequencies": 9, "points": 1200},
    full={"points": 6000},
    judge=equals(within=1e-5, because="sums over 1200 points have an error of (2 pi / 1200)^2 / 6 at the kinks"),
    remark="Often printed with the sign (-1)^(k/2) and with zero for k = 1.",
)
