"""Rows of the pointwise form: which points, which blocks, which derivatives."""

import numpy as np
import pytest

from gnomon.discovery import FiniteDifferenceDerivative, PointwiseForm, SpectralDerivative
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import parse_term

RNG = np.random.default_rng(0)
DATA = GridData({"u": RNG.standard_normal((40, 61)), "v": RNG.standard_normal((40, 61))}, {"x": 0.3, "t": 0.7})


def test_columns_and_targets_are_derivatives_at_inner_points():
    terms = [parse_term(t) for t in ("u", "u*v_x^2", "u_xx", "u_xt", "1")]
    form = PointwiseForm(space=SpectralDerivative(), time=FiniteDifferenceDerivative(2))
    systems = form.systems(DATA, terms, 2)
    u, v = DATA.fields["u"], DATA.fields["v"]
    spectral, finite = SpectralDerivative(), FiniteDifferenceDerivative(2)
    inner = (slice(2, 38), slice(3, 58))
    wanted = [u, u * spectral(v, 0.3, 1, 0) ** 2, spectral(u, 0.3, 2, 0), finite(spectral(u, 0.3, 1, 0), 0.7, 1, 1)]
    wanted.append(np.ones_like(u))
    for k, values in enumerate(wanted):
        np.testing.assert_allclose(systems["u"].columns[:, k], values[inner].ravel(), rtol=1e-10)
    for name, values in (("u", u), ("v", v)):
        np.testing.assert_allclose(systems[name].target, finite(values, 0.7, 2, 1)[inner].ravel(), rtol=1e-10)
    assert systems["u"].independent == 64.0
    blocks = systems["u"].blocks.reshape(36, 55)
    rows, columns = np.arange(2, 38) * 8 // 40, np.arange(3, 58) * 8 // 61
    np.testing.assert_array_equal(blocks, rows[:, None] * 8 + columns)


def test_rows_are_drawn_by_the_seed_from_the_inner_points():
    (system,) = (
        PointwiseForm(rows=50, seed=3)
        .systems(GridData({"u": DATA.fields["u"]}, DATA.steps), [parse_term("u")], 1)
        .values()
    )
    inner = np.zeros((40, 61), dtype=bool)
    inner[2:38, 3:58] = True
    drawn = np.sort(np.random.default_rng(3).choice(np.flatnonzero(inner), 50, replace=False))
    np.testing.assert_array_equal(system.columns[:, 0], DATA.fields["u"].ravel()[drawn])
    assert set(system.blocks) == set(range(system.count))
    assert (
        PointwiseForm().rows == 10_000
        and PointwiseForm(rows=36 * 55).systems(DATA, [parse_term("u")], 1)["u"].target.size == 1980
    )


def test_short_axes_have_as_many_blocks_as_points():
    small = GridData({"u": RNG.standard_normal((6, 9))}, {"x": 1.0, "t": 1.0})
    system = PointwiseForm(FiniteDifferenceDerivative(2), FiniteDifferenceDerivative(2)).systems(
        small, [parse_term("u")], 1
    )["u"]
    assert system.independent == 6 * 8 and len(system.target) == pytest.approx(54)
