"""The Schroedinger equation of the oscillator is found, with its potential.

    u_t = (i/2) u_xx - i (x^2/2) u      (1)

Complex data: three eigenstates in superposition; the potential V = x^2/2 is offered as a known function.
"""

from functools import partial

import numpy as np

from gnomon.discovery import Library, recovery
from gnomon.lab import Claim, Premise, Source, bounded_by

WHOLE = "the library holds the terms of the equation"
LAW = {"u_xx": 0.5j, "V*u": -1.0j}
TERMS = ["u", "u*|u|", "u*|u|^2", "u_x", "u_xx", "u_xx*|u|", "V*u"]


def predicted():
    """Wrong terms, and the mean relative error of the coefficients, clean and with noise, as published."""
    return [0.0, 0.0025, 0.0, 0.1]


def data(points, times):
    """Three eigenstates of the oscillator in superposition, in closed form."""
    x, t = np.linspace(-6, 6, points), np.linspace(0, 4, times)
    states = [np.exp(-(x**2) / 2), x * np.exp(-(x**2) / 2), (2 * x**2 - 1) * np.exp(-(x**2) / 2)]
    shares = (1, 0.7, 0.3j)
    u = sum(c * s[:, None] * np.exp(-1j * (k + 0.5) * t) for k, (c, s) in enumerate(zip(shares, states, strict=True)))
    return {"u": u}, x, t


def measure(points, times, share, seed, left_out):
    """The same numbers for the equation that is found; a term is left out of the library on demand."""
    fields, dx, dt = data(points, times)
    library = Library(only=[t for t in TERMS if t != left_out], known={"V": dx**2 / 2})
    tried = [recovery(fields, dx, dt, LAW, library=library, noise=noise, seed=seed) for noise in (0.0, share)]
    return [number for one in tried for number in (float(len(one.wrong)), one.error)]


observed = partial(measure, left_out=None)  # The whole library.
# Without one of the terms of the equation: the others cannot stand in for it.
control = partial(measure, left_out="V*u")


CLAIM = Claim(
    id="pde-find-schrodinger",
    title="The Schroedinger equation of the oscillator is found, with its potential",
    equation=r"i u_t + u_{xx}/2 - x^2 u/2 = 0",
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise(WHOLE), Premise("a uniform grid")),
    breaks=WHOLE,
    parameters={"points": 128, "times": 101, "share": 0.01},
    full={"points": 512, "times": 401},
    judge=bounded_by("above"),
)
