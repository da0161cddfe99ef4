"""A heavy ball rolling in a parabola, in exact rational arithmetic. Knows no closed form and no eigenvalue."""

from fractions import Fraction


def rolled(curvature, step, friction, count):
    """Positions after 0, 1, ..., count steps from rest at 0, in the valley (curvature / 2) c^2 - c.

    The floats given are taken as the rationals that they are; after each step positions and velocities keep 300 bits.
    """
    a, h, beta = Fraction(curvature), Fraction(step), Fraction(friction)
    c = v = Fraction(0)
    path = [c]
    for _ in range(count):
        slope = a * c - 1
        v = _short(beta * v - slope)
        c = _short(c + h * v)
        path.append(c)
    return path


def _short(value):
    return Fraction(round(value * 2**300), 2**300)
