"""A Bernstein polynomial of degree n approximates a function up to 5/4 of the function's change over n^(-1/2).

    sup |B_n f - f| <= (5/4) omega_f(n^(-1/2)),    sup |B_n f - f| = m C(n, m) / (n 2^n)  for f = |x - 1/2|   (1)

B_n f is the Bernstein polynomial of f. The modulus of continuity omega_f(h) is the largest change of f over a distance
h. m is n / 2, rounded up, and C the binomial coefficient. At a corner the error falls as n^(-1/2). For n = 1 it reaches
0.8 of the bound. Since omega_f goes to zero, polynomials approximate every continuous function.
Reference: [devore1993constructive].
"""

from functools import partial

import numpy as np
from scipy.stats import binom

from gnomon.lab import Claim, Premise, Source, bounded_by

FUNCTIONS = (lambda x: np.abs(x - 0.5), np.sqrt)


def predicted(degrees):
    """Returns the error bound for |x - 1/2| and for the square root, then the exact error with both signs."""
    n = np.array(degrees)
    m = -(-n // 2)
    exact = m * binom.pmf(m, n, 0.5) / n
    return np.stack([1.25 * np.minimum(n**-0.5, 0.5), 1.25 * n**-0.25, exact, -exact])


def bernstein(n, x):
    """Returns the weight of the function's value at k / n in the Bernstein polynomial, for each point and k."""
    return binom.pmf(np.arange(n + 1), n, x[:, None])


def interpolation(n, x):
    """Returns the weight of the function's value at k / n in the interpolating polynomial, for each point and k."""
    k = np.arange(n + 1)
    weights = (-1.0) ** k * binom.pmf(k, n, 0.5) / (x[:, None] + 1e-7 - k / n)  # adding 1e-7 avoids 0 / 0 at the knots
    return weights / weights.sum(1, keepdims=True)


def errors(polynomial, degrees):
    """Returns the polynomial's largest error on a grid of [0, 1], per function and degree; the last with both signs."""
    x, rows = np.linspace(0, 1, 401), []
    for f in (*FUNCTIONS, FUNCTIONS[0]):
        rows.append([np.abs(polynomial(n, x) @ f(np.arange(n + 1) / n) - f(x)).max() for n in degrees])
    return np.array([*rows, [-error for error in rows[-1]]])


observed = partial(errors, polynomial=bernstein)  # Bernstein polynomials.
control = partial(errors, polynomial=interpolation)  # Control: interpolation at the same points, which diverges.

CLAIM = Claim(
    id="weierstrass-theorem",
    question="How well do polynomials approximate a continuous function?",
    equation=r"\sup_x |B_n f(x) - f(x)| \le \tfrac54\, \omega_f(n^{-1/2})",
    axes=("degree, for a corner, a square root, and the exact error (+ and -)", "largest error"),
    source=Source("theorem", "devore1993constructive"),
    premises=(Premise("the values at the knots are averaged with binomial weights"),),
    parameters={"degrees": (1, 4, 16, 64, 256)},
    judge=bounded_by(rounding=1e4, tight=0.75),
)
