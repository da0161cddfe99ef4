import numpy as np

from gnomon.discovery import Library, Selection, WeakForm, discover

X, T = np.linspace(0, 2 * np.pi, 128, endpoint=False), np.linspace(0, 1, 100)
U = sum(np.exp(-0.1 * k * k * T) * np.sin(k * X[:, None] + k) for k in (1, 2, 3, 5))
SMALL = Library(degree=2, order=2)


def error(u, form=None, selection=None):
    (found,) = discover(u, X[1], T[1], library=SMALL, form=form, selection=selection).equations
    assert found.terms == ("u_xx",)
    return abs(found.coefficients[0] / 0.1 - 1), found.errors[0] / 0.1


def test_clean_data_are_read_with_wider_bumps_and_noisy_data_are_not():
    """The sums over the grid err less and less with the points on a bump; noise is averaged best by the matched ones."""
    first = WeakForm(half_widths=WeakForm()._half_widths(_data(U), ""))
    narrow, wide = error(U, first), error(U)
    assert wide[0] < narrow[0] / 10 and wide[1] < narrow[1] / 10
    noisy = U + 0.05 * np.random.default_rng(0).standard_normal(U.shape)
    matched = WeakForm(half_widths=WeakForm()._half_widths(_data(noisy), ""))
    assert error(noisy) == error(noisy, matched)


def test_without_replicates_there_is_nothing_to_compare_and_nothing_changes():
    first = WeakForm(half_widths=WeakForm()._half_widths(_data(U), ""))
    none = Selection(replicates=0)
    assert error(U, selection=none)[0] == error(U, first, none)[0]


def _data(u):
    from gnomon.discovery.grid import read

    return read(u, X[1], T[1], call="")
