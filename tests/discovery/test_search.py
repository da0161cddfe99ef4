"""One fit: coefficients, held-out error, omitted term; columns that are refused, near both limits."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import TermSelection
from gnomon.discovery.discover import _merge, check_columns, fit, group_terms
from gnomon.discovery.forms.base import RegressionSystem
from gnomon.discovery.term import parse_term

TERMS = [parse_term(t) for t in ("u", "u_x", "u_xx", "u^2")]


def example(blocks=5):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((45, 4)) * [1.0, 20.0, 0.1, 1.0]
    target = rows @ [2.0, 0.0, -3.0, 0.25] + 0.4 * rng.standard_normal(45)
    return RegressionSystem(rows, target, np.arange(45) * blocks // 45, 45.0)


@pytest.mark.parametrize("blocks", [1, 4, 5])
def test_residuals_are_those_of_least_squares_on_halves_of_the_blocks(blocks):
    system = example(blocks)
    found = fit("u_t", system, [(t,) for t in TERMS], TermSelection(draws=5, floor=0.2))
    chosen = [i for i, t in enumerate(TERMS) if t.name in found.terms]
    assert 1 <= len(chosen) <= 3
    a, y = system.columns[:, chosen], system.target

    def left(columns):
        rest = columns @ np.linalg.lstsq(columns, y, rcond=None)[0] - y
        return np.linalg.norm(rest) / np.linalg.norm(y)

    assert found.coefficients == pytest.approx(np.linalg.lstsq(a, y, rcond=None)[0])
    assert found.residuals.misfit == pytest.approx(left(a))
    first = np.arange(45) % 2 == 0 if blocks == 1 else system.blocks < (2 if blocks == 4 else 3)
    weights = np.linalg.lstsq(a[first], y[first], rcond=None)[0]
    held_out = np.linalg.norm(a[~first] @ weights - y[~first]) / np.linalg.norm(y[~first])
    assert found.residuals.held_out == pytest.approx(held_out)
    more = {i: left(system.columns[:, sorted([*chosen, i])]) for i in range(4) if i not in chosen}
    best = min(more, key=more.get)
    assert found.residuals.omitted == TERMS[best].name
    assert found.residuals.gain == pytest.approx(1 - more[best] / left(a), rel=1e-6)


def test_a_law_with_all_terms_omits_none():
    system = example()
    exact = RegressionSystem(system.columns, system.columns @ [2.0, 1.0, -3.0, 4.0], system.blocks, 45.0)
    found = fit("u_t", exact, [(t,) for t in TERMS], TermSelection(draws=2, floor=1e-5))
    assert len(found.terms) == 4 and found.residuals.omitted == "" and found.residuals.gain == 0.0


def test_tied_terms_are_one_column_at_the_end():
    groups = group_terms(TERMS, (("u_x", "u_xx"),))
    assert [[t.name for t in g] for g in groups] == [["u"], ["u^2"], ["u_x", "u_xx"]]
    system = example()
    merged = _merge(system, TERMS, groups)
    np.testing.assert_allclose(merged.columns[:, 2], system.columns[:, 1] + system.columns[:, 2])
    np.testing.assert_allclose(merged.columns[:, 1], system.columns[:, 3])
    assert merged.independent == 45.0


@pytest.mark.parametrize("rows", [3, 40])
def test_columns_that_depend_on_each_other_are_named_and_others_are_not(rows):
    """The third column is the sum of the first two up to a part that decides; sizes of columns do not matter."""
    rng = np.random.default_rng(1)
    base = np.linalg.qr(rng.standard_normal((rows, 3)))[0]
    for apart, fine in ((4e-9, True), (4e-10, False)):
        columns = np.stack([base[:, 0], 1e5 * base[:, 1], base[:, 0] + base[:, 1] + apart * base[:, 2]], 1)
        if fine:
            check_columns(columns, ["a", "b", "c"])
        else:
            with pytest.raises(InputError, match="the terms a, b, c depend"):
                check_columns(columns, ["a", "b", "c"])
    twins = np.stack([base[:, 0], base[:, 1], 3 * base[:, 0]], 1)
    with pytest.raises(InputError, match="the terms a, c depend"):
        check_columns(twins, ["a", "b", "c"])
    nearly = np.stack([base[:, 0], base[:, 1], base[:, 0] + 0.1 * base[:, 1]], 1)
    with pytest.raises(InputError, match="the terms a, b, c depend"):  # b has a tenth of the weight of the others
        check_columns(nearly, ["a", "b", "c"])
    faint = np.stack([base[:, 0], base[:, 1], base[:, 0] + 0.03 * base[:, 1]], 1)
    with pytest.raises(InputError, match="the terms a, c depend"):
        check_columns(faint, ["a", "b", "c"])


def test_fewer_rows_than_columns_always_depend_and_vanishing_columns_are_named():
    with pytest.raises(InputError, match="depend on each other"):
        check_columns(np.random.default_rng(0).standard_normal((2, 3)), ["a", "b", "c"])
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((9, 3))
    rows /= np.linalg.norm(rows, axis=0)
    check_columns(rows * [1.0, 2e-14, 1.0], ["a", "b", "c"])
    with pytest.raises(InputError, match="the terms b vanish"):
        check_columns(rows * [1.0, 0.9e-14, 1.0], ["a", "b", "c"])


def test_dependence_is_relative_to_the_largest_singular_value():
    """Nine columns in nearly one direction: singular values of 3 and of 1e-9 or 5e-9."""
    base = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 10)))[0]
    names = [str(i) for i in range(9)]
    check_columns(base[:, :1] + 5e-9 * base[:, 1:], names)
    with pytest.raises(InputError, match="depend"):
        check_columns(base[:, :1] + 1e-9 * base[:, 1:], names)
