"""The result of `discover`: an equation for each field, findings, plots, and a simulation to compare with the data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gnomon.core.results import Axis, Bars, Finding, Interval, Line, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.discovery.equation import Equation
from gnomon.discovery.grid import GridData
from gnomon.discovery.simulation import Simulation, simulate
from gnomon.findings import most_serious_first
from gnomon.findings import theory as kinds

__all__ = ["Discovery"]

MIN_INCLUSION = 0.8
"""Inclusion frequency below which a term is uncertain: stability selection uses 0.6 to 0.9."""
MAX_MISFIT = 0.3
"""Unexplained share of the target above which no equation is reported; noise of 20 % leaves about 0.2."""


@dataclass(frozen=True, slots=True, eq=False)
class Discovery(Result):
    """Result of a discovery: the equations found, one for each field.

    ``terms``, ``coefficients``, ``intervals``, ``inclusion`` belong to the first equation; ``equations`` has all.

    >>> from gnomon.discovery.equation import Residuals
    >>> heat = Equation("u_t", ("u_xx",), (0.1,), (0.0,), {"u_xx": 1.0}, (), Residuals(0.01, 0.01, "", 0.0))
    >>> print(Discovery((heat,)))
    u_t = 0.1*u_xx; 1 % of u_t is left unexplained.
    """

    equations: tuple[Equation, ...]
    data: GridData | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def terms(self) -> tuple[str, ...]:
        """Returns the terms of the first discovered equation, such as ``u``, ``u^2``, ``u_x``, ``u*u_xx``."""
        return self.equations[0].terms

    @property
    def coefficients(self) -> tuple[float | complex, ...]:
        """Returns the coefficients of the first discovered equation, in the order of ``terms``."""
        return self.equations[0].coefficients

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Returns 95 % confidence intervals of the coefficients of the first discovered equation."""
        return self.equations[0].intervals

    @property
    def inclusion(self) -> Mapping[str, float]:
        """Returns for each candidate term the fraction of bootstrap samples in which it was chosen."""
        return self.equations[0].inclusion

    @property
    def latex(self) -> str:
        """Returns the discovered equations as LaTeX code, one line each."""
        return " \\\\\n".join(equation.latex for equation in self.equations)

    @property
    def verdict(self) -> str:
        """States the discovered equations, and how much of the data they leave unexplained."""
        said = [f"{e}; {100 * e.residuals.misfit:.2g} % of {e.target} is left unexplained." for e in self.equations]
        return " ".join(said)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about equations that explain too little of the data, and about unreliable terms."""
        return most_serious_first(f for e in self.equations for f in _judge(e))

    def plots(self) -> tuple[Plot, ...]:
        """Plots the unexplained part over the number of terms, and how often bootstrap samples choose each term."""
        return tuple(plot for e in self.equations for plot in _pictures(e))

    def simulate(self) -> Simulation:
        """Simulates the discovered equations from the first time of the data, to compare with the data."""
        return simulate(self.equations, self.data)


def _judge(e: Equation) -> list[Finding]:
    found = []
    if e.residuals.misfit > MAX_MISFIT:
        found.append(Finding(kinds.NO_LAW, e.target, {"misfit": e.residuals.misfit}))
    unsure = {term: e.inclusion[term] for term in e.terms if e.inclusion.get(term, 1.0) < MIN_INCLUSION}
    if unsure:
        names = ", ".join(f"{term} ({p:.0%})" for term, p in unsure.items())
        found.append(Finding(kinds.UNSURE_TERMS, e.target, {"names": names}))
    return found


def _pictures(e: Equation) -> list[Plot]:
    sizes = [len(c.support) for c in e.path]
    misfits = [max(c.misfit, 1e-12) for c in e.path]
    chosen = Reference("chosen", float(len(e.terms)), vertical=True)
    words = "The curve stops falling at the right number of terms: further terms explain nothing."
    curve = Plot(
        f"Terms of {e.target}", (Line("misfit", sizes, misfits), chosen), Axis("terms"), Axis("misfit", log=True), words
    )
    ranked = sorted(e.inclusion, key=lambda term: -e.inclusion[term])[:12]
    bars = Bars("share of replicates", ranked, np.nan_to_num([e.inclusion[term] for term in ranked]))
    words = "How often each term is chosen when blocks of the data are resampled."
    sure = Plot(f"How sure the terms of {e.target} are", (bars,), Axis("share of replicates"), caption=words)
    return [curve, sure] if e.path else [sure]  # An equation that was not searched for has no path.
