"""A sum of N steep sigmoids approximates a continuous function up to the function's change over 1 / (2N).

    g(x) = f(0) + sum_j (f(j/N) - f((j-1)/N)) s(K (x - (j - 1/2)/N)),
    sup |f - g| <= w(1/2N) + N w(1/N) e^(-K/2N)                                                               (1)

s is the sigmoid with steepness K, and w(h) the modulus of continuity: the largest change of f over a distance h. Near
any x at most one step is neither 0 nor 1, so g has about the value of f at the nearest knot.
Reference: [cybenko1989approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def modulus(h):
    """Returns the largest change of sin(4 pi x) over a distance h <= 1/8, which is 2 sin(2 pi h)."""
    return 2 * np.sin(2 * np.pi * h)


def predicted(units):
    """Returns the error bound for each number of sigmoids N, with steepness K = 80 N."""
    n = np.array(units, dtype=float)
    return modulus(1 / (2 * n)) + n * modulus(1 / n) * np.exp(-40)


def errors(unit, units):
    """Returns the largest error of the sum of N sigmoids on a fine grid, for each N."""
    x, found = np.linspace(0, 1, 5001), []
    for n in units:
        knots = np.sin(4 * np.pi * np.arange(n + 1) / n)
        z = 80 * n * (x[:, None] - (np.arange(1, n + 1) - 0.5) / n)
        found.append(np.abs(np.sin(4 * np.pi * x) - knots[0] - unit(z) @ np.diff(knots)).max())
    return np.array(found)


observed = partial(errors, unit=lambda z: 0.5 * (1 + np.tanh(z / 2)))  # steep sigmoids; tanh avoids overflow of exp
control = partial(errors, unit=lambda z: 0.5 * (1 + np.sin(z)))  # Control: sine waves, which do not rise from 0 to 1.

CLAIM = Claim(
    id="universal-approximation-cybenko",
    question="How well do N sigmoid units approximate a continuous function?",
    equation=r"\sup |f - g_N| \le \omega_f(1/2N)",
    axes=("number of units N", "largest error", "units"),
    source=Source("theorem", "cybenko1989approximation"),
    premises=(Premise("units rise from 0 to 1"),),
    parameters={"units": (16, 32, 64, 128)},
    judge=bounded_by(rounding=1e4, tight=0.8),
)
