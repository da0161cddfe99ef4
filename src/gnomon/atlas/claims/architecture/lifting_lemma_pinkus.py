"""Powers of ridge functions span all polynomials: what one dimension can approximate, many can.

    span {(w_j.x)^k : j <= C(n+k-1, k)} = homogeneous polynomials of degree k in n variables                  (1)

for directions w_j in general position; then phi(w.x + b) is dense where phi(a z + b) is on a line.
Reference: [pinkus1999approximation].
"""

from functools import partial
from math import comb

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(variables, degree, seed):
    """Points, and the values of a random homogeneous polynomial."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, variables))
    powers = [p for p in np.ndindex(*(degree + 1,) * variables) if sum(p) == degree]
    return x, sum(rng.normal() * (x ** np.array(p)).prod(1) for p in powers)


def predicted(variables, degree, seed):
    """The polynomial itself."""
    return problem(variables, degree, seed)[1]


def fitted(missing, variables, degree, seed):
    """By powers of ridge functions, so many fewer than are needed."""
    x, y = problem(variables, degree, seed)
    rng = np.random.default_rng(seed + 1)
    ridges = (x @ rng.normal(size=(variables, comb(variables + degree - 1, degree) - missing))) ** degree
    return ridges @ np.linalg.lstsq(ridges, y, rcond=None)[0]


observed = partial(fitted, missing=0)  # As many as are needed.
control = partial(fitted, missing=1)  # One fewer.

CLAIM = Claim(
    id="lifting-lemma-pinkus",
    title="Powers of ridge functions span the polynomials of many variables",
    equation=r"\mathrm{span}\{(w_j \cdot x)^k\} = H^n_k, \quad \dim H^n_k = \binom{n + k - 1}{k}",
    source=Source("theorem", "pinkus1999approximation"),
    premises=(Premise("there are C(n + k - 1, k) directions in general position"),),
    parameters={"variables": 3, "degree": 4},
    judge=equals(within=1e-6, because="least squares in a basis with condition numbers up to 1e6"),
)
