import numpy as np

from gnomon.discovery import TermLibrary, TermSelection, WeakForm, discover

X, T = np.linspace(0, 2 * np.pi, 128, endpoint=False), np.linspace(0, 1, 100)
U = sum(np.exp(-0.1 * k * k * T) * np.sin(k * X[:, None] + k) for k in (1, 2, 3, 5))
SMALL = TermLibrary(degree=2, order=2)


def error(u, form=None, selection=None):
    (found,) = discover(u, X[1], T[1], library=SMALL, form=form, selection=selection).equations
    assert found.terms == ("u_xx",)
    return abs(found.coefficients[0] / 0.1 - 1), found.errors[0] / 0.1


def test_clean_data_are_read_with_wider_bumps_and_noisy_data_are_not():
    """The sums over the grid err less and less with the points on a bump; noise is averaged best by the matched ones."""
    first = WeakForm(half_widths=WeakForm()._half_widths(_data(U)))
    narrow, wide = error(U, first), error(U)
    assert wide[0] < narrow[0] / 10 and wide[1] < narrow[1] / 10
    noisy = U + 0.05 * np.random.default_rng(0).standard_normal(U.shape)
    matched = WeakForm(half_widths=WeakForm()._half_widths(_data(noisy)))
    assert error(noisy) == error(noisy, matched)


def test_without_replicates_there_is_nothing_to_compare_and_nothing_changes():
    first = WeakForm(half_widths=WeakForm()._half_widths(_data(U)))
    none = TermSelection(draws=0)
    assert error(U, selection=none)[0] == error(U, first, none)[0]


def _data(u):
    from gnomon.discovery.grid import read

    return read(u, X[1], T[1])


def equation(target, misfit, **terms):
    from gnomon.discovery.equation import Equation, Residuals

    coefficients, errors = zip(*terms.values(), strict=True)
    return Equation(target, tuple(terms), coefficients, errors, {}, (), Residuals(misfit, misfit, "", 0.0))


class Widths:
    """Forms with given systems, the first of which are counted."""

    def __init__(self, systems):
        self.made = [Wide(s) for s in systems]

    def wider(self, data):
        return self.made


class Wide:
    def __init__(self, systems):
        self.given, self.asked = systems, 0

    def systems(self, data, terms, order):
        self.asked += 1
        return dict(enumerate(self.given))


def test_wider_bumps_are_taken_while_relative_errors_fall_and_only_without_noise():
    """Tied columns are added; the doubt is the sum of errors over coefficients of all equations."""
    import pytest

    from gnomon.discovery.forms.base import RegressionSystem
    from gnomon.discovery.refinement import _doubt, refit_equations
    from gnomon.discovery.term import parse_term

    groups = [(parse_term("u"),), (parse_term("u_x"), parse_term("u_y")), (parse_term("u^2"),)]
    rng = np.random.default_rng(0)

    def system(noise):
        columns = rng.standard_normal((60, 3))
        target = 2 * columns[:, 0] - 0.5 * (columns[:, 1] + columns[:, 2]) + noise * rng.standard_normal(60)
        return RegressionSystem(columns, target, np.arange(60) // 6, 60.0)

    first = equation("u_t", 0.9e-4, u=(2.1, 0.3), u_x=(-0.4, 0.1), u_y=(-0.4, 0.1))
    assert _doubt(first) == pytest.approx(0.3 / 2.1 + 0.25 + 0.25)
    forms = Widths([[system(0.1)], [system(0.01)], [system(1.0)], [system(1e-3)]])
    (found,) = refit_equations([first], None, forms, groups, TermSelection(draws=20), 1)
    assert [wide.asked for wide in forms.made] == [1, 1, 1, 0]
    used = forms.made[1].given[0]
    a = np.stack([used.columns[:, 0], used.columns[:, 1] + used.columns[:, 2]], 1)
    weights = np.linalg.lstsq(a, used.target, rcond=None)[0]
    assert found.coefficients == pytest.approx((weights[0], weights[1], weights[1]))
    made = []
    for draw in np.random.default_rng(0).integers(10, size=(20, 10)):
        index = np.concatenate([np.flatnonzero(used.blocks == b) for b in draw])
        made.append(np.linalg.lstsq(a[index], used.target[index], rcond=None)[0])
    spread = np.std(made, axis=0)
    assert found.errors == pytest.approx((spread[0], spread[1], spread[1]), rel=1e-6)
    noisy = equation("u_t", 1.1e-4, u=(2.1, 0.3), u_x=(-0.4, 0.1), u_y=(-0.4, 0.1))
    forms = Widths([[system(0.01)]])
    assert refit_equations([noisy], None, forms, groups, TermSelection(draws=20), 1) == [noisy]
    assert forms.made[0].asked == 0


def test_one_doubt_is_that_of_all_equations_together():
    from gnomon.discovery.forms.base import RegressionSystem
    from gnomon.discovery.refinement import _doubt, refit_equations
    from gnomon.discovery.term import parse_term

    rng = np.random.default_rng(1)
    rows = rng.standard_normal((40, 1))
    system = RegressionSystem(rows, rows[:, 0] + 0.3 * rng.standard_normal(40), np.arange(40) // 4, 40.0)
    groups, selection = [(parse_term("u"),)], TermSelection(draws=20)
    (again,) = refit_equations([equation("u_t", 0.0, u=(1.0, 9.0))], None, Widths([[system]]), groups, selection, 1)
    doubt = _doubt(again)
    for other, better in ((1.2 * doubt, True), (0.8 * doubt, False)):
        pair = [equation("u_t", 0.0, u=(1.0, doubt)), equation("v_t", 0.0, u=(1.0, other))]
        found = refit_equations(pair, None, Widths([[system, system]]), groups, selection, 1)
        assert (found[0].coefficients != (1.0,)) == better
