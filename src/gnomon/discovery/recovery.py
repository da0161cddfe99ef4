"""Measures how well discovery recovers a known equation from noisy data.

With coefficients c of the law, c' of the equation that is found (0 if it lacks a term), and fields of standard
deviation s, to which noise p s z is added, z ~ N(0, 1):

    error = mean over the terms of the law of |c' - c| / |c|                                               (1)

Hypotheses: the data follow the law. Reference: [rudy2017data], whose table lists (1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_number, check_seed
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.discovery.candidates import TermLibrary
from gnomon.discovery.discover import discover

__all__ = ["EquationRecovery", "equation_recovery"]


@dataclass(frozen=True, slots=True, eq=False)
class EquationRecovery(Result):
    """Result: the relative error of each recovered coefficient of a known equation, and wrong terms that were found.

    >>> print(EquationRecovery({"u_xx": 0.02}, ("u^2",), 0.01))
    With noise of 1 % the coefficients are off by 2 % on average, and u^2 is found but does not belong to the law.
    """

    errors: dict[str, float]
    wrong: tuple[str, ...]
    noise: float

    @property
    def error(self) -> float:
        """Returns the mean relative error of the recovered coefficients.

        See equation (1) of the module docstring.
        """
        return float(np.mean(list(self.errors.values())))

    @property
    def verdict(self) -> str:
        """States the error of the recovered coefficients, and wrong terms that were found."""
        other = (
            f"{', '.join(self.wrong)} is found but does not belong to the law"
            if self.wrong
            else "no other term is found"
        )
        off = f"the coefficients are off by {100 * self.error:.2g} % on average"
        return f"With noise of {100 * self.noise:.3g} % {off}, and {other}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the relative error of each recovered coefficient."""
        bars = Bars("relative error", list(self.errors), list(self.errors.values()))
        return (Plot("Errors of the coefficients", (bars,), Axis("relative error"), caption=self.verdict),)


@add_call_to_errors
def equation_recovery(
    fields: Any, dx: Any, dt: Any, law: Mapping[str, complex], *, library: TermLibrary | None = None,
    noise: float = 0.0, seed: int = 0,
) -> EquationRecovery:  # fmt: skip
    """Adds noise to data of a known equation, discovers an equation from them, and compares it with the known one.

        error = mean |c' - c| / |c|                                                                        (1)

    Args:
        fields: an array (..., times), or a dict of them by name, as in `gnomon.discover`.
        dx: the grid in space, or its spacing.
        dt: the times, or their spacing.
        law: coefficients by term, such as {"u_xx": 0.1}.
        library: the terms that are tried.
        noise: standard deviation of the noise, relative to each field's standard deviation.
        seed: random seed of the noise.

    Hypotheses: the data follow the law. Reference: [rudy2017data].
    Cost: one call of `gnomon.discover`.

    >>> x, t = np.linspace(0, 10, 100), np.linspace(0, 2, 60)
    >>> moving = np.exp(-(x[:, None] - 4 - t) ** 2) + np.exp(-2 * (x[:, None] - 6 - t) ** 2)
    >>> found = equation_recovery(moving, x, t, {"u_x": -1.0}, library=TermLibrary(degree=1, order=2))
    >>> found.wrong, found.error < 0.01
    ((), True)
    """
    noise = check_number("noise", noise, above=-1e-300)
    named = fields if isinstance(fields, Mapping) else {"u": np.asarray(fields)}
    draw = np.random.default_rng(check_seed(seed))
    noisy = {k: v + noise * np.std(np.real(v)) * draw.standard_normal(np.shape(v)) for k, v in named.items()}
    found = discover(noisy, dx, dt, library=library).equations[0]
    errors = {term: abs(found.coefficient(term) - c) / abs(c) for term, c in law.items()}  # (1)
    return EquationRecovery(errors, tuple(term for term in found.terms if term not in law), noise)
