"""Fields and grids as they are read: steps from coordinates, known functions, both sides of the uniform limit."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery.grid import GridData, read, step


def test_symbols_have_the_values_of_fields_moduli_known_functions_and_functions_of_fields():
    u, v = np.array([[3 + 4j, -2.0]]), np.array([[-1.5, 2.0 + 0j]])
    data = GridData(
        {"u": u, "v": v}, {"x": 1.0, "t": 1.0}, {"V": np.array([[7.0, 8.0]])}, {"f": lambda a, b: a - 2 * b}
    )
    assert data.value("u") is u and data.value("|u|").tolist() == [[5.0, 2.0]]
    assert data.value("V").tolist() == [[7.0, 8.0]] and data.value("f").tolist() == (u - 2 * v).tolist()
    assert data.is_complex and not GridData({"u": u.real}, {}).is_complex
    with pytest.raises(InputError, match="'w' is not known"):
        data.value("w")


def test_steps_may_differ_by_a_thousandth_of_their_mean():
    for wrong, fine in ((0.9e-3, True), (1.1e-3, False)):
        gaps = 0.2 * np.array([1 + wrong, 1 - wrong, 1.0, 1.0])
        places = 5 + np.concatenate([[0.0], np.cumsum(gaps)])
        if fine:
            assert step(places, 5, "dx") == pytest.approx(0.2)
        else:
            with pytest.raises(InputError, match="uniform"):
                step(places, 5, "dx")
    short = np.cumsum([0.0, 0.998, 1.0, 1.0, 1.0])  # one step is 0.15 % below the mean, the others hardly above
    with pytest.raises(InputError, match="uniform"):
        step(short, 5, "dx")
    assert step(0.3, 5, "dx") == 0.3 and step(np.array([0.4]), 5, "dx") == 0.4
    for bad in (-0.1, 0.0, np.arange(5.0)[::-1], np.arange(4.0), np.inf):
        with pytest.raises(InputError):
            step(bad, 5, "dx")


def test_axes_are_named_and_known_functions_are_spread_over_the_rest():
    u = np.random.default_rng(0).standard_normal((3, 4, 5))
    known = {"a": np.arange(3.0), "b": np.arange(12.0).reshape(3, 4), "c": 2.5, "d": u}
    data = read({"u": u, "v": -u}, (0.1, 0.2), 0.3, known=known)
    assert data.steps == {"x": 0.1, "y": 0.2, "t": 0.3} and data.letters == "xyt" and data.shape == (3, 4, 5)
    assert data.known["a"][2, 1, 3] == 2.0 and data.known["b"][2, 1, 3] == 9.0 and data.known["c"][0, 0, 0] == 2.5
    assert data.known["d"][1, 2, 3] == u[1, 2, 3]
    assert read(u[0], 0.1, 0.3).steps == {"x": 0.1, "t": 0.3}
    assert read(u[0, 0], (), 0.3).letters == "t"
    assert read(np.ones((2, 2, 2, 2)), (1, 2, 3), 4).letters == "xyzt"
    for bad, dx in ((np.ones((2,) * 5), 1), (u, (0.1,)), (u, (0.1, 0.2, 0.3))):
        with pytest.raises(InputError):
            read(bad, dx, 0.1)
    with pytest.raises(InputError, match="a value at each point"):
        read(u, 0.1, 0.1, known={"a": np.arange(4.0)})
