"""How well a law is found again: against numbers by hand, and a law that is not that of the data."""

import sys

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import TermLibrary, discover, equation_recovery

X, T = np.linspace(0, 10, 100), np.linspace(0, 2, 60)
MOVING = np.exp(-((X[:, None] - 4 - T) ** 2)) + np.exp(-2 * (X[:, None] - 6 - T) ** 2)
LIBRARY = TermLibrary(degree=1, order=2)


def test_errors_are_relative_and_wrong_terms_are_named():
    found = discover(MOVING, X, T, library=LIBRARY).equations[0].coefficient("u_x")
    result = equation_recovery(MOVING, X, T, {"u_x": -2.0}, library=LIBRARY)
    assert result.errors == {"u_x": pytest.approx(abs(found + 2) / 2)} and result.wrong == ()
    other = equation_recovery(MOVING, X, T, {"u_xx": 1.0}, library=LIBRARY)
    assert other.errors == {"u_xx": 1.0} and other.wrong == ("u_x",) and "u_x is found" in other.verdict


def test_noise_is_added_in_units_of_the_field_and_by_the_seed():
    one, again, other = (
        equation_recovery(MOVING, X, T, {"u_x": -1.0}, library=LIBRARY, noise=0.05, seed=s) for s in (1, 1, 2)
    )
    clean = equation_recovery(MOVING, X, T, {"u_x": -1.0}, library=LIBRARY)
    assert one.error == again.error != other.error and clean.error < one.error < 0.2
    with pytest.raises(InputError, match="noise must be"):
        equation_recovery(MOVING, X, T, {"u_x": -1.0}, noise=-0.1)


def test_noise_has_the_standard_deviation_of_the_real_part_of_each_field(monkeypatch):
    seen = {}

    def keep(fields, dx, dt, library):
        seen.update(fields)
        return discover(MOVING, X, T, library=LIBRARY)

    monkeypatch.setattr(sys.modules["gnomon.discovery.recovery"], "discover", keep)
    both = {"u": MOVING, "v": 3.0 * MOVING + 2.0}
    result = equation_recovery(both, X, T, {"u_x": -1.0, "u": 0.5}, noise=0.2, seed=4)
    draw = np.random.default_rng(4)
    for name, values in both.items():
        expected = values + 0.2 * values.std() * draw.standard_normal(values.shape)
        np.testing.assert_allclose(seen[name], expected, rtol=1e-12)
    assert result.errors["u"] == 1.0 and result.error == pytest.approx((result.errors["u_x"] + 1) / 2)
