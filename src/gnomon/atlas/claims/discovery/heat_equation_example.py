"""Equation discovery finds the heat equation in heat data; wave data need the second time derivative on the left.

    u_t = w^2 u_xx    (heat),        u_tt = c^2 u_xx    (waves)                                              (1)

w^2 is the diffusion and c the wave speed.
"""

from functools import partial

import numpy as np

from gnomon.discovery import TermLibrary, discover
from gnomon.lab import Claim, Premise, Source, equals

LIBRARY_TERMS = ["u", "u^2", "u_x", "u*u_x", "u_xx", "u*u_xx"]


def predicted(diffusion, speed):
    """Returns the expected coefficient of u_xx and 0 other terms, for the heat and the wave equation."""
    return [diffusion, 0.0, speed**2, 0.0]


def measure(points, diffusion, speed, order):
    """Returns the coefficient of u_xx and the number of other terms in the discovered laws of heat and of waves."""
    x, t = np.linspace(0, 2 * np.pi, points, endpoint=False), np.linspace(0, 3, 120)
    parts = [(k, np.sin(k * x[:, None] + k * k) / k) for k in (1, 2, 3, 4)]
    heat = sum(np.exp(-diffusion * k * k * t) * s for k, s in parts)
    waves = sum(np.cos(speed * k * t + k) * s for k, s in parts)
    found = []
    for u, time in ((heat, 1), (waves, order)):
        law = discover(u, x[1], t, library=TermLibrary(only=LIBRARY_TERMS), time_order=time).equations[0]
        found += [float(law.coefficient("u_xx")), float(len(set(law.terms) - {"u_xx"}))]
    return found


observed = partial(measure, order=2)  # The left side is u_t for heat data and u_tt for wave data.
control = partial(measure, order=1)  # Control: u_t for both, although the wave equation is of second order in time.

CLAIM = Claim(
    id="heat-equation-example",
    question="Can heat and wave equations be found from data?",
    equation=r"(\partial_t - \omega^2\partial_{xx}) u = 0",
    axes=("heat (coefficient, extra terms), then waves", "coefficient; count"),
    source=Source("derived"),
    premises=(
        Premise("the left side has the time derivative of the law"),
        Premise("the data contain several frequencies"),
    ),
    parameters={"points": 64, "diffusion": 0.1, "speed": 2.0},
    full={"points": 256},
    judge=equals(within=0.01, because="1 % is the quadrature error of the test functions at 64 points"),
    remark="The equation of first order is often called the harmonic oscillator; it is the heat equation.",
)
