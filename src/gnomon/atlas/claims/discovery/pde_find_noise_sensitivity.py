"""The higher the derivatives in an equation, the more does noise harm its discovery by pointwise derivatives.

    noise of size s in u is noise of size about s / h^k in its k-th derivative                              (1)

u is the field and h the grid spacing.
"""

from functools import partial

import numpy as np

from gnomon.data import fields as runs
from gnomon.discovery import FiniteDifferenceDerivative, PointwiseForm, TermLibrary, WeakForm, discover
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the equations, from the least to the most sensitive to noise."""
    return ("burgers", "kdv", "kuramoto")


def measure(share, draws, seed, form):
    """Returns log10 of the mean relative error of the true coefficients, for each equation and draw of noise."""
    found = {}
    cases = ("burgers", runs.burgers()), ("kdv", runs.two_solitons()), ("kuramoto", runs.kuramoto_sivashinsky())
    for name, run in cases:
        law, u, rows = run.law["u"], run.fields["u"], []
        for k in range(draws):
            given = u + share * u.std() * np.random.default_rng([seed, k]).standard_normal(u.shape)
            library = TermLibrary(only=list(law))
            got = discover(given, run.dx, run.dt, library=library, form=form).equations[0]
            rows.append(float(np.mean([abs(got.coefficient(t) - c) / abs(c) for t, c in law.items()])))
        found[name] = [float(np.log10(max(row, 1e-9))) for row in rows]
    return found


observed = partial(measure, form=PointwiseForm(space=FiniteDifferenceDerivative(2), time=FiniteDifferenceDerivative(2)))
control = partial(measure, form=WeakForm())  # Control: the weak form does not differentiate the noisy data.

CLAIM = Claim(
    id="pde-find-noise-sensitivity",
    question="Which equations are hard to find from noisy data?",
    equation=r"\mathrm{noise}(\partial^k u) \sim s / h^k",
    axes=("equation", "log10 of the relative coefficient error"),
    source=Source("observed", "rudy2017data", "Table 1"),
    premises=(Premise("derivatives are taken of the noisy data"), Premise("the noise is equal")),
    parameters={"share": 0.01, "draws": 4},
    full={"draws": 10},
    judge=in_order(),
)
