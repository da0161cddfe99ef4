"""Powers (w.x)^k with enough random directions w represent every homogeneous polynomial of degree k.

    span {(w_j.x)^k : j <= C(n+k-1, k)} = homogeneous polynomials of degree k in n variables                  (1)

w_j are directions in general position, n is the number of variables, k the degree and C the binomial coefficient. It
follows that units phi(w.x + b) are dense in n variables if phi(a z + b) are dense on the line.
Reference: [pinkus1999approximation].
"""

from functools import partial
from math import comb

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(variables, degree, seed):
    """Returns random points, and the values of a random homogeneous polynomial at these points."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, variables))
    powers = [p for p in np.ndindex(*(degree + 1,) * variables) if sum(p) == degree]
    return x, sum(rng.normal() * (x ** np.array(p)).prod(1) for p in powers)


def predicted(variables, degree, seed):
    """Returns the values of the random polynomial at the points, which the fit must reproduce."""
    return problem(variables, degree, seed)[1]


def fit_by_ridge_powers(missing, variables, degree, seed):
    """Returns the least-squares fit by powers (w.x)^k of random w, with ``missing`` fewer directions than needed."""
    x, y = problem(variables, degree, seed)
    rng = np.random.default_rng(seed + 1)
    ridges = (x @ rng.normal(size=(variables, comb(variables + degree - 1, degree) - missing))) ** degree
    return ridges @ np.linalg.lstsq(ridges, y, rcond=None)[0]


observed = partial(fit_by_ridge_powers, missing=0)  # The test uses exactly as many directions as are needed.
control = partial(fit_by_ridge_powers, missing=1)  # One fewer.

CLAIM = Claim(
    id="lifting-lemma-pinkus",
    question="How does approximation on a line carry over to many variables?",
    equation=r"\mathrm{span}\{(w_j \cdot x)^k\} = H^n_k, \quad \dim H^n_k = \binom{n + k - 1}{k}",
    axes=("random point", "value of the polynomial"),
    source=Source("theorem", "pinkus1999approximation"),
    premises=(Premise("there are C(n + k - 1, k) directions in general position"),),
    parameters={"variables": 3, "degree": 4},
    judge=equals(within=1e-6, because="least squares in a basis with condition numbers up to 1e6"),
)
