"""A network with a cubic activation only represents cubic polynomials, so it cannot approximate every function.

    span {phi(a x + b)} is dense  <=>  phi is not a polynomial                                                (1)

phi is the activation, a and b are weights and biases, and "dense" means that every continuous function can be
approximated. Here phi(z) = z^3 has exactly the error of the best cubic polynomial; tanh does better.
Reference: [cybenko1989approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem():
    """Returns 300 points x in [-1, 1] and the target sin(5 x)."""
    x = np.linspace(-1, 1, 300)
    return x, np.sin(5 * x)


def predicted():
    """Returns the root mean squared error of the best approximation by a cubic polynomial."""
    x, y = problem()
    return float(np.sqrt(np.mean((np.polynomial.Polynomial.fit(x, y, 3)(x) - y) ** 2)))


def error(phi, units, seed):
    """Returns the root mean squared error of the best linear combination of random units with activation ``phi``."""
    x, y = problem()
    rng = np.random.default_rng(seed)
    features = phi(np.outer(x, rng.normal(size=units) * 2) + rng.normal(size=units))
    return float(np.sqrt(np.mean((features @ np.linalg.lstsq(features, y, rcond=1e-12)[0] - y) ** 2)))


observed = partial(error, phi=lambda z: z**3)  # The test uses the activation z^3, a polynomial.
control = partial(error, phi=np.tanh)  # tanh.

CLAIM = Claim(
    id="leshno-theorem",
    question="Which activations cannot approximate every function?",
    equation=r"\overline{\mathrm{span}}\{\phi(a x + b)\} = C(K) \iff \phi \text{ is not a polynomial}",
    axes=("one target function", "root mean squared error"),
    source=Source("theorem", "cybenko1989approximation"),
    premises=(Premise("the activation is a polynomial of degree three"),),
    parameters={"units": 60},
    judge=equals(within=1e-6, because="least squares with an ill conditioned basis"),
)
