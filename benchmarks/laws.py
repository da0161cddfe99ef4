"""Data sets with known laws: those of the paper that introduced PDE-FIND, and two simulations of our own.

Each has its fields with noise, our library for it, and the same library in pysindy's words. Complex fields are two
real ones there, with derivatives to the second order instead of the fourth. Where pysindy's library would have columns
that depend on each other, it is given a smaller one without them. Both are a help.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data" / "pde"


@dataclass(frozen=True)
class Problem:
    law: dict  # field: {term: coefficient}
    peer: list  # the same in pysindy's names, one row for each field
    published: tuple  # mean error in %, clean and with noise
    noise: float = 0.01
    order: int = 4
    degree: int = 3
    job: dict | None = None  # more of pysindy's job


BOTH = {
    "kdv": Problem({"u": {"u*u_x": -6, "u_xxx": -1}}, [{"x0x0_1": -6, "x0_111": -1}], (1.0, 7.0)),
    "burgers": Problem({"u": {"u*u_x": -1, "u_xx": 0.1}}, [{"x0x0_1": -1, "x0_11": 0.1}], (0.15, 0.8)),
    "harmonic_osc": Problem(
        {"u": {"u_xx": 0.5j, "V*u": -1j}},
        [{"x1_11": -0.5, "x1 x2": 1}, {"x0_11": 0.5, "x0 x2": -1}],
        (0.25, 10.0),
        job={"products": False, "order": 2},
    ),
    "nls": Problem(
        {"u": {"u_xx": 0.5j, "u*|u|^2": 1j}},
        [{"x1_11": -0.5, "x0^2 x1": -1, "x1^3": -1}, {"x0_11": 0.5, "x0^3": 1, "x0 x1^2": 1}],
        (0.05, 3.0),
        job={"order": 2},
    ),
    "kuramoto_sivishinky": Problem(
        {"u": {"u*u_x": -1, "u_xx": -1, "u_xxxx": -1}}, [{"x0x0_1": -1, "x0_11": -1, "x0_1111": -1}], (1.3, 70.0)
    ),
    "reaction_diffusion": Problem(
        {
            "u": {"u_xx": 0.1, "u_yy": 0.1, "u": 1.0, "u^3": -1.0, "u*v^2": -1.0, "u^2*v": 1.0, "v^3": 1.0},
            "v": {"v_xx": 0.1, "v_yy": 0.1, "v": 1.0, "v^3": -1.0, "u^2*v": -1.0, "u*v^2": -1.0, "u^3": -1.0},
        },
        [
            {"x0_11": 0.1, "x0_22": 0.1, "x0": 1, "x0^3": -1, "x0 x1^2": -1, "x0^2 x1": 1, "x1^3": 1},
            {"x1_11": 0.1, "x1_22": 0.1, "x1": 1, "x1^3": -1, "x0^2 x1": -1, "x0 x1^2": -1, "x0^3": -1},
        ],
        (0.02, 3.8),
        noise=0.005,
        order=2,
    ),
    "navier_stokes": Problem(
        {"w": {"u*w_x": -1.0, "v*w_y": -1.0, "w_xx": 0.01, "w_yy": 0.01}},
        [{"x1_1": -1, "x2_2": -1, "x0_11": 0.01, "x0_22": 0.01}],
        (1.0, 7.0),
        order=2,
        degree=2,
        job={"products": False},
    ),
}
POWERS = ("", "u", "v", "w", "u^2", "u*v", "u*w", "v^2", "v*w", "w^2")
SLOPES = ("w_x", "w_y", "w_xx", "w_xy", "w_yy")


def load(name, noise, seed=0):
    """Fields by name with noise of a share of their standard deviations, the grids of space, and the times."""
    from gnomon.data import fields

    if name in ("reaction_diffusion", "navier_stokes"):
        run = fields.reaction_diffusion() if name == "reaction_diffusion" else fields.vorticity()
        made = run.fields
        shape = next(iter(made.values())).shape
        grids = tuple(h * np.arange(n) for h, n in zip(run.dx, shape, strict=False))
        t = run.dt * np.arange(shape[-1])
    else:
        from scipy.io import loadmat

        stored = loadmat(DATA / f"{name}.mat")
        x, t = stored["x"].ravel(), stored["tt" if name.startswith("kur") else "t"].ravel()
        u = stored["uu" if name.startswith("kur") else "usol"]
        u = u if u.shape[0] == len(x) else u.T
        made, grids = {"u": u.real if name in ("kdv", "burgers") else u}, (x,)
    draw = np.random.default_rng(seed)

    def added(u):
        more = draw.standard_normal(u.shape)
        return more + 1j * draw.standard_normal(u.shape) if np.iscomplexobj(u) else more

    return {k: u + noise * u.real.std() * added(u) for k, u in made.items()}, grids, t


def library(name, fields, grids):
    """Our library of a problem, and the fields whose equations are wanted."""
    from gnomon.discovery import TermLibrary

    problem = BOTH[name]
    if name == "navier_stokes":  # products of velocities and vorticity with derivatives of the vorticity
        terms = [*POWERS[1:], *(f"{a}*{b}" if a else b for b in SLOPES for a in POWERS)]
        return TermLibrary(only=terms, known={"u": fields["u"], "v": fields["v"]}), {"w": fields["w"]}
    known = {"V": grids[0] ** 2 / 2} if name == "harmonic_osc" else {}
    return TermLibrary(degree=problem.degree, order=problem.order, known=known), fields


def for_peer(name, fields, grids):
    """pysindy's array (space, time, field) of a problem."""
    parts = list(fields.values())
    if np.iscomplexobj(parts[0]):
        parts = [parts[0].real, parts[0].imag]
    if name == "harmonic_osc":
        parts.append(np.broadcast_to(grids[0][:, None] ** 2 / 2, parts[0].shape))
    if name == "navier_stokes":  # the flow has no divergence: u w_x + v w_y = (u w)_x + (v w)_y
        w, u, v = (fields[k] for k in "wuv")
        parts = [w, u * w, v * w]
    return np.stack(parts, -1)
