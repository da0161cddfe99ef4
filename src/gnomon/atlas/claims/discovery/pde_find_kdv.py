"""The Korteweg-de Vries equation is found from two solitons.

    u_t = -6 u u_x - u_xxx      (1)

Two solitons that meet: a single one also follows u_t = -c u_x, and no method can tell.
"""

from functools import partial

from gnomon.data import fields as runs
from gnomon.discovery import Library, recovery
from gnomon.lab import Claim, Premise, Source, bounded_by

WHOLE = "the library holds the terms of the equation"
LAW = {"u*u_x": -6.0, "u_xxx": -1.0}
TERMS = ["1", "u", "u^2", "u^3", "u_x", "u*u_x", "u_xx", "u*u_xx", "u_xxx", "u*u_xxx", "u_xxxx"]


def predicted():
    """Wrong terms, and the mean relative error of the coefficients, clean and with noise, as published."""
    return [0.0, 0.01, 0.0, 0.07]


def data(points, times):
    """A simulation of (1)."""
    return runs.two_solitons(points=points, times=times)


def measure(points, times, share, seed, left_out):
    """The same numbers for the equation that is found; a term is left out of the library on demand."""
    run = data(points, times)
    fields, dx, dt = run.fields, run.dx, run.dt
    library = Library(only=[t for t in TERMS if t != left_out])
    tried = [recovery(fields, dx, dt, LAW, library=library, noise=noise, seed=seed) for noise in (0.0, share)]
    return [number for one in tried for number in (float(len(one.wrong)), one.error)]


observed = partial(measure, left_out=None)  # The whole library.
# Without one of the terms of the equation: the others cannot stand in for it.
control = partial(measure, left_out="u_xxx")


CLAIM = Claim(
    id="pde-find-kdv",
    title="The Korteweg-de Vries equation is found from two solitons",
    equation=r"u_t + 6 u u_x + u_{xxx} = 0",
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise(WHOLE), Premise("a uniform grid")),
    breaks=WHOLE,
    parameters={"points": 192, "times": 121, "share": 0.01},
    full={"points": 512, "times": 201},
    judge=bounded_by("above"),
    remark="The published errors, 1 % and 7 %, belong to pointwise derivatives; the weak form is far below them.",
)
