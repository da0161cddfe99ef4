"""The nonlinear Schroedinger equation is found.

    u_t = (i/2) u_xx + i |u|^2 u      (1)

The initial state 2 sech(x) breathes; it is advanced by splitting into linear and nonlinear steps.
"""

from functools import partial

import numpy as np

from gnomon.discovery import Library, recovery
from gnomon.lab import Claim, Premise, Source, bounded_by

WHOLE = "the library holds the terms of the equation"
LAW = {"u_xx": 0.5j, "u*|u|^2": 1.0j}
TERMS = ["u", "u*|u|", "u*|u|^2", "u_x", "u_x*|u|", "u_xx", "u_xx*|u|", "u_xxx"]


def predicted():
    """Wrong terms, and the mean relative error of the coefficients, clean and with noise, as published."""
    return [0.0, 0.0005, 0.0, 0.03]


def data(points, times):
    """A breather, by Strang splitting with eight steps between times."""
    x, t = np.linspace(-5, 5, points, endpoint=False), np.linspace(0, np.pi, times)
    h = (t[1] - t[0]) / 8
    turn = np.exp(-0.5j * h * (2 * np.pi * np.fft.fftfreq(points, x[1] - x[0])) ** 2)
    u, frames = 2 / np.cosh(x) + 0j, []
    for _ in range(times):
        frames.append(u)
        for _ in range(8):
            u = u * np.exp(0.5j * h * np.abs(u) ** 2)
            u = np.fft.ifft(turn * np.fft.fft(u))
            u = u * np.exp(0.5j * h * np.abs(u) ** 2)
    return {"u": np.stack(frames, 1)}, x, t


def measure(points, times, share, seed, left_out):
    """The same numbers for the equation that is found; a term is left out of the library on demand."""
    fields, dx, dt = data(points, times)
    library = Library(only=[t for t in TERMS if t != left_out])
    tried = [recovery(fields, dx, dt, LAW, library=library, noise=noise, seed=seed) for noise in (0.0, share)]
    return [number for one in tried for number in (float(len(one.wrong)), one.error)]


observed = partial(measure, left_out=None)  # The whole library.
# Without one of the terms of the equation: the others cannot stand in for it.
control = partial(measure, left_out="u*|u|^2")


CLAIM = Claim(
    id="pde-find-nls",
    title="The nonlinear Schroedinger equation is found",
    equation=r"i u_t + u_{xx}/2 + |u|^2 u = 0",
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise(WHOLE), Premise("a uniform grid")),
    breaks=WHOLE,
    parameters={"points": 256, "times": 201, "share": 0.01},
    full={"points": 512, "times": 501},
    judge=bounded_by("above"),
)
