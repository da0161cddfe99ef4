"""The decaying Taylor-Green vortex solves the Navier-Stokes equations, including pressure.

    u_x + v_y = 0,    u_t + u u_x + v u_y = -p_x + nu (u_xx + u_yy)                                         (1)

u and v are velocities, p the pressure and nu the viscosity.
"""

from functools import partial

import numpy as np

from gnomon.discovery import SpectralDerivative, pde_residual
from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 0 twice, the relative residuals of the equations of incompressibility and of momentum."""
    return [0.0, 0.0]


def vortex(points, viscosity):
    """Returns velocities, pressure, grid spacing and times of the Taylor-Green vortex."""
    x, t = np.linspace(0, 2 * np.pi, points, endpoint=False), np.linspace(0, 0.1, 25)
    a, b, c = x[:, None, None], x[None, :, None], np.exp(-2 * viscosity * t)
    flow = {"u": np.cos(a) * np.sin(b) * c, "v": -np.sin(a) * np.cos(b) * c}
    return flow | {"p": -(np.cos(2 * a) + np.cos(2 * b)) * c**2 / 4}, (x[1], x[1]), t


def measure(points, viscosity, pressure):
    """Returns the relative residuals of incompressibility and momentum for the vortex, by grid derivatives."""
    flow, dx, t = vortex(points, viscosity)
    right = f"{pressure}{viscosity}*u_xx + {viscosity}*u_yy"
    equations = "u_x + v_y = 0", f"u_t + u*u_x + v*u_y = {right}"
    return [pde_residual(flow, dx, t, text, space=SpectralDerivative()).relative for text in equations]


observed = partial(measure, pressure="-1*p_x + ")  # The whole equation.
control = partial(measure, pressure="")  # Control: the pressure term is left out, so the equation does not hold.

CLAIM = Claim(
    id="navier-stokes-equations",
    question="Does the Taylor-Green vortex solve the Navier-Stokes equations?",
    equation=r"\partial_t V + (V\cdot\nabla)V = -\nabla p/\rho + \nu\nabla^2 V, \quad \nabla\cdot V = 0",
    axes=("incompressibility, then momentum", "relative residual"),
    source=Source("derived"),
    premises=(Premise("the pressure gradient is part of the equation"), Premise("the domain is a periodic square")),
    parameters={"points": 24, "viscosity": 0.1},
    full={"points": 64},
    judge=equals(within=1e-9, because="differences of sixth order over steps of 1/240 in time"),
)
