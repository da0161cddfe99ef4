"""Finds the differential equation that data follow: a sum of few terms from a library.

    c* = argmin_c |u_t - Theta(u) c|^2 with few nonzero c_j                                                     (1)

The equation is tested with smooth bumps (`WeakForm`), so that noisy data are never differentiated more than a product
needs; supports come from sequential thresholded ridge and from elimination, a criterion with a floor for numerical
errors chooses among them, and a bootstrap over blocks of the data measures how certain the choice is.

>>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 1, 50)
>>> u = sum(np.exp(-0.1 * k * k * t) * np.sin(k * x[:, None] + k) for k in (1, 2, 3, 5))
>>> found = discover(u, x[1], t[1], library=TermLibrary(degree=2, order=2))
>>> found.terms, [round(c, 4) for c in found.coefficients]
(('u_xx',), [0.1])
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_type
from gnomon.core.machine.threads import single_threaded_products
from gnomon.discovery.candidates import TermLibrary
from gnomon.discovery.constrained import fit_with_constraints
from gnomon.discovery.equation import Equation, Residuals
from gnomon.discovery.forms import AbstractRegressionForm, RegressionSystem, WeakForm
from gnomon.discovery.grid import GridData, read
from gnomon.discovery.record import Discovery
from gnomon.discovery.refinement import refit_equations
from gnomon.discovery.regression import RegressionMoments, TermSelection, choice, path
from gnomon.discovery.stability import resample_terms
from gnomon.discovery.term import Term, parse_term

__all__ = ["discover"]

MIN_SINGULAR_VALUE_SHARE = 1e-9
"""Smallest singular value, as a share of the largest, at which columns count as independent in 16 digits."""


@add_call_to_errors
def discover(
    u: Any, dx: Any, dt: Any, *, library: TermLibrary | None = None, form: AbstractRegressionForm | None = None,
    selection: TermSelection | None = None, time_order: int = 1, constraints: Sequence[str] = (),
) -> Discovery:  # fmt: skip
    """Finds the partial differential equation that data on a grid follow, by sparse regression.

    See equation (1) of the module docstring.

    Args:
        u: an array with the axes (x, time), (x, y, time) or (x, y, z, time), or a dict of such arrays by name; complex
            values are allowed.
        dx: the step of the grid in space, or its coordinates; a tuple of these for two or three directions.
        dt: the step in time, or the times.
        library: the terms that the equation may have; by default all products of u, u^2, u^3 with derivatives up to the
            fourth order.
        form: `WeakForm` or `Pointwise`, with their options.
        selection: how terms are chosen, and the replicates of the bootstrap.
        time_order: 2 for equations such as u_tt = c^2 u_xx.
        constraints: linear relations of coefficients as text, such as ``"u_t[v] + v_t[u] = 0"``.

    Hypotheses: a uniform grid; a right-hand side that is a sum of few terms of the library.
    Reference: [rudy2017data], with the weak form of [messenger2021weak].
    Cost: for each term a product of the data with short matrices; then small matrices only.

    >>> x, t = np.linspace(0, 10, 100), np.linspace(0, 2, 60)
    >>> moving = np.exp(-(x[:, None] - 4 - t) ** 2) + np.exp(-2 * (x[:, None] - 6 - t) ** 2)
    >>> str(discover(moving, x, t, library=TermLibrary(degree=1, order=2)).equations[0])
    'u_t = -1*u_x'
    """
    lib = TermLibrary() if library is None else library
    check_type("library", lib, TermLibrary, fix="Pass gnomon.discovery.TermLibrary(...)")
    data = read(u, dx, dt, known=lib.known, functions=lib.functions)
    return search(data, lib, form or WeakForm(), selection or TermSelection(), time_order, constraints)


def search(
    data: GridData, library: TermLibrary, form: AbstractRegressionForm, selection: TermSelection, time_order: int,
    constraints: Sequence[str]
) -> Discovery:  # fmt: skip
    """Returns the discovered equation of each field, for data that are already validated."""
    check_type("form", form, AbstractRegressionForm, fix="Pass WeakForm() or Pointwise()")
    check_type("selection", selection, TermSelection, fix="Pass gnomon.discovery.TermSelection(...)")
    order = check_integer("time_order", time_order)
    terms = library.terms(tuple(data.fields), data.letters[:-1], modulus=data.is_complex)
    groups = group_terms(terms, library.tied)
    with single_threaded_products():  # One thread, because more threads slow down products of such small matrices.
        found, systems = [], []
        for name, system in form.systems(data, terms, order).items():
            systems.append(_merge(system, terms, groups))
            check_columns(systems[-1].columns, [_name(group) for group in groups])
            found.append(fit(f"{name}_{'t' * order}", systems[-1], groups, selection.checked()))
        if constraints:
            return Discovery(fit_with_constraints(found, systems, groups, tuple(constraints), selection), data)
        return Discovery(tuple(refit_equations(found, data, form, groups, selection, order)), data)


def fit(
    target: str, system: RegressionSystem, groups: Sequence[tuple[Term, ...]], selection: TermSelection
) -> Equation:
    """Returns the equation with few terms that fits one linear regression, with bootstrap statistics and residuals."""
    moments = RegressionMoments.of(system.columns, system.target, system.independent)
    known = path(moments, selection)
    best = choice(moments, selection, known)
    support = best.support
    weights = _least_squares(system.columns[:, list(support)], system.target)  # (1)
    inclusion, spread = resample_terms(system, support, selection)
    expanded = [(t.name, w, s) for j, w, s in zip(support, weights, spread, strict=True) for t in groups[j]]
    plain = complex if np.iscomplexobj(weights) else float
    return Equation(
        target,
        tuple(name for name, _, _ in expanded),
        tuple(plain(w) for _, w, _ in expanded),
        tuple(float(s) for _, _, s in expanded),
        {t.name: float(p) for group, p in zip(groups, inclusion, strict=True) for t in group},
        known,
        _residuals(system, support, best.misfit, moments, [_name(group) for group in groups]),
    )


def _residuals(
    system: RegressionSystem, support: tuple[int, ...], misfit: float, moments: RegressionMoments, names: list[str]
) -> Residuals:
    chosen, y = list(support), system.target
    first = np.arange(len(y)) % 2 == 0 if system.count < 2 else system.blocks < (system.count + 1) // 2
    fitted = _least_squares(system.columns[first][:, chosen], y[first])
    second = y[~first]
    rest, size = system.columns[~first][:, chosen] @ fitted - second, float(np.linalg.norm(second))
    apart = float(np.linalg.norm(rest)) / max(size, 1e-300)
    others = moments.misfits_with(support)
    j = int(np.argmin(others))
    if not np.isfinite(others[j]):
        return Residuals(misfit, apart, "", 0.0)
    return Residuals(misfit, apart, names[j], 1 - float(others[j]) ** 0.5 / misfit if misfit > 0 else 0.0)


def check_columns(columns: np.ndarray, names: Sequence[str]) -> None:
    """Raises an error that names library terms that are zero or linearly dependent on these data."""
    norms = np.linalg.norm(columns, axis=0)
    zero = [name for name, norm in zip(names, norms, strict=True) if norm <= 1e-14 * norms.max()]
    if zero:
        fix = "Leave them out with TermLibrary(only=...), or lower degree and order"
        raise InputError(
            f"the terms {', '.join(zero)} vanish on these data", accepted="terms that do not vanish", fix=fix
        )
    short = np.linalg.qr(columns / norms, mode="r") if len(columns) > len(names) else columns / norms
    _, sizes, right = np.linalg.svd(short, full_matrices=False)
    if len(columns) < len(names) or sizes[-1] < MIN_SINGULAR_VALUE_SHARE * sizes[0]:
        vector = np.abs(right[-1])
        involved = [name for name, v in zip(names, vector, strict=True) if v > 0.05 * vector.max()]
        found = f"on these data the terms {', '.join(involved)} depend on each other"
        fix = "Leave one of them out with TermLibrary(only=...), or use data with more variation"
        raise InputError(found, accepted="independent terms", fix=fix)


def group_terms(terms: Sequence[Term], tied: Sequence[Sequence[str]]) -> list[tuple[Term, ...]]:
    """Groups the candidate terms that must share one coefficient; each other term is a group of its own."""
    ties = [tuple(parse_term(text) for text in tie) for tie in tied]
    unknown = [t.name for tie in ties for t in tie if t not in terms]
    if unknown:
        found = f"the tied terms {', '.join(unknown)} are not in the library"
        raise InputError(found, accepted="tied terms of the library", fix="Name them as the library does")
    bound = {term for tie in ties for term in tie}
    return [(term,) for term in terms if term not in bound] + ties


def _merge(system: RegressionSystem, terms: Sequence[Term], groups: Sequence[tuple[Term, ...]]) -> RegressionSystem:
    if len(groups) == len(terms):
        return system
    place = {term: i for i, term in enumerate(terms)}
    columns = np.stack([system.columns[:, [place[t] for t in group]].sum(1) for group in groups], 1)
    return RegressionSystem(columns, system.target, system.blocks, system.independent)


def _name(group: tuple[Term, ...]) -> str:
    return " + ".join(term.name for term in group)


def _least_squares(columns: np.ndarray, target: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(columns, target, rcond=None)[0] if columns.shape[1] else np.zeros(0)
