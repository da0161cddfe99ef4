"""The data of the paper that introduced PDE-FIND: its equations, with its noise, at most its errors."""

import numpy as np
import pytest
from scipy.io import loadmat

from gnomon.discovery import TermLibrary, discover

LAWS = {
    "kdv": ({"u*u_x": -6, "u_xxx": -1}, 0.01, 0.07),
    "burgers": ({"u*u_x": -1, "u_xx": 0.1}, 0.0015, 0.008),
    "harmonic_osc": ({"u_xx": 0.5j, "V*u": -1j}, 0.0025, 0.1),
    "nls": ({"u_xx": 0.5j, "u*|u|^2": 1j}, 0.0005, 0.03),
    "kuramoto_sivishinky": ({"u*u_x": -1, "u_xx": -1, "u_xxxx": -1}, 0.013, 0.7),
}


def published(shared, name):
    stored = loadmat(shared / "data" / "pde" / f"{name}.mat")
    x, t = stored["x"].ravel(), stored["tt" if name.startswith("kur") else "t"].ravel()
    u = stored["uu" if name.startswith("kur") else "usol"]
    u = u if u.shape[0] == len(x) else u.T
    return (u.real if name in ("kdv", "burgers") else u), x, t


def check(shared, name, noise):
    law, clean, noisy = LAWS[name]
    u, x, t = published(shared, name)
    draw = np.random.default_rng(0)
    added = draw.standard_normal(u.shape) + (1j * draw.standard_normal(u.shape) if np.iscomplexobj(u) else 0)
    u = u + noise * u.real.std() * added
    found = discover(u, x, t, library=TermLibrary(known={"V": x**2 / 2} if name == "harmonic_osc" else {}))
    assert set(found.terms) == set(law)
    error = np.mean([abs(found.equations[0].coefficient(term) - c) / abs(c) for term, c in law.items()])
    return error < (noisy if noise else clean)


def test_burgers_with_the_published_noise(shared):
    assert check(shared, "burgers", 0.01)


@pytest.mark.full
@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("name", list(LAWS))
def test_the_published_table(shared, name, noise):
    assert check(shared, name, noise)
