"""The substitution r = y/x, s = -1/x solves y' = y/x + y^2/x^3: y = x^2 / (1 + C x).

    ds/dr = 1/r^2,    s = -1/r + C,    y = x^2 / (1 + C x)                                                   (1)

C is the constant of integration.
"""

import numpy as np

from gnomon.discovery import FiniteDifferenceDerivative
from gnomon.lab import Claim, Premise, Source, equals


def predicted(c):
    """Returns the right side of the equation, y/x + y^2/x^3, along the solution."""
    x = np.linspace(1, 3, 401)
    y = x**2 / (1 + c * x)
    return y / x + y**2 / x**3


def observed(c):
    """Returns the derivative of the solution by finite differences of sixth order."""
    x = np.linspace(1, 3, 401)
    return FiniteDifferenceDerivative(6)(x**2 / (1 + c * x), x[1] - x[0], 1)


def control(c):
    """Returns the derivative for y = x^2 / (1 + C x^2), with the constant in another place, no solution."""
    x = np.linspace(1, 3, 401)
    return FiniteDifferenceDerivative(6)(x**2 / (1 + c * x**2), x[1] - x[0], 1)


CLAIM = Claim(
    id="separable-ode-transformation",
    question="Which substitution solves y' = y/x + y^2/x^3?",
    equation=r"y = x^2/(1 + Cx)",
    axes=("position x", "derivative y'"),
    source=Source("derived"),
    premises=(Premise("the constant enters as 1 + C x"),),
    parameters={"c": 0.7},
    judge=equals(within=1e-8, because="steps of 1/200 to the sixth power, times derivatives of order one"),
)
