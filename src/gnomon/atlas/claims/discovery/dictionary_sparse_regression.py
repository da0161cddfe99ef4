"""Sparse regression finds the single term of a dictionary that describes the data, also with 1 % noise.

    u_t = D c,   D = {1, u, u^2, u_x, u_x^2, u u_x, u_xx, u_xx^2, u u_xx, u_x u_xx},   few c_j nonzero        (1)

u is the temperature, D the dictionary and c the coefficients.
"""

from functools import partial

import numpy as np

from gnomon.data import fields as runs
from gnomon.discovery import TermLibrary, discover
from gnomon.lab import Claim, Premise, Source, equals

DICTIONARY_TERMS = ["1", "u", "u^2", "u_x", "u_x^2", "u*u_x", "u_xx", "u_xx^2", "u*u_xx", "u_x*u_xx"]


def predicted(diffusion):
    """Returns the true coefficients divided by the diffusion: 1 for u_xx, 0 for others, without and with noise."""
    return [[float(term == "u_xx") for term in DICTIONARY_TERMS]] * 2


def measure(points, diffusion, share, seed, terms):
    """Returns the coefficient found for each dictionary term, divided by the diffusion, without and with noise."""
    run = runs.heat(points=points, diffusion=diffusion, seed=seed)
    u, rows = run.fields["u"], []
    for noise in (0.0, share):
        given = u + noise * u.std() * np.random.default_rng(seed).standard_normal(u.shape)
        law = discover(given, run.dx, run.dt, library=TermLibrary(only=terms)).equations[0]
        rows.append([float(law.coefficient(term)) / diffusion for term in DICTIONARY_TERMS])
    return rows


observed = partial(measure, terms=DICTIONARY_TERMS)  # The regression may use all terms of the dictionary.
control = partial(measure, terms=[term for term in DICTIONARY_TERMS if term != "u_xx"])  # Without u_xx.

CLAIM = Claim(
    id="dictionary-sparse-regression",
    question="Can sparse regression find the right term in a dictionary?",
    equation=r"\alpha^* = \arg\min_\alpha \|\partial_t u - D\alpha\|_2^2 + \lambda\|\alpha\|_0",
    axes=("term of the dictionary (clean, then noisy)", "coefficient / true diffusion"),
    source=Source("observed", "rudy2017data"),
    premises=(
        Premise("the dictionary contains the term of the law"),
        Premise("the noise is at most 1 %", lambda share: share <= 0.01),
    ),
    parameters={"points": 96, "diffusion": 0.1, "share": 0.01},
    full={"points": 256},
    covers=("pde-find-method",),
    judge=equals(within=0.05, because="5 % at 1 % of noise, as the statement says"),
    remark="The dictionary is often printed with 'u_x, u_xx' twice at its end; the product u_x u_xx is meant.",
)
