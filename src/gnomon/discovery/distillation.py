"""Approximates a trained network by an equation with few terms, and compares both outside the training range.

    c* = argmin_c sum_i |f(x_i) - sum_j c_j theta_j(x_i)|^2  with few nonzero c_j                                (1)
    fidelity = 1 - |f - sum_j c_j theta_j|^2 / |f - mean f|^2                                                  (2)

Hypotheses: the network computes, up to its errors, a sum of few terms of the library.
Reference: [cranmer2020discovering].
Cost: one forward pass, and `discover`'s regression.

>>> shift = nn.Conv1d(1, 1, 3, padding=1, padding_mode="circular", bias=False)
>>> with torch.no_grad():
...     _ = shift.weight.copy_(torch.tensor([[[-0.5, 0.0, 0.5]]]))            # central difference, steps of 1
>>> x = torch.sin(0.1 * torch.arange(63.0) * torch.arange(1.0, 9)[:, None])[:, None]
>>> distill_equation(shift, TermLibrary(degree=1, order=2), x, dx=1.0).equation.terms
('u_x',)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_type
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.discovery.candidates import TermLibrary
from gnomon.discovery.derivatives import AbstractDerivative, FiniteDifferenceDerivative
from gnomon.discovery.discover import check_columns, fit, group_terms
from gnomon.discovery.equation import Equation
from gnomon.discovery.forms.base import RegressionSystem, block_numbers
from gnomon.discovery.forms.pointwise import SKIPPED_EDGE_SHARE, term_values
from gnomon.discovery.grid import GridData, step
from gnomon.discovery.regression import TermSelection

__all__ = ["DistilledEquation", "ExtrapolationGap", "distill_equation", "extrapolation_gap"]

BOOTSTRAP_BLOCKS = 16
"""Maximum number of blocks of rows for the bootstrap."""
MIN_OPERATOR_SHARE = 0.03
"""Operators below this share of the output count as errors of the network: trained ones have discretization errors too.
"""


@dataclass(frozen=True, slots=True)
class DistilledEquation(Result):
    """Result: the equation that approximates a network, and the fraction of the output's variance that it explains."""

    equation: Equation
    fidelity: float

    @property
    def verdict(self) -> str:
        """States in one sentence the equation that approximates the network, and how well."""
        known = "computes, up to its errors," if self.fidelity > 0.95 else "computes only in part"
        return f"The network {known} {self.equation}; this explains {self.fidelity:.2%} of its variation."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the size of each coefficient of the equation."""
        bars = Bars("coefficient", self.equation.terms, [abs(c) for c in self.equation.coefficients])
        return (Plot("Operators in the network", (bars,), Axis("|coefficient|")),)


@add_call_to_errors
def distill_equation(
    module: nn.Module, library: TermLibrary, data: Any, *, dx: Any = None, derivative: AbstractDerivative | None = None,
    selection: TermSelection | None = None,
) -> DistilledEquation:  # fmt: skip
    """Approximates a trained network by an equation with few known terms, found by sparse regression.

    See equation (1) of the module docstring.
    With ``dx`` the network maps fields to fields, (n, points) or (n, 1, points), and the library has derivatives over
    x; without it the network maps rows of a table to one number, and the library has the columns x1, x2, ...
    Hypotheses: see the module.
    Reference: [cranmer2020discovering].
    Cost: one forward pass, and the regression.

    >>> sums = nn.Linear(2, 1)
    >>> _ = nn.init.constant_(sums.bias, 1.0), nn.init.constant_(sums.weight, 2.0)
    >>> x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    >>> found = distill_equation(sums, TermLibrary(degree=2), x)
    >>> found.equation.terms, round(found.fidelity, 4)
    (('1', 'x1', 'x2'), 1.0)
    """
    check_module_is_callable(module)
    check_type("library", library, TermLibrary, fix="Pass gnomon.discovery.TermLibrary(...)")
    inputs = all_inputs(data, module)
    if not isinstance(inputs, Tensor) or inputs.dim() < 2:
        raise InputError("x is not a table", accepted="rows of numbers or fields", fix="Pass a tensor (n, ...)")
    found = outputs_in_eval_mode(module, inputs).double().cpu().numpy()
    rows = inputs.reshape(len(inputs), -1).double().cpu().numpy()
    grid, target, keep = _fields(rows, found, dx) if dx is not None else _columns(rows, found)
    terms = library.terms(tuple(grid.fields), grid.letters[:-1])
    rule, cache = derivative or FiniteDifferenceDerivative(6), {}  # type: ignore[var-annotated]
    columns = np.stack([term_values(grid, term, rule, rule, cache)[keep].ravel() for term in terms], 1)
    check_columns(columns, [term.name for term in terms])
    count = min(BOOTSTRAP_BLOCKS, len(columns))
    system = RegressionSystem(columns, target[keep].ravel(), block_numbers((len(columns),), (count,)), float(len(rows)))
    law = fit("network", system, group_terms(terms, ()), selection or TermSelection(floor=MIN_OPERATOR_SHARE))
    chosen = columns[:, [[t.name for t in terms].index(name) for name in law.terms]]
    rest = system.target - chosen @ np.asarray(law.coefficients)
    around = float(np.sum((system.target - system.target.mean()) ** 2))
    return DistilledEquation(law, 1 - float(np.sum(rest**2)) / max(around, 1e-300))  # (2)


def _fields(rows: np.ndarray, found: np.ndarray, dx: Any) -> tuple[GridData, np.ndarray, tuple[slice, ...]]:
    if found.shape != rows.shape:
        text = f"fields of {rows.shape[1]} points gave {found.shape[1]} outputs"
        raise InputError(text, accepted="a value at each point", fix="Pass a module that maps fields to fields")
    h, edge = step(dx, rows.shape[1], "dx"), max(4, int(SKIPPED_EDGE_SHARE * rows.shape[1]))
    return GridData({"u": rows.T}, {"x": h, "t": 1.0}), found.T, (slice(edge, -edge), slice(None))


def _columns(rows: np.ndarray, found: np.ndarray) -> tuple[GridData, np.ndarray, tuple[slice, ...]]:
    if found.shape[1] != 1:
        fix = "Pass a module with one output, or dx for fields"
        raise InputError(f"the network has {found.shape[1]} outputs", accepted="one number for each row", fix=fix)
    return GridData({f"x{i + 1}": rows[:, i] for i in range(rows.shape[1])}, {"t": 1.0}), found[:, 0], (slice(None),)


@dataclass(frozen=True, slots=True)
class ExtrapolationGap(Result):
    """Result: relative errors of a network and of an equation, inside and outside the range of the training data.

    >>> ExtrapolationGap(0.01, 0.5, 0.001, 0.002).ratio
    250.0
    """

    model_inside: float
    model_outside: float
    law_inside: float
    law_outside: float

    @property
    def ratio(self) -> float:
        """Returns the network's error divided by the equation's error, outside the range of the training data."""
        return self.model_outside / max(self.law_outside, 1e-300)

    @property
    def verdict(self) -> str:
        """States in one sentence the errors of network and equation, inside and outside the training range."""
        return (
            f"Outside the range of the data the network is wrong by {self.model_outside:.2%} and the law by "
            f"{self.law_outside:.2%}; inside by {self.model_inside:.2%} and {self.law_inside:.2%}."
        )


@add_call_to_errors
def extrapolation_gap(
    module: Callable[[Any], Any], law: Callable[[Any], Any], inside: tuple[Any, Any], outside: tuple[Any, Any]
) -> ExtrapolationGap:
    """Compares the errors of a network and of an equation inside and outside the range of the training data.

    Cost: a call of both on both sets.

    >>> x = torch.linspace(0, 1, 5)
    >>> extrapolation_gap(torch.tanh, lambda x: x, (x, x), (x + 3, x + 3)).law_outside
    0.0
    """

    @torch.no_grad()
    def error(function: Callable[[Any], Any], pair: tuple[Any, Any]) -> float:
        made, y = (np.asarray(v, dtype=np.float64) for v in (function(pair[0]), pair[1]))
        if made.reshape(-1).shape != y.reshape(-1).shape:
            found = f"{made.size} values for {y.size} targets"
            raise InputError(found, accepted="a value for each target", fix="Check x and y")
        return float(np.linalg.norm(made.ravel() - y.ravel()) / max(float(np.linalg.norm(y)), 1e-300))

    return ExtrapolationGap(error(module, inside), error(module, outside), error(law, inside), error(law, outside))
