"""Reaction and diffusion of two chemicals on a plane are found.

    u_t = 0.1 Lap u + (1 - A) u + A v,  A = u^2 + v^2      (1)

The spiral of the lambda-omega system; the equation of u is compared.
"""

from functools import partial

from gnomon.data import fields as runs
from gnomon.discovery import Library, recovery
from gnomon.lab import Claim, Premise, Source, bounded_by

WHOLE = "the library holds the terms of the equation"
LAW = {"u_xx": 0.1, "u_yy": 0.1, "u": 1.0, "u^3": -1.0, "u*v^2": -1.0, "u^2*v": 1.0, "v^3": 1.0}
TERMS = ["u", "v", "u^2", "u^3", "u^2*v", "u*v^2", "v^3", "u_x", "u_xx", "u_yy", "v_xx", "v_yy"]


def predicted():
    """Wrong terms, and the mean relative error of the coefficients, clean (1 %) and with noise (published: 3.8 %)."""
    return [0.0, 0.01, 0.0, 0.038]


def data(points, times):
    """A simulation of (1)."""
    return runs.reaction_diffusion(points=points, times=times)


def measure(points, times, share, seed, left_out):
    """The same numbers for the equation that is found; a term is left out of the library on demand."""
    run = data(points, times)
    fields, dx, dt = run.fields, run.dx, run.dt
    library = Library(only=[t for t in TERMS if t != left_out])
    tried = [recovery(fields, dx, dt, LAW, library=library, noise=noise, seed=seed) for noise in (0.0, share)]
    return [number for one in tried for number in (float(len(one.wrong)), one.error)]


observed = partial(measure, left_out=None)  # The whole library.
# Without one of the terms of the equation: the others cannot stand in for it.
control = partial(measure, left_out="u_xx")


CLAIM = Claim(
    id="pde-find-reaction-diffusion",
    title="Reaction and diffusion of two chemicals on a plane are found",
    equation=r"u_t = 0.1\nabla^2 u + \lambda(A) u - \omega(A) v",
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise(WHOLE), Premise("a uniform grid")),
    breaks=WHOLE,
    parameters={"points": 48, "times": 61, "share": 0.005},
    full={"points": 96, "times": 101},
    judge=bounded_by("above"),
)
