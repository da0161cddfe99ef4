"""The vorticity equation is found, with the Reynolds number.

    w_t = -u w_x - v w_y + (w_xx + w_yy) / Re      (1)

A periodic square with random vortices at Re = 100, with the velocities as further fields.
"""

from functools import partial

from gnomon.data import fields as runs
from gnomon.discovery import Library, recovery
from gnomon.lab import Claim, Premise, Source, bounded_by

WHOLE = "the library holds the terms of the equation"
LAW = {"u*w_x": -1.0, "v*w_y": -1.0, "w_xx": 0.01, "w_yy": 0.01}
TERMS = ["w", "u", "v", "u*w", "w_x", "w_y", "u*w_x", "v*w_x", "u*w_y", "v*w_y", "w_xx", "w_xy", "w_yy"]


def predicted():
    """Wrong terms, and the mean relative error of the coefficients, clean and with noise, as published."""
    return [0.0, 0.01, 0.0, 0.07]


def data(points, times):
    """A simulation of (1)."""
    return runs.vorticity(points=points, times=times)


def measure(points, times, share, seed, left_out):
    """The same numbers for the equation that is found; a term is left out of the library on demand."""
    run = data(points, times)
    fields, dx, dt = run.fields, run.dx, run.dt
    library = Library(only=[t for t in TERMS if t != left_out])
    tried = [recovery(fields, dx, dt, LAW, library=library, noise=noise, seed=seed) for noise in (0.0, share)]
    return [number for one in tried for number in (float(len(one.wrong)), one.error)]


observed = partial(measure, left_out=None)  # The whole library.
# Without one of the terms of the equation: the others cannot stand in for it.
control = partial(measure, left_out="u*w_x")


CLAIM = Claim(
    id="pde-find-navier-stokes",
    title="The vorticity equation is found, with the Reynolds number",
    equation=r"\omega_t + (u\cdot\nabla)\omega = \nabla^2\omega / Re",
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise(WHOLE), Premise("a uniform grid")),
    breaks=WHOLE,
    parameters={"points": 48, "times": 41, "share": 0.01},
    full={"points": 64, "times": 61},
    judge=bounded_by("above"),
)
