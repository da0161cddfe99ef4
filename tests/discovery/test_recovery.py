"""How well a law is found again: against numbers by hand, and a law that is not that of the data."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import Library, discover, recovery

X, T = np.linspace(0, 10, 100), np.linspace(0, 2, 60)
MOVING = np.exp(-((X[:, None] - 4 - T) ** 2)) + np.exp(-2 * (X[:, None] - 6 - T) ** 2)
LIBRARY = Library(degree=1, order=2)


def test_errors_are_relative_and_wrong_terms_are_named():
    found = discover(MOVING, X, T, library=LIBRARY).equations[0].coefficient("u_x")
    result = recovery(MOVING, X, T, {"u_x": -2.0}, library=LIBRARY)
    assert result.errors == {"u_x": pytest.approx(abs(found + 2) / 2)} and result.wrong == ()
    other = recovery(MOVING, X, T, {"u_xx": 1.0}, library=LIBRARY)
    assert other.errors == {"u_xx": 1.0} and other.wrong == ("u_x",) and "u_x is found" in other.verdict


def test_noise_is_added_in_units_of_the_field_and_by_the_seed():
    one, again, other = (recovery(MOVING, X, T, {"u_x": -1.0}, library=LIBRARY, noise=0.05, seed=s) for s in (1, 1, 2))
    clean = recovery(MOVING, X, T, {"u_x": -1.0}, library=LIBRARY)
    assert one.error == again.error != other.error and clean.error < one.error < 0.2
    with pytest.raises(InputError, match="noise must be"):
        recovery(MOVING, X, T, {"u_x": -1.0}, noise=-0.1)
