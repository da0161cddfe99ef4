"""Recognizes elementwise expressions that are straight lines, slope * x + intercept.

>>> import torch
>>> from gnomon.program.expression import Apply, Variable
>>> slope_and_intercept(Apply("add", torch.add, (Apply("mul", torch.mul, (2.0, Variable())), 3.0)))
(2.0, 3.0)
>>> slope_and_intercept(Apply("relu", torch.relu, (Variable(),))) is None
True
"""

from typing import Any

from gnomon.program.expression import Apply, Variable

__all__ = ["SlopeAndIntercept", "slope_and_intercept"]

SlopeAndIntercept = tuple[float, float]
"""Slope and intercept of a straight line."""


def slope_and_intercept(tree: Any) -> SlopeAndIntercept | None:
    """Returns (slope, intercept) if an elementwise expression is a straight line; None otherwise.

    Cost: a walk over the expression.

    >>> slope_and_intercept(3), slope_and_intercept(Variable())
    ((0.0, 3.0), (1.0, 0.0))
    """
    match tree:
        case Variable():
            return 1.0, 0.0
        case bool() | None:
            return None
        case int() | float():
            return 0.0, float(tree)
        case Apply(name="neg", args=(x,)):
            return _combine("sub", (0.0, 0.0), slope_and_intercept(x))
        case Apply(name="add" | "sub" | "mul" | "div" as name, args=(x, y), options=()):
            return _combine(name, slope_and_intercept(x), slope_and_intercept(y))
        case Apply(name="add" | "sub" as name, args=(x, y), options=(("alpha", float() | int() as alpha),)):
            return _combine(name, slope_and_intercept(x), _combine("mul", (0.0, float(alpha)), slope_and_intercept(y)))
        case _:
            return None


def _combine(name: str, x: SlopeAndIntercept | None, y: SlopeAndIntercept | None) -> SlopeAndIntercept | None:
    if x is None or y is None:
        return None
    match name:
        case "add":
            return x[0] + y[0], x[1] + y[1]
        case "sub":
            return x[0] - y[0], x[1] - y[1]
        case "mul" if x[0] == 0.0:
            return x[1] * y[0], x[1] * y[1]
        case "mul" if y[0] == 0.0:
            return x[0] * y[1], x[1] * y[1]
        case "div" if y[0] == 0.0 and y[1] != 0.0:
            return x[0] / y[1], x[1] / y[1]
    return None
