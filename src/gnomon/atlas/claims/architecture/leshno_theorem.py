"""Sums of units with activation z^3 are cubic polynomials; sums of units with tanh come near to every function.

    span {phi(a x + b)} is dense  <=>  phi is not a polynomial                                                (1)

Reference: [cybenko1989approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem():
    """Points, and a function to come near to."""
    x = np.linspace(-1, 1, 300)
    return x, np.sin(5 * x)


def predicted():
    """The error of the best cubic polynomial."""
    x, y = problem()
    return float(np.sqrt(np.mean((np.polynomial.Polynomial.fit(x, y, 3)(x) - y) ** 2)))


def error(phi, units, seed):
    """Of the best sum of random units."""
    x, y = problem()
    rng = np.random.default_rng(seed)
    features = phi(np.outer(x, rng.normal(size=units) * 2) + rng.normal(size=units))
    return float(np.sqrt(np.mean((features @ np.linalg.lstsq(features, y, rcond=1e-12)[0] - y) ** 2)))


observed = partial(error, phi=lambda z: z**3)  # Cubes.
control = partial(error, phi=np.tanh)  # Tanh.

CLAIM = Claim(
    id="leshno-theorem",
    title="Units with a polynomial activation span polynomials of its degree alone",
    equation=r"\overline{\mathrm{span}}\{\phi(a x + b)\} = C(K) \iff \phi \text{ is not a polynomial}",
    source=Source("theorem", "cybenko1989approximation"),
    premises=(Premise("the activation is a polynomial of degree three"),),
    parameters={"units": 60},
    judge=equals(within=1e-6, because="least squares with an ill conditioned basis"),
)
