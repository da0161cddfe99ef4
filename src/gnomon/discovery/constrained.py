"""Fits the coefficients of equations under linear constraints, such as the ones that conserved quantities imply.

    c* = argmin_c sum_e |A_e c_e - y_e|^2 / |y_e|^2    with    C c = d,    c the coefficients of all equations   (1)

A relation is text: ``"x_t[y] + y_t[x] = 0"`` ties the coefficient of y in the equation of x_t to the coefficient of x
in the equation of y_t. Terms are chosen without the relations; then each relation that names a chosen term brings in
all terms that it names, and (1) is solved on them.
Hypotheses: relations that do not contradict each other.
Reference: [loiseau2018constrained].
Cost: one small least-squares problem, and one for each replicate of the bootstrap.

>>> parse_constraint("x_t[y] + 2*y_t[x*y] = 0.5")
({('x_t', 'y'): 1.0, ('y_t', 'x*y'): 2.0}, 0.5)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import null_space

from gnomon.core.errors import InputError
from gnomon.discovery.equation import Equation
from gnomon.discovery.forms import RegressionSystem
from gnomon.discovery.regression import TermSelection
from gnomon.discovery.term import Term, parse_term

__all__ = ["fit_with_constraints", "parse_constraint"]

Relation = tuple[dict[tuple[str, str], float], float]
"""Weights of coefficients by target and term, and what their sum must be."""
PIECE = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<weight>\d[\d.]*(?:[eE][+-]?\d+)?)\*?)?(?:(?P<target>\w+_t+)\[(?P<term>[^\]]+)\])?"
)


def parse_constraint(text: str) -> Relation:
    """Parses a linear constraint on coefficients, such as "a + b = 1", into factors by term and a constant.

    >>> parse_constraint("u_t[u_xx] = u_t[u_yy]")
    ({('u_t', 'u_xx'): 1.0, ('u_t', 'u_yy'): -1.0}, 0.0)
    """
    left, equal, right = text.replace(" ", "").partition("=")
    weights: dict[tuple[str, str], float] = {}
    constant = 0.0
    for side, sign in ((left, 1.0), (right, -1.0)):
        place = 0
        while place < len(side):
            found = PIECE.match(side, place)
            if found is None or found.end() == place or not (found["weight"] or found["target"]):
                break
            value = sign * (-1.0 if found["sign"] == "-" else 1.0) * float(found["weight"] or 1)
            if found["target"]:
                key = (found["target"], parse_term(found["term"]).name)
                weights[key] = weights.get(key, 0.0) + value
            else:
                constant -= value
            place = found.end()
        if place < len(side):
            equal = ""
    if not equal or not weights:
        fix = "Write relations such as 'x_t[y] + y_t[x] = 0'"
        raise InputError(f"the constraint {text!r} cannot be read", accepted="a linear relation", fix=fix)
    return weights, constant


def fit_with_constraints(
    equations: Sequence[Equation], systems: Sequence[RegressionSystem], groups: Sequence[tuple[Term, ...]],
    texts: Sequence[str], selection: TermSelection
) -> tuple[Equation, ...]:  # fmt: skip
    """Fits equations whose coefficients satisfy linear constraints such as "a + b = 1".

    See equation (1) of the module docstring.
    Cost: see the module.

    >>> from gnomon.discovery import TermLibrary, discover_ode
    >>> t = np.arange(0, 10, 0.01)
    >>> path = np.stack([np.sin(2 * t), np.cos(2 * t)], 1)
    >>> tied = ("x_t[y] + y_t[x] = 0",)
    >>> law = discover_ode(path, t, names=("x", "y"), library=TermLibrary(degree=1), constraints=tied)
    >>> [round(float(e.coefficients[0]), 3) for e in law.equations]
    [2.0, -2.0]
    """
    relations = [parse_constraint(text) for text in texts]
    group = {term.name: j for j, terms in enumerate(groups) for term in terms}
    places = {equation.target: e for e, equation in enumerate(equations)}
    for weights, _ in relations:
        unknown = [f"{target}[{term}]" for target, term in weights if target not in places or term not in group]
        if unknown:
            found = f"{', '.join(unknown)} is not a coefficient of these equations"
            raise InputError(
                found, accepted="constraints on coefficients", fix="Write targets and terms exactly as in the equations"
            )
    named = [{(places[a], group[b]): w for (a, b), w in weights.items()} for weights, _ in relations]
    chosen = {(e, group[name]) for e, equation in enumerate(equations) for name in equation.terms}
    while more := {key for keys in named if chosen & set(keys) for key in keys} - chosen:
        chosen |= more
    kept = sorted(chosen)
    rows = np.array([[keys.get(key, 0.0) for key in kept] for keys in named if chosen & set(keys)])
    right = np.array([d for keys, (_, d) in zip(named, relations, strict=True) if chosen & set(keys)])
    solver = _Solver(systems, kept, rows.reshape(-1, len(kept)), right)
    spread = solver.spread(selection)
    return tuple(_update(e, equations, groups, kept, solver.best, spread, systems[e]) for e in range(len(equations)))


class _Solver:
    """Solves least squares under linear constraints, by restricting the coefficients to ones that satisfy the
    constraints.
    """

    def __init__(
        self, systems: Sequence[RegressionSystem], kept: Sequence[tuple[int, int]], rows: np.ndarray, right: np.ndarray
    ) -> None:
        self.start = np.linalg.lstsq(rows, right, rcond=None)[0] if len(rows) else np.zeros(len(kept))
        if len(rows) and np.abs(rows @ self.start - right).max() > 1e-9 * max(1.0, float(np.abs(right).max())):
            raise InputError(
                "the constraints contradict each other",
                accepted="constraints with a solution",
                fix="Remove one of the constraints",
            )
        self.free = null_space(rows) if len(rows) else np.eye(len(kept))
        count, p = systems[0].count, len(kept)
        kind = np.result_type(*(s.columns for s in systems), *(s.target for s in systems))
        self.gram, self.cross = np.zeros((count, p, p), dtype=kind), np.zeros((count, p), dtype=kind)
        for e, system in enumerate(systems):
            own = [i for i, (place, _) in enumerate(kept) if place == e]
            scale = max(float(np.linalg.norm(system.target)), 1e-300)
            a, y = system.columns[:, [kept[i][1] for i in own]] / scale, system.target / scale
            for block in range(count):
                inside = system.blocks == block
                self.gram[np.ix_([block], own, own)] = a[inside].conj().T @ a[inside]
                self.cross[block, own] = a[inside].conj().T @ y[inside]
        self.best = self._solve(np.ones(count))

    def _solve(self, times: np.ndarray) -> np.ndarray:
        gram, cross = np.tensordot(times, self.gram, 1), np.tensordot(times, self.cross, 1)
        inner = self.free.T @ gram @ self.free
        moved = np.linalg.lstsq(inner, self.free.T @ (cross - gram @ self.start), rcond=1e-14)[0]
        return self.start + self.free @ moved  # (1)

    def spread(self, selection: TermSelection) -> np.ndarray:
        """Returns the standard deviation of each coefficient over bootstrap samples of the data."""
        count = len(self.gram)
        draw = np.random.default_rng(abs(selection.seed))
        drawn = [np.bincount(draw.integers(count, size=count), minlength=count) for _ in range(selection.draws)]
        solved = [self._solve(times.astype(float)) for times in drawn]
        return np.std(solved, axis=0) if solved else np.full(len(self.best), np.nan)


def _update(
    e: int, equations: Sequence[Equation], groups: Sequence[tuple[Term, ...]], kept: Sequence[tuple[int, int]],
    best: np.ndarray, spread: np.ndarray, system: RegressionSystem,
) -> Equation:  # fmt: skip
    own = [i for i, (place, _) in enumerate(kept) if place == e]
    plain = complex if np.iscomplexobj(best) else float
    told: Mapping[str, tuple[float | complex, float]] = {
        term.name: (plain(best[i]), float(spread[i])) for i in own for term in groups[kept[i][1]]
    }
    rest = system.columns[:, [kept[i][1] for i in own]] @ best[own] - system.target
    misfit = float(np.linalg.norm(rest) / max(float(np.linalg.norm(system.target)), 1e-300))
    return replace(
        equations[e], terms=tuple(told), coefficients=tuple(c for c, _ in told.values()),
        errors=tuple(s for _, s in told.values()), residuals=replace(equations[e].residuals, misfit=misfit),
    )  # fmt: skip
