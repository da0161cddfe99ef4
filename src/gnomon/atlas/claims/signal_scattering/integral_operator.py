"""The Fourier transform and convolution are integral operators: a kernel H(u, t) applied like a matrix.

    (T f)(u) = int H(u, t) f(t) dt                                                                            (1)

H is the kernel and f the function. For f = e^{-pi t^2}, H = e^{-2 pi i u t} gives f itself, and H = f(u - t) gives
e^{-pi u^2 / 2} / sqrt(2). Reference: [mallat2009wavelet], Chapter 2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(points):
    """Returns the closed forms of the integrals at each point, for the Fourier and the convolution kernel."""
    u = np.linspace(-2, 2, points)
    return np.concatenate([np.exp(-np.pi * u**2), np.exp(-np.pi * u**2 / 2) / 2**0.5])


def products(start, stop, points, nodes):
    """Returns the integrals from ``start`` to ``stop`` as matrix products, for both kernels."""
    t, step = np.linspace(start, stop, nodes, retstep=True)
    u, f = np.linspace(-2, 2, points)[:, None], np.exp(-np.pi * t**2)
    fourier, blur = np.exp(-2j * np.pi * u * t), np.exp(-np.pi * (u - t) ** 2)
    return np.concatenate([(fourier @ f * step).real, blur @ f * step])


observed = partial(products, start=-8.0, stop=8.0)  # The integral runs over [-8, 8], almost all of it.
control = partial(products, start=0.0, stop=8.0)  # Control: the integral starts at 0 and misses half of the function.

CLAIM = Claim(
    id="integral-operator",
    question="How are Fourier transforms and convolutions related?",
    equation=r"(Tf)(u) = \int_{t_1}^{t_2} H(u, t) f(t)\, dt",
    axes=("point u (Fourier kernel, then convolution)", "value of the transformed function"),
    source=Source("theorem", "mallat2009wavelet", "Chapter 2"),
    premises=(Premise("the interval of integration contains the function"),),
    parameters={"points": 41, "nodes": 401},
    judge=equals(within=1e-8, because="the trapezoidal rule converges faster than any power for Gaussians"),
)
