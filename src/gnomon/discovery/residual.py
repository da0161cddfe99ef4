"""Measures how well data, or a network that represents a solution, satisfy a differential equation.

    r = left side - right side,    relative residual = |r| / max_j |c_j theta_j|                               (1)

Hypotheses: data on a uniform grid; or a network that is smooth in its inputs.
Reference: [raissi2019physics], (1) on a network.
Cost: the derivatives of the terms.

>>> from gnomon.discovery.derivatives import SpectralDerivative
>>> x, t = np.linspace(0, 2 * np.pi, 32, endpoint=False), np.linspace(0, 1, 40)
>>> u = np.exp(-t) * np.sin(x[:, None])
>>> pde_residual(u, x, t, "u_t = u_xx", space=SpectralDerivative()).relative < 1e-5
True
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Histogram, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.discovery.derivatives import AbstractDerivative, FiniteDifferenceDerivative
from gnomon.discovery.forms.pointwise import term_values
from gnomon.discovery.grid import read
from gnomon.discovery.term import Term, TermFactor, parse_equation_side

__all__ = ["PDEResidual", "network_pde_residual", "pde_residual"]


@dataclass(frozen=True, slots=True, eq=False)
class PDEResidual(Result):
    """Result: the residual of a differential equation at every point, and its norm relative to the largest term.

    See equation (1) of the module docstring.

    >>> PDEResidual("u_t = 0", np.zeros(3), 0.0).verdict
    'u_t = 0 holds up to 0 % of its largest term.'
    """

    equation: str
    values: np.ndarray = field(repr=False, metadata=HIDDEN_IN_JSON)
    relative: float

    @property
    def verdict(self) -> str:
        """States in one sentence up to which error the equation holds."""
        return f"{self.equation} holds up to {100 * self.relative:.3g} % of its largest term."

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the equation's residual over all points."""
        mark = Histogram.of("points", np.abs(self.values).ravel())
        return (Plot("Residual of the equation", (mark,), Axis("|residual|"), Axis("points")),)


@add_call_to_errors
def pde_residual(
    u: Any, dx: Any, dt: Any, equation: str, *, space: AbstractDerivative | None = None,
    time: AbstractDerivative | None = None,
) -> PDEResidual:  # fmt: skip
    """Computes the residual of an equation such as ``"u_t + u*u_x = 0.1*u_xx"`` for data on a grid.

    See equation (1) of the module docstring.
    Hypotheses: see the module; ``space`` and ``time`` are rules of differentiation.
    Reference: [raissi2019physics].
    Cost: one derivative of the data for each that the equation has.

    >>> pde_residual(np.ones((12, 9)), 0.1, 0.1, "u_t = u_xx + u - 1").relative < 1e-9
    True
    """
    data = read(u, dx, dt)
    rules = space or FiniteDifferenceDerivative(6), time or FiniteDifferenceDerivative(6)
    cache: dict[tuple[str, str], np.ndarray] = {}
    parts = [c * term_values(data, term, *rules, cache) for c, term in parse_equation_side(equation)]
    return _measure(equation, parts)


@add_call_to_errors
def network_pde_residual(
    module: nn.Module, data: Any, equation: str, *, letters: str = "xt", fields: str = "u"
) -> PDEResidual:
    """Computes the residual of a differential equation for a network that represents the solution.

    See equation (1) of the module docstring.
    ``letters`` names the columns of x, ``fields`` the outputs, one letter each.
    Hypotheses: a network that is smooth in its inputs: piecewise linear ones have no second derivative.
    Reference: [raissi2019physics].
    Cost: a backward pass for each derivative of the equation.

    >>> class Wave(nn.Module):
    ...     def forward(self, z):
    ...         return torch.sin(z[:, :1] - 2 * z[:, 1:])
    >>> network_pde_residual(Wave(), torch.rand(8, 2), "u_t + 2*u_x = 0").relative < 1e-6
    True
    """
    check_module_is_callable(module)
    points = all_inputs(data, module)
    if not isinstance(points, Tensor) or points.dim() != 2 or points.shape[1] != len(letters):
        fix = f"Pass points with the columns {', '.join(letters)}, or name them in letters"
        raise InputError("the points do not have a column for each letter", accepted="points (n, letters)", fix=fix)
    with preserve(module):
        z = points.clone().requires_grad_()
        outputs = run_to_rows(module, z)
        if outputs.shape[1] < len(fields):
            found = f"{outputs.shape[1]} outputs and {len(fields)} fields"
            raise InputError(found, accepted="an output for each field", fix="Name the outputs in fields")
        known = {(name, ""): outputs[:, i] for i, name in enumerate(fields)}
        parts = [c * _value(term, known, z, letters) for c, term in parse_equation_side(equation)]
        return _measure(equation, [part.detach().double().cpu().numpy() for part in parts])


def _value(term: Term, known: dict[tuple[str, str], Tensor], z: Tensor, letters: str) -> Tensor:
    value = torch.ones(len(z), dtype=z.dtype, device=z.device)
    for factor in term.factors:
        value = value * _derive(factor, known, z, letters) ** factor.power
    return value


def _derive(factor: TermFactor, known: dict[tuple[str, str], Tensor], z: Tensor, letters: str) -> Tensor:
    """Returns a derivative of a network's output by autograd, from the derivative of the next lower order."""
    if factor.symbol in letters and not factor.derivative:
        return z[:, letters.index(factor.symbol)]
    if (factor.symbol, "") not in known or set(factor.derivative) - set(letters):
        fix = "Name columns in letters and outputs in fields"
        raise InputError(f"'{factor.name}' is not known", accepted="terms of fields and columns", fix=fix)
    made = ""
    for letter in factor.derivative:
        below, made = made, made + letter
        if (factor.symbol, made) not in known:
            inner = known[factor.symbol, below]
            slope = (
                torch.autograd.grad(inner.sum(), z, create_graph=True, allow_unused=True)[0]
                if inner.requires_grad
                else None
            )
            slope = torch.zeros_like(z) if slope is None else slope
            known[factor.symbol, made] = slope[:, letters.index(letter)]
    return known[factor.symbol, made]


def _measure(equation: str, parts: list[np.ndarray]) -> PDEResidual:
    total = np.sum(parts, axis=0)  # (1)
    largest = max(float(np.linalg.norm(part)) for part in parts)
    return PDEResidual(equation, total, float(np.linalg.norm(total)) / max(largest, 1e-300))
