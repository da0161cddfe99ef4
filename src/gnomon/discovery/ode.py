"""Finds ordinary differential equations from trajectories, explicit or implicit.

    dx_i/dt = sum_j c_ij theta_j(x)                                                                             (1)
    theta_l(x, dx/dt) = sum_{j != l} c_j theta_j(x, dx/dt)    for the left side l that is explained best        (2)

Hypotheses: equal steps in time; right-hand sides with few terms of the library.
Reference: [brunton2016discovering], (1); [kaheman2020sindy], (2).
Cost: (1) as `discover`; (2) a selection for each term of the library.

>>> t = np.linspace(0, 10, 400)
>>> found = discover_ode(np.stack([np.cos(2 * t), -2 * np.sin(2 * t)], 1), t, names=("p", "q"),
...                      library=TermLibrary(degree=1))
>>> [str(equation) for equation in found.equations]
['p_t = 1*q', 'q_t = -4*p']
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.discovery.candidates import TermLibrary
from gnomon.discovery.derivatives import AbstractDerivative, LocalPolynomialDerivative
from gnomon.discovery.discover import check_columns, fit, search
from gnomon.discovery.equation import Equation
from gnomon.discovery.forms import AbstractRegressionForm, RegressionSystem, WeakForm
from gnomon.discovery.forms.base import block_numbers
from gnomon.discovery.forms.pointwise import SKIPPED_EDGE_SHARE, term_values
from gnomon.discovery.grid import GridData, read
from gnomon.discovery.record import Discovery
from gnomon.discovery.regression import RegressionMoments, TermSelection, choice
from gnomon.discovery.term import Term, TermFactor, product

__all__ = ["discover_implicit", "discover_ode"]


@add_call_to_errors
def discover_ode(
    x: Any, dt: Any, *, names: Sequence[str] | None = None, library: TermLibrary | None = None,
    form: AbstractRegressionForm | None = None, selection: TermSelection | None = None, constraints: Sequence[str] = (),
) -> Discovery:  # fmt: skip
    """Finds the system of ordinary differential equations that a trajectory (times, variables) follows.

    ``constraints`` are linear relations of coefficients as text, such as ``"x_t[y] + y_t[x] = 0"``.

    Hypotheses: see the module.
    Reference: [brunton2016discovering], with the weak form of [messenger2021weak].
    Cost: as `discover`.

    >>> t = np.linspace(0, 3, 200)
    >>> discover_ode(np.exp(-0.5 * t), t, library=TermLibrary(degree=1)).terms
    ('x',)
    """
    lib = TermLibrary(degree=2) if library is None else library
    fields = _name(x, names)
    data = read(fields, (), dt, known=lib.known, functions=lib.functions)
    return search(data, lib, form or WeakForm(), selection or TermSelection(), 1, constraints)


@add_call_to_errors
def discover_implicit(
    x: Any, dt: Any, *, names: Sequence[str] | None = None, degree: int = 2,
    derivative: AbstractDerivative | None = None, selection: TermSelection | None = None,
) -> Equation:  # fmt: skip
    """Finds an implicit differential equation, such as x' + x*x' = x, that a trajectory satisfies.

    The library is all products of at most ``degree`` variables, and the same times the derivative of each variable.
    Hypotheses: see the module; samples so fine and clean that derivatives are known.
    Reference: [kaheman2020sindy].
    Cost: a selection for each term of the library.

    >>> from scipy.integrate import solve_ivp
    >>> t = np.linspace(0, 4, 400)
    >>> x = solve_ivp(lambda t, x: -x / (1 + x), (0, 4), [3.0], t_eval=t, rtol=1e-10, atol=1e-12).y[0]
    >>> law = discover_implicit(x, t, degree=1)
    >>> sorted([law.target, *law.terms])
    ['x', 'x*x_t', 'x_t']
    """
    data = read(_name(x, names), (), dt)
    still = TermLibrary(degree=check_integer("degree", degree)).terms(tuple(data.fields), "")
    moving = [product(*term.factors, TermFactor(name, "t")) for name in data.fields for term in still]
    terms = [*still, *moving]
    rule = derivative or LocalPolynomialDerivative()
    cache: dict[tuple[str, str], np.ndarray] = {}
    edge = int(SKIPPED_EDGE_SHARE * data.shape[0])
    columns = np.stack([term_values(data, term, rule, rule, cache) for term in terms], 1)[edge : data.shape[0] - edge]
    check_columns(columns, [term.name for term in terms])
    blocks = block_numbers((len(columns),), (min(16, len(columns)),))
    ways = _regressions_by_left_side(data, columns, terms, blocks, selection or TermSelection())
    if not ways:
        fix = "Raise degree, or sample more finely"
        raise InputError(
            "no relation between the library terms was found that contains a derivative", accepted="a law", fix=fix
        )
    system, rest, target = min(ways, key=lambda way: way[0])[1:]
    return fit(target, system, [(term,) for term in rest], selection or TermSelection())


def _regressions_by_left_side(
    data: GridData, columns: np.ndarray, terms: Sequence[Term], blocks: np.ndarray, selection: TermSelection
) -> list[tuple[float, RegressionSystem, list[Term], str]]:
    """Tries each term as the left side of an implicit equation; returns each regression with its selection
    criterion.
    """
    found = []
    for left, term in enumerate(terms):
        others = [j for j in range(len(terms)) if j != left]
        system = RegressionSystem(columns[:, others], columns[:, left], blocks, 16.0)
        best = choice(RegressionMoments.of(system.columns, system.target, 16.0), selection)
        rest = [terms[j] for j in others]
        if any(t.derived for t in (term, *(rest[j] for j in best.support))) and best.support:
            found.append((best.criterion, system, rest, term.name))
    return found


def _name(x: Any, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    values = np.asarray(x.detach().cpu() if hasattr(x, "detach") else x)
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2:
        fix = "Pass a table (times, variables)"
        raise InputError(f"x has the shape {values.shape}", accepted="a trajectory", fix=fix)
    known = names or (
        tuple("xyz"[: table.shape[1]]) if table.shape[1] <= 3 else [f"x{i + 1}" for i in range(table.shape[1])]
    )
    if len(known) != table.shape[1]:
        found = f"{len(known)} names and {table.shape[1]} variables"
        raise InputError(found, accepted="a name for each variable", fix="Pass as many names as columns")
    return {str(name): table[:, i] for i, name in enumerate(known)}
