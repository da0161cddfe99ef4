"""Improves the coefficients of discovered equations for nearly noise-free data, by wider test functions.

The weak form chooses the half widths with the least noise. If only the error of sums over the grid is
left, wider bumps are better: this error falls with the number of points on a bump. Each doubling is kept while it
lowers

    s = sum_j s_j / |c_j|,    s_j the standard error of c_j over the replicates                                  (1)

Hypotheses: a misfit below `MAX_MISFIT_OF_CLEAN_DATA`, so that noise is not what is left.
Reference: [trefethen2014trapezoidal], for sums of smooth functions that vanish at the ends.
Cost: for each doubling a product of the data with short matrices for every term of the equation.

>>> from gnomon.discovery.equation import Residuals
>>> from gnomon.discovery.forms import WeakForm
>>> from gnomon.discovery.term import parse_term
>>> x, t = np.linspace(0, 2 * np.pi, 128, endpoint=False), np.linspace(0, 1, 100)
>>> data = GridData({"u": np.sin(x[:, None] - t) + np.sin(3 * (x[:, None] - t))}, {"x": x[1], "t": t[1]})
>>> rough = Equation("u_t", ("u_x",), (-1.01,), (0.01,), {}, (), Residuals(1e-9, 1e-9, "", 0.0))
>>> terms = [(parse_term("u_x"),)]
>>> rough, = refit_equations([rough], data, WeakForm(), terms, TermSelection(), 1)
>>> abs(rough.coefficients[0] + 1) < 1e-9
True
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnomon.discovery.equation import Equation
from gnomon.discovery.forms import AbstractRegressionForm, RegressionSystem
from gnomon.discovery.grid import GridData
from gnomon.discovery.regression import TermSelection
from gnomon.discovery.stability import resample_terms
from gnomon.discovery.term import Term

__all__ = ["refit_equations"]

MAX_MISFIT_OF_CLEAN_DATA = 1e-4
"""Misfits below this share of the target come from sums over the grid, not from noise."""


def refit_equations(
    found: Sequence[Equation], data: GridData, form: AbstractRegressionForm, groups: Sequence[tuple[Term, ...]],
    selection: TermSelection, order: int
) -> list[Equation]:  # fmt: skip
    """Fits discovered equations again with wider and wider test functions while coefficients get more certain.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [trefethen2014trapezoidal].
    Cost: see the module.

    >>> from gnomon.discovery.forms import WeakForm
    >>> data = GridData({"u": np.ones((2, 3))}, {})
    >>> refit_equations([], data, WeakForm(), [], TermSelection(), 1)
    []
    """
    best = list(found)
    names = {name for equation in best for name in equation.terms}
    kept = [group for group in groups if group[0].name in names]
    clean = bool(kept and selection.draws) and all(
        e.terms and e.residuals.misfit < MAX_MISFIT_OF_CLEAN_DATA for e in best
    )
    for wide in form.wider(data) if clean else ():
        systems = wide.systems(data, [term for group in kept for term in group], order).values()
        again = [_again(e, _of(s, kept, e), kept, selection) for e, s in zip(best, systems, strict=True)]
        if sum(map(_doubt, again)) >= sum(map(_doubt, best)):
            break
        best = again
    return best


def _of(system: RegressionSystem, kept: Sequence[tuple[Term, ...]], equation: Equation) -> RegressionSystem:
    """Returns a regression restricted to the terms of one equation."""
    ends = np.cumsum([0, *(len(group) for group in kept)])
    own = [k for k, group in enumerate(kept) if group[0].name in equation.terms]
    columns = np.stack([system.columns[:, ends[k] : ends[k + 1]].sum(1) for k in own], 1)
    return RegressionSystem(columns, system.target, system.blocks, system.independent)


def _again(
    equation: Equation, system: RegressionSystem, kept: Sequence[tuple[Term, ...]], selection: TermSelection
) -> Equation:
    weights = np.linalg.lstsq(system.columns, system.target, rcond=None)[0]
    spread = resample_terms(system, tuple(range(system.columns.shape[1])), selection)[1]
    own = [group for group in kept if group[0].name in equation.terms]
    plain = complex if np.iscomplexobj(weights) else float
    made = {t.name: (plain(w), float(s)) for group, w, s in zip(own, weights, spread, strict=True) for t in group}
    coefficients, errors = zip(*(made[name] for name in equation.terms), strict=True)
    return replace(equation, coefficients=coefficients, errors=errors)


def _doubt(equation: Equation) -> float:
    return sum(s / abs(c) for s, c in zip(equation.errors, equation.coefficients, strict=True))  # (1)
